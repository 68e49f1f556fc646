"""What None and "auto" stand for: continuous in n, d and k, and the same bits when given."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from calipers import TripletSGD, recipes
from calipers.solvers.plan import N_ROUNDS, Plan
from learners import random_triplets
from solver_runs import METHODS

X, Y = load_wine(return_X_y=True)
TRIPLETS = random_triplets(len(X), 400)
RESOLVED = ("init", "n_neighbors", "n_rounds", "n_triplets", "batch_size", "learning_rate")
FROM_TRIPLETS = tuple(name for name in RESOLVED if name != "n_neighbors")


def asked(**given: Any) -> dict[str, Any]:
    return {**TripletSGD().get_params(), **given}


# Explicit equals implicit


def resolved(fitted: TripletSGD, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(fitted, f"{name}_") for name in names}


def assert_same_bits(again: TripletSGD, fitted: TripletSGD) -> None:
    np.testing.assert_array_equal(again.components_, fitted.components_)
    assert resolved(again, RESOLVED) == resolved(fitted, RESOLVED)
    assert again.n_updates_ == fitted.n_updates_


SMALL: dict[str, Any] = {"n_triplets": 700}
BASES: list[dict[str, Any]] = [
    {},
    *({"method": method, **SMALL} for method in METHODS),
    {"n_neighbors": 3},
    {"n_neighbors": 20, "init": "within-class"},
    {"batch_size": 7},
    {"learning_rate": 0.3},
    {"n_rounds": 1, "n_components": 2},
    {"method": recipes.ha_sgd(norm_bound="batch"), **SMALL},
]


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("how", ["labels", "triplets"])
def test_a_refit_with_the_resolved_values_gives_the_same_bits(
    base: dict[str, Any], how: str
) -> None:
    names: tuple[str, ...] = RESOLVED
    if how == "triplets":
        base = {k: v for k, v in base.items() if k not in ("n_neighbors", "n_triplets")}
        base = {**base, "init": "scaled"} if "init" in base else base
        names = FROM_TRIPLETS

    def fit(**settings: Any) -> TripletSGD:
        learner = TripletSGD(**{**base, **settings}, random_state=0)
        given: TripletSGD = (
            learner.fit(X, Y) if how == "labels" else learner.fit_triplets(X, TRIPLETS)
        )
        return given

    fitted = fit()
    values = resolved(fitted, names)
    assert None not in values.values()
    assert "auto" not in values.values()
    assert_same_bits(fit(**values), fitted)
    for name, value in values.items() if len(base) < 2 else []:
        assert_same_bits(fit(**{name: value}), fitted)
        others = {k: v for k, v in values.items() if k != name}
        assert_same_bits(fit(**others), fitted)


def test_in_a_stream_the_first_batch_resolves() -> None:
    def streamed(**settings: Any) -> TripletSGD:
        learner = TripletSGD(random_state=0, **settings)
        for part in np.array_split(np.random.default_rng(0).permutation(len(X)), 3):
            learner.partial_fit(X[part], Y[part])
        return learner

    fitted = streamed()
    values = resolved(fitted, ("init", "n_neighbors", "batch_size", "learning_rate"))
    assert None not in values.values()
    np.testing.assert_array_equal(streamed(**values).components_, fitted.components_)
    assert (fitted.n_rounds_, fitted.n_triplets_) == (1, None)


def test_a_given_value_enters_as_the_equal_resolved_one_would() -> None:
    """No rule of the plan asks whether a value was given."""
    for method, shape in product(recipes.RECIPES, [(178, 13), (50, 2000), (10**5, 5)]):
        recipe = recipes.RECIPES[method]()
        plan = Plan.for_labels(recipe, asked(), *shape)
        values = {name: getattr(plan, name) for name in NUMBERS}
        for name in values:
            assert Plan.for_labels(recipe, asked(**{name: values[name]}), *shape) == plan
        assert Plan.for_labels(recipe, asked(**values), *shape) == plan


def test_what_is_given_is_taken() -> None:
    given = {"n_neighbors": 4, "n_rounds": 2, "n_triplets": 800, "batch_size": 3}
    recipe = recipes.all_pairs_sgd()
    plan = Plan.for_labels(recipe, asked(**given, learning_rate=0.7), 500, 30)
    assert plan == Plan(recipe, 4, 2, 800, 3, 0.7, 3.0, 1000.0, 4, 48)
    assert plan.batch_triplets == 3 * 4**2
    plan = Plan.for_triplets(recipe, asked(batch_size=3, n_triplets=10**5), 300)
    assert (plan.n_neighbors, plan.n_rounds, plan.n_triplets) == (None, N_ROUNDS, 300)
    assert plan.batch_triplets == 3
    plan = Plan.for_stream(recipes.sgd(), asked(), labelled=True)
    assert (plan.n_triplets, plan.batch_size, plan.all_pairs) == (None, 1, 1)


# No cliffs


NUMBERS = ("n_neighbors", "n_rounds", "n_triplets", "batch_size", "learning_rate")
EDGES = (299, 999, 2999, 3999, 4999, 19_999, 39_999)
SAMPLES = [*range(8, 31), *(n + more for n in EDGES for more in (0, 1))]
FEATURES = [2, 15, 16, 47, 48, 49, 127, 128, 239, 240, 599, 600, 4000]


def assert_near(one: Plan, other: Plan, what: str) -> None:
    for name in NUMBERS:
        before, after = getattr(one, name), getattr(other, name)
        assert abs(after - before) <= max(1.0, 0.02 * before), (what, name, before, after)


@pytest.mark.parametrize("method", recipes.RECIPES)
def test_one_more_changes_no_number_by_more_than_one_unit_or_two_per_cent(method: str) -> None:
    recipe = recipes.RECIPES[method]()

    def plan(n: int, d: int, **given: Any) -> Plan:
        return Plan.for_labels(recipe, asked(**given), n, d)

    def of_triplets(n: int, d: int) -> Plan:
        return replace(Plan.for_triplets(recipe, asked(), n), n_neighbors=0)

    for n, d in product(SAMPLES, FEATURES):
        here = plan(n, d)
        assert_near(here, plan(n + 1, d), f"n={n}, d={d}, one sample more")
        assert_near(here, plan(n, d + 1), f"n={n}, d={d}, one feature more")
        if n >= 50:
            given = of_triplets(n, d), of_triplets(n + 1, d)
            assert_near(*given, f"{n} triplets, d={d}, one more")
        for k in (1, 2, 3, 9, 24) if d in (15, 4000) else ():
            few, more = plan(n, d, n_neighbors=k), plan(n, d, n_neighbors=k + 1)
            kept = replace(more, n_neighbors=k)
            assert_near(few, kept, f"n={n}, d={d}, k={k}, one neighbour more")


def test_the_numbers_are_monotone() -> None:
    recipe = recipes.all_pairs_sgd()
    plans = [Plan.for_labels(recipe, asked(), n, 20) for n in range(8, 3000)]
    for name in NUMBERS:
        assert (np.diff([getattr(plan, name) for plan in plans]) >= 0).all(), name


def test_every_batch_can_be_filled() -> None:
    for n, d in product([8, 20, 300, 10**6], [1, 600, 10**4, 10**6]):
        for method in recipes.RECIPES:
            plan = Plan.for_labels(recipes.RECIPES[method](), asked(), n, d)
            assert plan.n_triplets is not None
            assert plan.n_triplets >= plan.batch_triplets
