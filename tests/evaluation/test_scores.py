"""Errors of held-out examples against their definitions, and the mean with its standard error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import roc_auc_score

from calipers.arrays import FloatArray
from calipers.evaluation.scores import (
    N_NEAREST,
    impostor_share,
    mean_error,
    misrankings,
    violations_by_anchor,
)
from learners import random_triplets

seeds = st.integers(0, 2**32 - 1)


def samples(seed: int, n: int = 40) -> tuple[FloatArray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, size=(n, 3)).astype(float) + 1e-6 * rng.random((n, 3)), rng


@given(seeds, st.integers(2, 39))
def test_impostors_count_by_rank(seed: int, n_held_out: int) -> None:
    Z, rng = samples(seed)
    labels = rng.integers(3, size=40)
    held = rng.permutation(40) < n_held_out
    train = np.flatnonzero(~held)
    expected = []
    for anchor in np.flatnonzero(held):
        order = train[np.argsort(np.linalg.norm(Z[train] - Z[anchor], axis=1))][:N_NEAREST]
        weights = 1.0 / np.arange(1, len(order) + 1)
        expected.append(weights @ (labels[order] != labels[anchor]) / weights.sum())
    np.testing.assert_allclose(impostor_share(Z, labels, held), expected, atol=1e-12)


@given(seeds)
def test_violations_are_wrong_orders(seed: int) -> None:
    Z, _ = samples(seed)
    triplets = random_triplets(40, 30, seed)
    triplets[3] = [0, 1, 1]  # a tie
    far = np.linalg.norm(Z[:, None] - Z, axis=2)
    by_anchor: dict[int, list[float]] = {}
    for a, p, n in triplets.tolist():
        by_anchor.setdefault(a, []).append(0.5 if p == n else float(far[a, p] > far[a, n]))
    expected = [np.mean(by_anchor[anchor]) for anchor in sorted(by_anchor)]
    np.testing.assert_allclose(violations_by_anchor(Z, triplets), expected)


@given(seeds)
def test_misrankings_are_one_minus_the_auc(seed: int) -> None:
    Z = np.round(samples(seed)[0])  # ties
    pairs = np.column_stack([random_triplets(40, 30, seed)[:, :2], np.arange(30) % 3 % 2 * 2 - 1])
    errors = misrankings(Z, pairs)
    closeness = -np.sum((Z[pairs[:, 0]] - Z[pairs[:, 1]]) ** 2, axis=1)
    auc = roc_auc_score(pairs[:, 2], closeness)
    for sign in (1, -1):
        assert errors[pairs[:, 2] == sign].mean() == pytest.approx(1.0 - auc)
    assert mean_error(errors, pairs[:, 2])[0] == pytest.approx(1.0 - auc)


def test_the_standard_error_of_a_mean() -> None:
    errors = np.random.default_rng(0).random(50)
    mean, bound = mean_error(errors)
    assert mean == pytest.approx(errors.mean())
    assert bound == pytest.approx(errors.std(ddof=1) / 50**0.5)
    assert mean_error(errors[:1])[1] == np.inf
    weights = np.arange(1.0, 51.0)
    assert mean_error(errors, weights=weights)[0] == pytest.approx(
        np.average(errors, weights=weights)
    )


def test_the_standard_error_of_an_auc_is_delongs() -> None:
    """Simulated: pairs of both signs vary, and each compares all of the other sign."""
    rng = np.random.default_rng(0)
    signs = np.repeat([1, -1], [30, 90])
    pairs = np.column_stack([np.arange(0, 240, 2), np.arange(1, 240, 2), signs])
    draws = []
    for _ in range(1000):
        Z = np.zeros((240, 1))
        Z[1::2, 0] = rng.exponential(size=120) * np.where(signs > 0, 1.0, 2.0)
        draws.append(mean_error(misrankings(Z, pairs), signs))
    means, bounds = np.array(draws).T
    assert np.mean(bounds) == pytest.approx(np.std(means), rel=0.1)
