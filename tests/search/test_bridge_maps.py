"""Each closed form is the minimum that its formula names."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import ortho_group

from calipers.search.bridge_maps import Candidate, Moments, solve

RNG = np.random.default_rng(0)


def unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


X, Y = unit(RNG.standard_normal((40, 5))), unit(RNG.standard_normal((40, 3)))
MOMENTS = Moments.of(X, Y)


def test_moments_are_sums_over_unit_vectors_and_parts_of_them() -> None:
    scaled = Moments.of(7 * X, Y.astype(np.float16))
    np.testing.assert_allclose(scaled.gram, X.T @ X, atol=1e-12)
    np.testing.assert_allclose(scaled.cross, Y.T @ X, atol=1e-2)
    rest = MOMENTS.without(Moments.of(X[:10], Y[:10]))
    np.testing.assert_allclose(rest.cross, Y[10:].T @ X[10:], atol=1e-12)


def test_no_orthogonal_map_is_nearer_than_procrustes() -> None:
    W = solve(Candidate("procrustes"), MOMENTS)
    np.testing.assert_allclose(W @ W.T, np.eye(3), atol=1e-12)
    least = np.linalg.norm(Y - X @ W.T)
    for seed in range(50):
        other = ortho_group.rvs(5, random_state=seed)[:3]
        assert np.linalg.norm(Y - X @ other.T) >= least


def test_procrustes_is_zero_where_no_text_says_anything() -> None:
    few = Moments.of(X[:2], Y[:2])
    values = np.linalg.svd(solve(Candidate("procrustes"), few), compute_uv=False)
    np.testing.assert_allclose(values, [1, 1, 0], atol=1e-12)


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_ridge_has_no_slope(alpha: float) -> None:
    P, W = solve(Candidate("procrustes"), MOMENTS), solve(Candidate("ridge", alpha), MOMENTS)
    strength = alpha * np.trace(X.T @ X) / 5

    def objective(flat: np.ndarray) -> float:
        map_ = flat.reshape(3, 5)
        return float(np.sum((Y - X @ map_.T) ** 2) + strength * np.sum((map_ - P) ** 2))

    np.testing.assert_allclose(approx_fprime(W.ravel(), objective), 0, atol=1e-5)


def test_low_rank_keeps_the_principal_part_of_the_images() -> None:
    full, cut = (solve(Candidate("low-rank", 0.1, rank), MOMENTS) for rank in (3, 2))
    np.testing.assert_allclose(full, solve(Candidate("ridge", 0.1), MOMENTS), atol=1e-12)
    left, values, right = np.linalg.svd(X @ full.T, full_matrices=False)
    values[2] = 0
    np.testing.assert_allclose(X @ cut.T, (left * values) @ right, atol=1e-12)
