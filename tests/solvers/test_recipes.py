"""Recipes as values, and how the paper's five algorithms are related to each other."""

from __future__ import annotations

import pickle
import sys
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from calipers import TripletSGD, recipes
from calipers.data.samples import MemorySamples
from calipers.data.triplets import GivenTriplets
from calipers.recipes import PAPER_METHODS, RECIPES, Recipe
from calipers.solvers.parts import AtEnd, EveryUpdate, FrankWolfe, Periodic
from calipers.solvers.plan import Plan, random_streams
from learners import iris, noise as little_noise
from reference.plain import loss_slope, outer
from solver_runs import METHODS, Settings, noise, run_real

OTHERS: dict[str, Any] = {
    "triplets": "all-pairs",
    "sampling": "gradient-norm",
    "batched": False,
    "projection": 7,
    "average": False,
    "batch_reduce": "sum",
    "max_importance_weight": 2.5,
    "norm_bound": "running",
    "norm_draws": 7,
    "margin_unit": "one",
    "clip": 1.5,
}


def test_a_recipe_is_a_value() -> None:
    assert OTHERS.keys() == {field.name for field in fields(Recipe)}
    for name, value in OTHERS.items():
        needed = {"norm_bound": "gradient-norm", "max_importance_weight": "slope"}
        more: dict[str, Any] = {"sampling": needed[name]} if name in needed else {}
        recipe = Recipe(**{**more, name: value})
        assert recipe != Recipe(**more)
        assert f"{name}={value!r}" in repr(recipe)
        for same in (copy(recipe), deepcopy(recipe), pickle.loads(pickle.dumps(recipe))):
            assert same == recipe
            assert hash(same) == hash(recipe)
        assert eval(repr(recipe)) == recipe
        with pytest.raises(FrozenInstanceError):
            setattr(recipe, name, value)
    assert recipes.as_sgd() == recipes.as_sgd(margin_unit="data") != recipes.hr_sgd()
    assert len({recipe() for recipe in RECIPES.values()}) == len(RECIPES) == 6
    assert (*PAPER_METHODS,) == METHODS


def test_a_recipe_is_a_parameter() -> None:
    recipe = recipes.ha_sgd(norm_bound="running")
    learner = TripletSGD(recipe, n_triplets=60, random_state=0)
    assert clone(learner).method == recipe
    assert clone(learner).get_params() == learner.get_params()
    assert learner.set_params(method="sgd").method == "sgd"
    assert learner.set_params(method=recipe).get_params()["method"] is recipe
    assert "norm_bound='running'" in repr(learner)
    X, y = little_noise()
    grid = {"tripletsgd__method": [recipe, "mini-sgd", recipes.mini_sgd(average=False)]}
    search = GridSearchCV(make_pipeline(learner, KNeighborsClassifier(1)), grid, cv=2).fit(X, y)
    assert search.best_params_["tripletsgd__method"] in grid["tripletsgd__method"]


@pytest.mark.parametrize("method", RECIPES)
def test_a_name_is_its_recipe(method: Any) -> None:
    X, y = little_noise()
    settings: dict[str, Any] = {"n_triplets": 100, "n_neighbors": 2, "random_state": 0}
    named, given = (TripletSGD(m, **settings).fit(X, y) for m in (method, RECIPES[method]()))
    np.testing.assert_array_equal(named.components_, given.components_)


ONE_OF = "'all-pairs-sgd', 'sgd', 'mini-sgd', 'as-sgd', 'hr-sgd', 'ha-sgd' or a Recipe"


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"sampling": "often"}, "The 'sampling' parameter of Recipe must be a str among {"),
        ({"average": "yes"}, "The 'average' parameter of Recipe must be "),
        ({"norm_draws": 0}, "The 'norm_draws' parameter of Recipe must be an int in the range [1"),
        *(
            ({"projection": "frank-wolfe", "sampling": sampling}, "A recipe's projection='frank-w")
            for sampling in ("slope", "gradient-norm")
        ),
        ({"clip": 0.0}, "The 'clip' parameter of Recipe must be a float in the range (0.0"),
        *(
            ({"projection": wrong}, "The 'projection' parameter of Recipe must be ")
            for wrong in (0, 2.5, "sometimes")
        ),
        *(
            ({"triplets": "all-pairs", **rest}, "A recipe with triplets='all-pairs' needs sampling")
            for rest in ({"sampling": "slope"}, {"sampling": "gradient-norm"}, {"batched": False})
        ),
    ],
)
def test_a_recipe_that_makes_no_sense(choices: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        Recipe(**choices)
    assert str(caught.value).startswith(sentence)


def test_numbers_are_no_part_of_a_recipe() -> None:
    with pytest.raises(TypeError, match="batch_size"):
        recipes.mini_sgd(batch_size=3)


def test_rules_of_projection() -> None:
    samples, source = MemorySamples(np.eye(3)), GivenTriplets(np.array([[0, 1, 2]]))

    def rule(projection: Any) -> Any:
        recipe = Recipe(projection=projection)
        plan = Plan.for_triplets(recipe, TripletSGD(radius=3.0).get_params(), 1)
        return plan.solver(samples, source, random_streams(0)[1:]).settings.projection

    assert [rule(p) for p in ("every", 7, "end")] == [EveryUpdate(), Periodic(7), AtEnd(unit=0.5)]
    found = rule("frank-wolfe")
    assert found == FrankWolfe(1.5, found.lipschitz, 0.5)
    assert found.lipschitz == pytest.approx(6**0.5)


# How they are related


def assert_same(first: Settings, second: Settings, *, scale: float = 1.0) -> None:
    X, triplets = noise(6, 400, scale=scale)
    one, accepted_one = run_real(X, triplets, first)
    two, accepted_two = run_real(X, triplets, second)
    np.testing.assert_array_equal(accepted_one, accepted_two)
    np.testing.assert_array_equal(one.average, two.average)
    np.testing.assert_array_equal(one.last, two.last)


def test_batches_of_one() -> None:
    assert_same(Settings("mini-sgd", batch_size=1, R=4.0), Settings("sgd", R=4.0))
    assert_same(Settings("hr-sgd", batch_size=1, R=4.0), Settings("as-sgd", R=4.0))


def test_where_every_slope_is_one_as_sgd_is_sgd() -> None:
    """Small samples, so that no margin comes near 1, and a loss that is steep below it."""
    steep = Settings("sgd", L=200.0, eta=0.1, R=3.0)
    solver, accepted = run_real(*noise(6, 400, scale=0.1), steep)
    assert solver.facts["summed_slope"] == len(accepted)
    assert_same(steep, replace(steep, method="as-sgd"), scale=0.1)


def test_ha_sgd_whose_largest_norm_is_exceeded_is_mini_sgd() -> None:
    assert_same(Settings("ha-sgd", W=1e-9, R=4.0), Settings("mini-sgd", R=4.0), scale=0.2)
    X, triplets = noise(6, 10)
    A = [outer(X, triplet) for triplet in triplets]
    G = np.mean([loss_slope(float(np.trace(a)), 3.0) * a for a in A], axis=0)
    W = float(np.linalg.norm(G)) * (1 - 1e-12)
    real, accepted = run_real(X, triplets, Settings("ha-sgd", W=W))
    mini, _ = run_real(X, triplets, Settings("mini-sgd"))
    assert accepted.tolist() == [True]
    np.testing.assert_array_equal(real.last, mini.last)


@pytest.mark.parametrize(("method", "period"), [("mini-sgd", sys.maxsize), ("ha-sgd", 10**30)])
def test_a_projection_that_never_comes(method: str, period: int) -> None:
    recipe = replace(RECIPES[method](), projection=period)
    X, y = iris()
    fitted = TripletSGD(recipe, n_rounds=1, n_triplets=2000, random_state=0).fit(X, y)
    assert np.isfinite(fitted.components_).all()
