"""SPML, one projection and none: the same loop with other parts, against plain versions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import recipes
from calipers.arrays import FloatArray, IndexArray
from calipers.losses import SmoothHinge
from calipers.projections import AtOnce, Never, NowAndThen, OnlyOnce
from calipers.solver import Recipe, Solver
from calipers.threads import single_threaded_blas
from plain_rules import plain_never, plain_now_and_then, plain_once, plain_spml
from walks import assert_same_matrix, noise

SIZES = [2, 3, 9, 30, 60, 110]


def walked(
    X: FloatArray, triplets: IndexArray, recipe: Recipe, *, portion: int = 0, start: float = 1.0
) -> Solver:
    solver = Solver(
        recipe,
        X.shape[1],
        accept_rng=np.random.default_rng(0),
        pick_rng=np.random.default_rng(1),
        start=start,
    )
    size = (portion or len(triplets)) * recipe.batch_size
    with single_threaded_blas():
        for first in range(0, len(triplets), size):
            solver.advance(X, triplets[first : first + size])
    return solver


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("ridge", [1e-10, 1e-2, 1.0])
def test_spml_is_the_plain_spml(d: int, ridge: float) -> None:
    X, triplets = noise(d, 400)
    solver = walked(X, triplets, recipes.spml(ridge=ridge, margin=1e-2))
    last, average = plain_spml(X, triplets, ridge=ridge, margin=1e-2, batch_size=10)
    assert_same_matrix(solver.last, last)
    assert_same_matrix(solver.average, average)
    assert solver.n_updates == 40


def test_spml_forgets_where_it_started() -> None:
    X, triplets = noise(9, 10)
    recipe = recipes.spml(ridge=1e-3, margin=np.inf)  # all are violated, whatever the metric
    here, there = walked(X, triplets, recipe), walked(X, triplets, recipe, start=7.0)
    assert_same_matrix(there.last, here.last, 1e-14)


def test_spml_without_violations_shrinks() -> None:
    """After the first step M falls as 1 / t where no triplet is violated."""
    X, _ = noise(5, 10)
    far = np.array([[0, 1, 9]])  # rows 0 and 1 are the same: never violated with margin -1
    recipe = recipes.spml(ridge=1e-3, margin=-1.0, batch_size=1)
    first = np.array([[5, 6, 7]])
    solver = walked(X, np.concatenate([first, far]), recipe)
    before = solver.last.copy()
    for _ in range(10):
        solver.advance(X, far)
    np.testing.assert_allclose(solver.last, before * 2.0 / 12.0, rtol=1e-12)


def test_only_ridge_times_margin_matters_to_spml() -> None:
    X, triplets = noise(9, 600)
    one = walked(X, triplets, recipes.spml(ridge=1e-3, margin=1e-2))
    two = walked(X, triplets, recipes.spml(ridge=1e-5, margin=1.0), start=100.0)
    assert_same_matrix(1e-5 * two.last, 1e-3 * one.last, 1e-9)


@pytest.mark.parametrize("d", [*SIZES, 150])
@pytest.mark.parametrize("period", [1, 3, 10])
@pytest.mark.parametrize("radius", [1000.0, 1.1])
def test_a_projection_now_and_then_is_the_plain_one(d: int, period: int, radius: float) -> None:
    X, triplets = noise(d, 300, scale=2.0)
    R = radius * np.sqrt(d)
    recipe = Recipe(batch_size=10, learning_rate=0.3, radius=R, rule=NowAndThen(period))
    solver = walked(X, triplets, recipe)
    last, average = plain_now_and_then(X, triplets, batch_size=10, eta=0.3, R=R, period=period)
    assert_same_matrix(solver.last, last)
    assert_same_matrix(solver.average, average)
    assert solver.iterate.tally[0]["changes"] == 30
    assert 0 < solver.iterate.tally[0]["projections"] <= 30 // period


def test_a_projection_after_each_update_is_the_papers_rule() -> None:
    X, triplets = noise(30, 300, scale=2.0)
    each, paper = (
        walked(X, triplets, Recipe(batch_size=10, rule=rule)) for rule in (NowAndThen(1), AtOnce())
    )
    assert_same_matrix(each.average, paper.average, 1e-10)


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("batch_size", [1, 10])
@pytest.mark.parametrize("radius", [1000.0, 1.1])
def test_one_projection_is_the_plain_one(d: int, batch_size: int, radius: float) -> None:
    X, triplets = noise(d, 300, scale=2.0)
    R = radius * np.sqrt(d)
    recipe = Recipe(
        loss=SmoothHinge(3.0),
        batch_size=batch_size,
        learning_rate=0.3,
        radius=R,
        rule=OnlyOnce(damping=0.05),
    )
    solver = walked(X, triplets, recipe)
    last, average = plain_once(
        X, triplets, batch_size=batch_size, eta=0.3, L=3.0, R=R, damping=0.05
    )
    assert_same_matrix(solver.last, last)
    assert_same_matrix(solver.average, average)
    assert solver.iterate.tally[0]["dual"] > 0.0


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("batch_size", [1, 10])
@pytest.mark.parametrize("trace", [0.5, 20.0])
def test_projection_free_is_the_plain_one(d: int, batch_size: int, trace: float) -> None:
    X, triplets = noise(d, 300)
    recipe = Recipe(
        loss=SmoothHinge(3.0), batch_size=batch_size, radius=np.inf, rule=Never(trace * d)
    )
    solver = walked(X, triplets, recipe)
    last, average = plain_never(X, triplets, batch_size=batch_size, L=3.0, trace=trace * d)
    assert_same_matrix(solver.last, last, 1e-7)
    assert_same_matrix(solver.average, average, 1e-7)


@given(st.integers(0, 1000), st.floats(0.1, 10.0))
def test_projection_free_stays_in_its_domain(seed: int, trace: float) -> None:
    X, triplets = noise(6, 120, seed=seed)
    solver = walked(X, triplets, Recipe(batch_size=2, rule=Never(6.0 * trace)))
    values = np.linalg.eigvalsh(solver.last)
    assert values[0] >= -1e-12 * values[-1]
    assert values.sum() <= 6.0 * max(trace, 1.0) * (1.0 + 1e-12)


@pytest.mark.parametrize(
    "recipe",
    [
        recipes.spml(ridge=1e-4, margin=1e-2),
        Recipe(batch_size=10, rule=NowAndThen(4)),
        Recipe(batch_size=10, rule=OnlyOnce()),
        Recipe(batch_size=10, rule=Never(100.0)),
    ],
    ids=["spml", "now and then", "once", "never"],
)
@pytest.mark.parametrize("portion", [1, 7])
def test_portions_do_not_matter(recipe: Recipe, portion: int) -> None:
    X, triplets = noise(12, 300)
    whole, parts = walked(X, triplets, recipe), walked(X, triplets, recipe, portion=portion)
    assert_same_matrix(parts.last, whole.last, 1e-9)
    assert_same_matrix(parts.average, whole.average, 1e-9)
