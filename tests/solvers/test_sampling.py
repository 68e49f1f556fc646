"""Norms without d x d matrices, and the estimate of the largest gradient norm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.parts import SmoothHinge, gradient_norm
from calipers.solvers.plan import largest_norm
from calipers.solvers.recipes import NormRule

seeds = st.integers(0, 2**32 - 1)


def differences(seed: int, n: int, d: int) -> tuple[FloatArray, FloatArray]:
    """Far and near differences; some are zero, equal or opposite."""
    rng = np.random.default_rng(seed)
    far, near = rng.standard_normal((2, n, d)) * 10.0 ** rng.integers(-3, 4)
    kind = rng.integers(6, size=n)
    far[kind == 0] = 0.0
    near[kind == 1] = 0.0
    near[kind == 2] = far[kind == 2]
    near[kind == 3] = -2.0 * far[kind == 3]
    return far, near


def outer(far: FloatArray, near: FloatArray) -> FloatArray:
    return np.asarray(np.outer(far, far) - np.outer(near, near))


@given(seeds, st.integers(1, 6), st.integers(1, 9))
def test_gradient_norm_is_that_of_the_matrix(seed: int, n: int, d: int) -> None:
    far, near = differences(seed, n, d)
    slopes = np.random.default_rng(seed).random(n)
    dense = sum(s * outer(f, v) for s, f, v in zip(slopes, far, near, strict=True)) / n
    largest = max(float(np.sum(far**2, axis=1).max()), float(np.sum(near**2, axis=1).max()))
    assert gradient_norm(far, near, slopes) == pytest.approx(
        float(np.linalg.norm(dense)), rel=1e-9, abs=1e-7 * largest
    )


def problem() -> tuple[FloatArray, IndexArray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((30, 4)), np.argsort(rng.random((1000, 30)), axis=1)[:, :3]


def estimate(rule: NormRule, *, draws: int = 5000, start: float = 0.5) -> float:
    X, triplets = problem()
    return largest_norm(
        X,
        triplets,
        loss=SmoothHinge(3.0),
        start=start,
        batch_size=10,
        rule=rule,
        rng=np.random.default_rng(1),
        draws=draws,
    )


def norms_at_start(start: float) -> list[FloatArray]:
    """Of every triplet: norm, slope times norm; of every batch: gradient norm."""
    X, triplets = problem()
    far, near = X[triplets[:, 0]] - X[triplets[:, 2]], X[triplets[:, 0]] - X[triplets[:, 1]]
    slopes = SmoothHinge(3.0).slope(start * (np.sum(far**2, axis=1) - np.sum(near**2, axis=1)))
    A = np.einsum("ti,tj->tij", far, far) - np.einsum("ti,tj->tij", near, near)
    weighted = slopes[:, None, None] * A
    batches = weighted.reshape(100, 10, 4, 4).mean(axis=1)
    return [np.linalg.norm(m, axis=(1, 2)) for m in (A, weighted, batches)]


@pytest.mark.parametrize("start", [0.5, 1.0])
def test_enough_samples_find_the_largest(start: float) -> None:
    norms, weighted, batches = norms_at_start(start)
    assert estimate("bound", start=start) == pytest.approx(norms.max())
    assert estimate("triplet", start=start) == pytest.approx(weighted.max())
    assert estimate("batch", start=start) == pytest.approx(batches.max())


def test_few_samples_stay_below_and_the_rules_are_ordered() -> None:
    few = estimate("triplet", draws=5)
    assert 0.0 < few < estimate("triplet")
    assert estimate("batch") <= estimate("triplet") <= estimate("bound")


def test_fewer_triplets_than_a_batch_are_one_batch() -> None:
    X, triplets = problem()
    found = largest_norm(
        X,
        triplets[:3],
        loss=SmoothHinge(3.0),
        start=1.0,
        batch_size=10,
        rule="batch",
        draws=100,
        rng=np.random.default_rng(0),
    )
    assert found > 0.0
