"""SCML: the plain iterates, the optimum by linear programming, and the directions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from calipers import SCML
from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.scml import local_directions
from calipers.solvers.dual_averaging import DualAveragingSolver
from learners import iris, random_triplets

X, Y = iris()
TRIPLETS = random_triplets(150, 400)
TRIPLETS = TRIPLETS[Y[TRIPLETS[:, 0]] != Y[TRIPLETS[:, 2]]]
BASIS = local_directions(X, TRIPLETS, 12, np.random.default_rng(0))


def changes(triplets: IndexArray) -> FloatArray:
    """By how much each direction adds to the squared distance of the positive above the other."""
    anchors, positives, negatives = (X[triplets[:, column]] @ BASIS.T for column in range(3))
    return np.asarray((anchors - positives) ** 2 - (anchors - negatives) ** 2)


def objective(weights: FloatArray, l1_weight: float) -> float:
    losses = np.maximum(0.0, 1.0 + changes(TRIPLETS) @ weights)
    return float(losses.mean() + l1_weight * weights.sum())


@pytest.mark.parametrize("n", [1, 3])
def test_given_triplets_are_taken_once_and_may_be_repeated(n: int) -> None:
    fitted = SCML(n_triplets=50, n_basis=12, random_state=0)
    assert fitted.fit_triplets(X, np.tile(TRIPLETS[:100], (n, 1))).n_iter_ == 10 * n


@pytest.mark.parametrize("cut", [10, 70])
def test_plain_iterates(cut: int) -> None:
    """However the triplets are cut into portions."""
    solver = DualAveragingSolver(BASIS, l1_weight=0.01, learning_rate=0.3, batch_size=10)
    weights, total, squares = np.zeros((3, 12))
    for n, batch in enumerate(np.split(TRIPLETS[:210], 21), start=1):
        each = changes(batch)
        slope = each[1.0 + each @ weights > 0.0].sum(axis=0) / 10
        total, squares = total + slope, squares + slope**2
        weights = 0.3 * np.maximum(0.0, -(total + 0.01 * n)) / (1e-3 + np.sqrt(squares))
    for first in range(0, 210, cut):
        solver.advance(X, TRIPLETS[first : first + cut])
    np.testing.assert_allclose(solver.weights, weights, rtol=1e-9)
    np.testing.assert_allclose(solver.metric, BASIS.T @ np.diag(weights) @ BASIS, rtol=1e-9)
    assert solver.n_updates == solver.n_iterations == 21


@pytest.mark.parametrize("l1_weight", [1e-3, 0.05])
def test_the_optimum_is_that_of_a_linear_program(l1_weight: float) -> None:
    """Weights and losses are the variables: losses >= 0 and losses >= 1 + changes @ weights."""
    n = len(TRIPLETS)
    program = linprog(
        np.r_[np.full(12, l1_weight), np.full(n, 1 / n)],
        A_ub=np.hstack([changes(TRIPLETS), -np.eye(n)]),
        b_ub=-np.ones(n),
    )
    assert objective(program.x[:12], l1_weight) == pytest.approx(program.fun)
    solver = DualAveragingSolver(BASIS, l1_weight=l1_weight, learning_rate=0.1, batch_size=10)
    rng = np.random.default_rng(0)
    solver.advance(X, TRIPLETS[rng.integers(n, size=100_000)])
    assert program.fun <= objective(solver.weights, l1_weight) < 1.02 * program.fun
    assert objective(np.zeros(12), l1_weight) > 1.1 * program.fun


def test_directions_discriminate_whatever_the_units() -> None:
    far = X[TRIPLETS[:, 0]] - X[TRIPLETS[:, 2]]
    near = X[TRIPLETS[:, 0]] - X[TRIPLETS[:, 1]]
    np.testing.assert_allclose(np.mean((far @ BASIS.T) ** 2, axis=0), 1.0)
    single = np.mean(near**2, axis=0) / np.mean(far**2, axis=0)  # features as directions
    assert np.mean((near @ BASIS[::3].T) ** 2) < single.min()
    units = np.array([1e-3, 1.0, 1e3, 1e50])
    again = local_directions(X * units, TRIPLETS, 12, np.random.default_rng(0))
    np.testing.assert_allclose(np.abs(again * units), np.abs(BASIS), rtol=1e-6, atol=1e-8)


def test_all_count_alike_where_none_has_a_weight() -> None:
    none = DualAveragingSolver(BASIS, l1_weight=100.0, learning_rate=0.1, batch_size=10)
    none.advance(X, TRIPLETS[:100])
    assert not none.weights.any()
    np.testing.assert_allclose(none.metric, BASIS.T @ BASIS / 12)


def test_a_costly_weight_leaves_fewer() -> None:
    few, many = (
        SCML(l1_weight=cost, n_triplets=5000, random_state=0).fit(X, Y) for cost in (0.1, 1e-5)
    )
    assert 0 < few.n_active_ < many.n_active_ < 400
