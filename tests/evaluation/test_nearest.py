"""The exact nearest samples, against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calipers.data.neighbors import search
from calipers.evaluation import nearest_samples


def plain_neighbors(train: npt.NDArray[Any], sample: npt.NDArray[Any], k: int) -> list[int]:
    squared = [sum((a - b) ** 2 for a, b in zip(sample, other, strict=True)) for other in train]
    return sorted(range(len(train)), key=lambda index: (squared[index], index))[:k]


def whole(n_samples: int) -> st.SearchStrategy[npt.NDArray[Any]]:
    return arrays(np.int64, (n_samples, 2), elements=st.integers(-3, 3))


@given(train=whole(12), test=whole(3), k=st.integers(1, 12), scale=st.integers(-600, 600))
@settings(deadline=None)
def test_neighbors_are_those_of_brute_force_at_any_scale(
    train: npt.NDArray[Any], test: npt.NDArray[Any], k: int, scale: int
) -> None:
    expected = [plain_neighbors(train, sample, k) for sample in test]
    for factor in (1.0, 2.0**scale):
        found = nearest_samples(train * factor, test * factor, n_neighbors=k)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("whole_numbers", [True, False])
def test_the_way_of_searching_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, whole_numbers: bool
) -> None:
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(700, 5)), rng.normal(size=(60, 5))
    if whole_numbers:
        train, test = np.rint(2 * train), np.rint(2 * test)
    expected = [plain_neighbors(train, sample, 4) for sample in test]
    for least_anchors in (1, 1000):  # by a tree, and by products
        monkeypatch.setattr(search, "_TREE_ANCHORS", least_anchors)
        monkeypatch.setattr(search, "_TREE_SHARE", 2.0)
        np.testing.assert_array_equal(nearest_samples(train, test, n_neighbors=4), expected)


def test_far_from_the_origin_rounding_of_the_product_does_not_decide() -> None:
    rng = np.random.default_rng(1)
    train, test = rng.normal(size=(300, 3)) + 1e7, rng.normal(size=(40, 3)) + 1e7
    train[::2] *= -1  # the mean is near 0, so that moving the origin there does not help
    expected = [plain_neighbors(train, sample, 10) for sample in test]
    np.testing.assert_array_equal(nearest_samples(train, test, n_neighbors=10), expected)


def test_duplicates_tie_exactly_and_the_lowest_index_comes_first() -> None:
    sample = np.random.default_rng(2).normal(size=(1, 17))
    train = np.repeat(sample, 500, axis=0)
    np.testing.assert_array_equal(nearest_samples(train, sample + 0.1, n_neighbors=3), [[0, 1, 2]])
