"""LEGO's and ITML's solvers against the plain loops, and what defines their steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.linalg import expm

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.logdet import CyclicSolver, LogDetSolver, PairSolver
from calipers.solvers.parts import TowardsTarget
from reference.plain_online import lego_root, plain_itml, plain_lego
from solver_runs import assert_same_matrix

DIMENSIONS = [1, 3, 16, 65, 130]


def data(d: int, n: int = 60, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).standard_normal((n, d))


def pairs_of_rows(n: int, n_rows: int = 60, seed: int = 1) -> IndexArray:
    rng = np.random.default_rng(seed)
    rows = rng.permuted(np.tile(np.arange(n_rows), (n, 1)), axis=1)[:, :2]
    return np.column_stack([rows, rng.choice([-1, 1], size=n)])


def limits(X: FloatArray) -> tuple[float, float]:
    squared = np.sum((X[:, None] - X[None]) ** 2, axis=2)[np.triu_indices(len(X), 1)]
    near, far = np.percentile(squared, [30, 70])
    return float(near), float(far)


def divergence(A: FloatArray, B: FloatArray) -> float:
    """LogDet divergence."""
    ratio = A @ np.linalg.inv(B)
    return float(np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(A))


# LEGO


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("eta", [1.0, 1e-3])
def test_lego_goes_the_plain_way(d: int, eta: float) -> None:
    X, pairs = data(d), pairs_of_rows(1500)
    near, far = limits(X)
    expected = plain_lego(X, pairs, near=near, far=far, eta=eta)
    solver = PairSolver(TowardsTarget(near, far, eta), d)
    np.testing.assert_array_equal(solver.advance(X, pairs), expected.updated)
    assert_same_matrix(solver.A, expected.matrix, 1e-8)
    np.testing.assert_array_equal(solver.A, solver.A.T)
    assert 0 < solver.n_updates == sum(expected.updated) < 1500
    excess = np.where(pairs[:, 2] > 0, 1, -1) * (
        np.array(expected.values) - np.where(pairs[:, 2] > 0, near, far)
    )
    losses = np.where(expected.updated, 0.5 * np.maximum(excess, 0.0) ** 2, 0.0)
    assert solver.curve[0].loss == pytest.approx(losses.mean(), rel=1e-8)


def test_portions_do_not_matter() -> None:
    X, pairs = data(70), pairs_of_rows(2000)
    step = TowardsTarget(*limits(X), 1.0)
    whole, parts = PairSolver(step, 70), PairSolver(step, 70)
    whole.advance(X, pairs)
    for portion in np.split(pairs, [1, 5, 100, 1234]):
        parts.advance(X, portion)
    assert parts.n_updates == whole.n_updates
    assert [point.n_examples for point in parts.curve] == [1, 5, 100, 1234, 2000]
    assert_same_matrix(parts.A, whole.A, 1e-9)


@pytest.mark.parametrize("eta", [1e-6, 1.0, 1e6])
def test_positive_definite_after_many_steps(eta: float) -> None:
    X, pairs = data(12), pairs_of_rows(10_000)
    near, far = limits(X)
    solver = PairSolver(TowardsTarget(near, far, eta), 12)
    solver.advance(X, pairs)
    assert solver.n_updates > 1000
    assert np.linalg.eigvalsh(solver.A)[0] > 0.0
    np.testing.assert_array_equal(solver.A, solver.A.T)


def random_metric(seed: int, d: int) -> FloatArray:
    root = np.random.default_rng(seed).standard_normal((d, d + 2))
    return root @ root.T / d + 0.1 * np.eye(d)


@given(
    st.integers(0, 2**32 - 2),
    st.integers(1, 8),
    st.sampled_from([1e-2, 1.0, 10.0]),
    st.sampled_from([-1, 1]),
)
def test_one_step_of_lego(seed: int, d: int, eta: float, sign: int) -> None:
    """It minimises what it should: divergence plus squared miss."""
    A, z = random_metric(seed, d), data(d, 1, seed + 1)[0]
    yhat = float(z @ A @ z)
    y = yhat * (0.3 if sign > 0 else 3.0)
    solver = LogDetSolver(TowardsTarget(near=y, far=y, learning_rate=eta), d)
    solver.A = A.copy()
    squared, moved = solver.take(z[None], np.array([sign]))
    assert moved[0]
    assert squared[0] == pytest.approx(yhat)
    new = solver.A
    ybar = lego_root(yhat, y, eta)
    assert min(y, yhat) <= ybar <= max(y, yhat)
    assert eta * yhat * ybar**2 + (1 - eta * y * yhat) * ybar - yhat == pytest.approx(
        0.0, abs=1e-9 * (yhat + eta * yhat * ybar**2 + eta * y * yhat * ybar)
    )
    assert float(z @ new @ z) == pytest.approx(ybar, rel=1e-9)
    inverse = np.linalg.inv(A) + eta * (ybar - y) * np.outer(z, z)
    np.testing.assert_allclose(new @ inverse, np.eye(d), atol=1e-7)

    def objective(B: FloatArray) -> float:
        return divergence(B, A) + eta / 2 * (float(z @ B @ z) - y) ** 2

    root = np.linalg.cholesky(new)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        noise = 0.1 * rng.standard_normal((d, d))
        other = root @ expm(noise + noise.T) @ root.T
        assert objective(new) <= objective(other) + 1e-9 * (1 + abs(objective(other)))


def test_endless_aggressiveness_is_projection() -> None:
    A, z = random_metric(0, 5), data(5, 1)[0]
    yhat = float(z @ A @ z)
    solver = LogDetSolver(TowardsTarget(0.1 * yhat, yhat, 1e12), 5)
    solver.A = A.copy()
    solver.take(z[None], np.array([1]))
    assert float(z @ solver.A @ z) == pytest.approx(0.1 * yhat, rel=1e-9)


# ITML


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("gamma", [1.0, 0.1, 10.0])
def test_itml_goes_the_plain_way(d: int, gamma: float) -> None:
    X, pairs = data(d), pairs_of_rows(100)
    near, far = limits(X)
    expected = plain_itml(X, pairs, near=near, far=far, gamma=gamma, passes=4)
    solver = CyclicSolver(gamma, {1: near, -1: far}, d)
    updated = np.concatenate([solver.advance(X, pairs) for _ in range(4)])
    np.testing.assert_array_equal(updated, expected.updated)
    assert_same_matrix(solver.A, expected.M, 1e-8)
    np.testing.assert_array_equal(solver.A, solver.A.T)
    np.testing.assert_allclose(solver.step.duals, expected.duals, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(solver.step.slacks, expected.slacks, rtol=1e-7)
    np.testing.assert_allclose(solver.changes, expected.changes, rtol=1e-6)
    np.testing.assert_allclose([p.loss for p in solver.curve], expected.losses, rtol=1e-8)
    assert solver.n_updates == sum(expected.updated)


def test_itml_ends_at_the_optimum() -> None:
    """The conditions of Karush, Kuhn and Tucker of the problem that is minimised."""
    X, pairs = data(4), pairs_of_rows(40)
    near, far = limits(X)
    gamma = 2.0
    solver = CyclicSolver(gamma, {1: near, -1: far}, 4)
    while solver.change > 1e-10:
        solver.advance(X, pairs)
    Z, signs = X[pairs[:, 0]] - X[pairs[:, 1]], pairs[:, 2]
    duals, slacks = solver.step.duals, solver.step.slacks
    assert (duals >= 0.0).all()
    # stationary in M: M^-1 = I + sum(sign * dual * z z')
    inverse = np.eye(4) + (Z.T * (signs * duals)) @ Z
    np.testing.assert_allclose(solver.A @ inverse, np.eye(4), atol=1e-8)
    # stationary in the slacks: gamma (1 / first - 1 / slack) = -sign * dual
    first = np.where(signs > 0, near, far)
    np.testing.assert_allclose(1 / slacks, 1 / first - signs * duals / gamma, rtol=1e-8)
    # feasible, and tight where there is a force
    missing = signs * (np.einsum("ni,ij,nj->n", Z, solver.A, Z) - slacks) / slacks
    assert missing.max() < 1e-6
    np.testing.assert_allclose((duals * missing), 0.0, atol=1e-6 * duals.max())
    assert 0 < np.count_nonzero(duals) < 40
