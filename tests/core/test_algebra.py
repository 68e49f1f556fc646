"""The compiled arithmetic against its NumPy twin, on both sides of every size limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from calipers import sampling
from calipers._core import algebra
from calipers.arrays import FloatArray

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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gather(dtype: type) -> None:
    rng = np.random.default_rng(0)
    X: npt.NDArray[Any] = rng.standard_normal((9, 5)).astype(dtype)
    triplets = rng.integers(9, size=(20, 3))
    far, near = np.empty((20, 5)), np.empty((20, 5))
    for array in (X, triplets):
        array.flags.writeable = False
    algebra._gather(algebra.Samples(X), triplets, far, near)
    wide = X.astype(np.float64)
    np.testing.assert_array_equal(far, wide[triplets[:, 0]] - wide[triplets[:, 2]])
    np.testing.assert_array_equal(near, wide[triplets[:, 0]] - wide[triplets[:, 1]])


@pytest.mark.parametrize("k", [1, 3])
def test_differences_are_clipped(k: int) -> None:
    given = rows(12, 5)
    far, near = (side.copy() for side in given)
    far[:k] *= 10.0
    near[:k] *= 10.0
    lengths = np.sqrt(np.sum(far**2, axis=1).reshape(-1, k).mean(axis=1))
    clip_norm = float(np.median(lengths))
    shorter = np.repeat(np.minimum(1.0, clip_norm / np.maximum(lengths, 1e-9)), k)[:, None]
    expected = far * shorter, near * shorter
    algebra._clip(far, near, k, clip_norm)
    np.testing.assert_allclose(far, expected[0], rtol=1e-12)
    np.testing.assert_allclose(near, expected[1], rtol=1e-12)
    assert 0 < np.count_nonzero(shorter < 1.0) < 12
    algebra._clip(far, near, k, np.inf)
    np.testing.assert_allclose(far, expected[0], rtol=1e-12)


def norms_of_matrices(far: FloatArray, near: FloatArray) -> FloatArray:
    matrices = far[:, :, None] * far[:, None] - near[:, :, None] * near[:, None]
    return np.asarray(np.linalg.norm(matrices, axis=(1, 2)))


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_outer_norms(n: int, d: int) -> None:
    far, near = rows(n, d)
    norms = algebra._outer_norms(far, near)
    np.testing.assert_allclose(norms, norms_of_matrices(far, near), rtol=1e-10, atol=1e-7)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_margins_by_hand_and_by_blas(n: int, d: int) -> None:
    far, near = rows(n, d)
    M = metric(d)
    out = algebra._margins(M, far, near)
    expected = np.sum(far @ M * far, axis=1) - np.sum(near @ M * near, axis=1)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12 * d)


@pytest.mark.parametrize("d", [1, 7, 60])
@pytest.mark.parametrize(("n_anchors", "k"), [(1, 2), (4, 3), (3, 5)])
def test_all_pairs(n_anchors: int, k: int, d: int) -> None:
    """Every far row of an anchor with every near one, near row by near row."""
    n = n_anchors * k
    far, near = rows(n, d)
    M = metric(d)
    out, norms = algebra._margins(M, far, near, k), algebra._outer_norms(far, near, k)
    pairs = [(a * k + f, a * k + j) for a in range(n_anchors) for j in range(k) for f in range(k)]
    f, j = np.array(pairs).T
    F, N = far[f], near[j]
    expected = np.sum(F @ M * F, axis=1) - np.sum(N @ M * N, axis=1)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12 * d)
    np.testing.assert_allclose(norms, norms_of_matrices(F, N), rtol=1e-10, atol=1e-7)


@pytest.mark.parametrize("signs", ["+", "-", "+-", "-+", "+-+", "+-+-+"])
def test_outer_products_by_blas_in_runs_of_one_sign(signs: str) -> None:
    vectors, _ = rows(45 * len(signs), 30)
    weights = np.repeat([1.0 if sign == "+" else -1.0 for sign in signs], 45)
    M = metric(30)
    expected = M + (weights * vectors.T) @ vectors
    algebra._add_outer_products(M, vectors, weights)
    np.testing.assert_allclose(M, expected, rtol=1e-11, atol=1e-10)
    np.testing.assert_array_equal(M, M.T)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_gradient_norm(n: int, d: int) -> None:
    far, near = rows(n, d)
    slopes = np.random.default_rng(1).random(n)
    G = ((slopes * near.T) @ near - (slopes * far.T) @ far) / n
    expected = float(np.linalg.norm(G))
    assert sampling.gradient_norm(far, near, slopes) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("n", "d"), [*SHAPES, (2, 16), (40, 5), (41, 33), (90, 64)])
def test_add_outer_products(n: int, d: int) -> None:
    vectors, _ = rows(n, d)
    signs = np.where(np.arange(n) % 2, -1.0, 1.0)
    M = metric(d)
    expected = M + (signs * vectors.T) @ vectors
    squared = algebra._add_outer_products(M, vectors, signs)
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
    updated = algebra._margins(M, far, near)
    algebra._update_margins(far, near, vectors, signs, updated)
    expected = algebra._margins(M + (signs * vectors.T) @ vectors, far, near)
    np.testing.assert_allclose(updated, expected, rtol=1e-11, atol=2e-11 * d)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 2), (7, 16), (20, 60), (64, 130)])
def test_multiply(n: int, d: int) -> None:
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((n, d)), rng.standard_normal((d, d))
    np.testing.assert_allclose(algebra._multiply(left, right), left @ right, rtol=1e-12, atol=1e-12)
