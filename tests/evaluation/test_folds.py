"""Folds of cross-validation."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from calipers.evaluation.folds import folds, grouped

SEEDS = st.integers(0, 2**32 - 1)


def test_every_class_is_dealt_evenly_and_the_seed_decides() -> None:
    y = np.repeat(["b", "a", "c"], [50, 31, 1])
    one, same, other = (folds(y, None, 3, np.random.default_rng(seed)) for seed in (0, 0, 1))
    for part in (one[:50], one[50:81]):
        assert np.ptp(np.bincount(part, minlength=3)) <= 1
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_there_are_no_more_folds_than_samples_of_the_largest_class() -> None:
    y = np.repeat(np.arange(10), 2)
    found = folds(y, None, 3, np.random.default_rng(0))
    assert (np.sort(found.reshape(10, 2)) == [0, 1]).all()


def test_a_group_is_held_out_together() -> None:
    groups = np.repeat(np.arange(20), 3)
    found = folds(np.repeat([0, 1], 30), groups, 4, np.random.default_rng(0)).reshape(20, 3)
    assert (found == found[:, :1]).all()
    assert set(found[:, 0]) == {0, 1, 2, 3}


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
