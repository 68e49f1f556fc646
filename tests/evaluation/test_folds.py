"""Folds of cross-validation."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calipers.evaluation.folds import grouped, stratified

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(2, 5))
def test_every_class_and_every_fold_is_dealt_evenly(
    seed: int, labels: list[int], n_folds: int
) -> None:
    given_labels = np.array(labels)
    folds = stratified(given_labels, n_folds, np.random.default_rng(seed))
    for part in (folds, *(folds[given_labels == label] for label in set(labels))):
        sizes = np.bincount(part, minlength=n_folds)
        assert len(sizes) == n_folds
        assert sizes.max() - sizes.min() <= 1


def test_samples_of_a_class_are_shuffled_and_the_seed_decides() -> None:
    labels = np.repeat(["b", "a"], 50)
    one, same, other = (stratified(labels, 3, np.random.default_rng(s)) for s in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    assert (one[:50] != np.arange(50) % 3).any()


@given(SEEDS, st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(2, 5))
def test_a_group_stays_together_and_folds_are_as_even_as_groups_allow(
    seed: int, groups: list[int], n_folds: int
) -> None:
    given_groups = np.array(groups)
    folds = grouped(given_groups, n_folds, np.random.default_rng(seed))
    assert all(len(set(folds[given_groups == group])) == 1 for group in set(groups))
    sizes = np.bincount(folds, minlength=n_folds)
    assert len(sizes) == n_folds
    assert sizes.max() - sizes.min() <= np.bincount(given_groups).max()


def test_groups_of_one_size_are_shuffled() -> None:
    groups = np.arange(40)
    one, other = (grouped(groups, 2, np.random.default_rng(seed)) for seed in (0, 1))
    assert (one != other).any()
    assert np.bincount(one).tolist() == [20, 20]
