"""The compiled arithmetic against its NumPy twin, on both sides of every size limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from calipers._core.compiled import (
    LookAhead,
    Samples,
    State,
    Workspace,
    _add_outer_products,
    _update_margins,
)
from calipers.arrays import FloatArray
from reference.plain import outer_norms
from solver_runs import look_ahead_of

SHAPES = [(1, 1), (3, 2), (7, 16), (40, 33), (64, 17), (5, 130)]


def rows(n: int, d: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    far, near = rng.standard_normal((2, n, d))
    far[0] = 0.0
    near[-1] = 0.0
    return far, near


def metric(d: int) -> FloatArray:
    root = np.random.default_rng(d).standard_normal((d, d))
    return np.asarray(root @ root.T / d)


def margins(M: FloatArray, far: FloatArray, near: FloatArray, k: int = 1) -> FloatArray:
    n, d = far.shape
    ahead = look_ahead_of(far, near, k=k)
    work = Workspace(d, batch_size=k * k, rows=k, negatives=1, max_rows=n)
    ahead.evaluate(State(M, 1.0, np.zeros((0, d))), work, 0, n)
    return ahead.margins


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gather(dtype: type) -> None:
    rng = np.random.default_rng(0)
    X: npt.NDArray[Any] = rng.standard_normal((9, 5)).astype(dtype)
    triplets = rng.integers(9, size=(20, 3))
    for array in (X, triplets):
        array.flags.writeable = False
    ahead = LookAhead(Samples(X), triplets, triplets, 1, np.zeros(20))
    ahead.gather(0, 20, np.inf)
    wide = X.astype(np.float64)
    np.testing.assert_array_equal(ahead.far, wide[triplets[:, 0]] - wide[triplets[:, 2]])
    np.testing.assert_array_equal(ahead.near, wide[triplets[:, 0]] - wide[triplets[:, 1]])


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_outer_norms(n: int, d: int) -> None:
    far, near = rows(n, d)
    norms = look_ahead_of(far, near).norms
    np.testing.assert_allclose(norms, outer_norms(far, near), rtol=1e-10, atol=1e-7)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_margins_by_hand_and_by_blas(n: int, d: int) -> None:
    far, near = rows(n, d)
    M = metric(d)
    out = margins(M, far, near)
    expected = np.sum(far @ M * far, axis=1) - np.sum(near @ M * near, axis=1)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12 * d)


@pytest.mark.parametrize("d", [1, 60])
@pytest.mark.parametrize(("n_anchors", "k"), [(1, 2), (4, 3), (3, 5)])
def test_all_pairs(n_anchors: int, k: int, d: int) -> None:
    """Every far row of an anchor with every near one, near row by near row."""
    n = n_anchors * k
    far, near = rows(n, d)
    M = metric(d)
    out, norms = margins(M, far, near, k), look_ahead_of(far, near, k=k).norms
    pairs = [(a * k + f, a * k + j) for a in range(n_anchors) for j in range(k) for f in range(k)]
    f, j = np.array(pairs).T
    F, N = far[f], near[j]
    expected = np.sum(F @ M * F, axis=1) - np.sum(N @ M * N, axis=1)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12 * d)
    np.testing.assert_allclose(norms, outer_norms(F, N), rtol=1e-10, atol=1e-7)


@pytest.mark.parametrize("signs", ["+", "-+", "+-+-+"])
def test_outer_products_by_blas_in_runs_of_one_sign(signs: str) -> None:
    vectors, _ = rows(45 * len(signs), 30)
    weights = np.repeat([1.0 if sign == "+" else -1.0 for sign in signs], 45)
    M = metric(30)
    expected = M + (weights * vectors.T) @ vectors
    _add_outer_products(M, vectors, weights)
    np.testing.assert_allclose(M, expected, rtol=1e-11, atol=1e-10)
    np.testing.assert_array_equal(M, M.T)


@pytest.mark.parametrize(("n", "d"), [*SHAPES, (2, 16), (40, 5), (41, 33), (90, 64)])
def test_add_outer_products(n: int, d: int) -> None:
    vectors, _ = rows(n, d)
    signs = np.where(np.arange(n) % 2, -1.0, 1.0)
    M = metric(d)
    expected = M + (signs * vectors.T) @ vectors
    squared = _add_outer_products(M, vectors, signs)
    np.testing.assert_allclose(M, expected, rtol=1e-12, atol=1e-12 * n)
    np.testing.assert_array_equal(M, M.T)
    assert squared == pytest.approx(float(np.sum(M**2)), rel=1e-12)


@pytest.mark.parametrize(("n", "d"), [*SHAPES, (500, 40)])
@pytest.mark.parametrize("rank", [1, 3, 12])
def test_updated_margins_are_those_of_the_changed_metric(n: int, d: int, rank: int) -> None:
    far, near = rows(n, d)
    vectors, _ = rows(rank + 1, d, seed=7)
    vectors, signs = vectors[1:], np.where(np.arange(rank) % 3, 1.0, -1.0)
    M = metric(d)
    updated = margins(M, far, near)
    _update_margins(far, near, vectors, signs, updated)
    expected = margins(M + (signs * vectors.T) @ vectors, far, near)
    np.testing.assert_allclose(updated, expected, rtol=1e-11, atol=2e-11 * d)
