"""OASIS's solver against the plain loop, and what defines its updates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize_scalar

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers import bilinear
from calipers.solvers.bilinear import BilinearSolver
from reference.plain_online import plain_oasis
from solver_runs import assert_same_matrix


def data(d: int, n: int = 60, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).standard_normal((n, d))


def triplets_of(n: int, n_rows: int = 60, seed: int = 1) -> IndexArray:
    rng = np.random.default_rng(seed)
    return rng.permuted(np.tile(np.arange(n_rows), (n, 1)), axis=1)[:, :3]


def run(X: FloatArray, triplets: IndexArray, C: float = 0.1) -> BilinearSolver:
    solver = BilinearSolver(C, X.shape[1])
    solver.advance(X, triplets)
    return solver


@pytest.mark.parametrize("d", [1, 3, 16, 130])
@pytest.mark.parametrize("C", [0.1, 1e-3, 10.0])
def test_same_way_as_the_plain_loop(d: int, C: float) -> None:
    X, triplets = data(d), triplets_of(1500)
    expected = plain_oasis(X, triplets, C)
    solver = BilinearSolver(C, d)
    updated = solver.advance(X, triplets)
    np.testing.assert_array_equal(updated, expected.updated)
    assert_same_matrix(solver.W, expected.matrix, 1e-8)
    assert solver.n_updates == sum(expected.updated) > 0
    assert solver.curve[0].loss == pytest.approx(np.mean(expected.values), rel=1e-8)


def test_same_way_where_updates_become_rare() -> None:
    """Few distinct triplets, so that spans grow to the whole block and past it."""
    X = data(30)
    triplets = triplets_of(40)[np.random.default_rng(2).integers(40, size=9000)]
    expected = plain_oasis(X, triplets, 1.0)
    solver = BilinearSolver(1.0, 30)
    np.testing.assert_array_equal(solver.advance(X, triplets), expected.updated)
    assert sum(expected.updated[-4000:]) < 10 < solver.n_updates
    assert_same_matrix(solver.W, expected.matrix, 1e-8)


def test_portions_do_not_matter() -> None:
    X, triplets = data(20), triplets_of(3000)
    whole = run(X, triplets)
    parts = BilinearSolver(0.1, 20)
    for portion in np.split(triplets, [1, 2, 100, 1700]):
        parts.advance(X, portion)
    assert parts.n_updates == whole.n_updates
    assert parts.n_iterations == 3000
    assert [point.n_examples for point in parts.curve] == [1, 2, 100, 1700, 3000]
    assert_same_matrix(parts.W, whole.W, 1e-10)


def test_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bilinear, "WORTH_A_THREAD", 10_000)
    monkeypatch.setattr(bilinear, "CHUNK_WORK", 70 * 64**2)
    X = data(64)
    triplets = triplets_of(100)[np.random.default_rng(2).integers(100, size=4000)]
    results = []
    for n_threads in ("1", "2", "3"):
        monkeypatch.setenv("CALIPERS_NUM_THREADS", n_threads)
        results.append(run(X, triplets, 1.0).W)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    assert_same_matrix(results[0], plain_oasis(X, triplets, 1.0).matrix, 1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([1e-3, 0.1, 1.0, 100.0]))
def test_one_update(seed: int, d: int, C: float) -> None:
    """No longer than allowed, the best there is on the way, and only where there is a loss."""
    X = data(d, 3, seed)
    before = BilinearSolver(C, d)
    before.W = data(d, d, seed + 1)
    W = before.W.copy()
    updated = before.advance(X, np.array([[0, 1, 2]]))
    V = np.outer(X[0], X[1] - X[2])
    loss = max(0.0, 1.0 - float(np.sum(W * V)))
    if loss == 0.0:
        assert not updated[0]
        np.testing.assert_array_equal(before.W, W)
        return
    change = before.W - W
    assert np.linalg.norm(change) <= C * np.linalg.norm(V) * (1 + 1e-9) + 1e-12
    tau = float(np.sum(change * V) / np.sum(V * V))
    np.testing.assert_allclose(change, tau * V, atol=1e-9 * (1 + np.abs(W).max()))

    def objective(t: float) -> float:  # passive-aggressive: |W' - W|^2 / 2 + C loss
        squared = float(np.sum(V * V))
        return t * t * squared / 2 + C * max(0.0, loss - t * squared)

    best = minimize_scalar(objective, bounds=(0.0, C), method="bounded", options={"xatol": 1e-12})
    assert objective(tau) <= best.fun * (1 + 1e-9) + 1e-12
    if tau < C * (1 - 1e-9):
        assert 1.0 - float(np.sum(before.W * V)) == pytest.approx(0.0, abs=1e-8 * (1 + loss))
