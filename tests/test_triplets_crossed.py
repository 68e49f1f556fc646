"""All triplets of one anchor after the other."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.arrays import IndexArray
from calipers.triplets import CrossedTriplets, RowsInMemory, nearest_same_and_other

RNG = np.random.default_rng(0)
LABELS = np.concatenate([RNG.integers(3, size=59), [3]])  # class 3 has one member
X = RNG.standard_normal((60, 4))


def crossed(
    n_triplets: int, k: int, seed: int = 1, among: IndexArray | None = None
) -> CrossedTriplets:
    rng = np.random.default_rng(seed)
    rows = RowsInMemory(X, LABELS)
    return CrossedTriplets(rows, n_triplets, n_neighbors=k, rng=rng, among=among)


def whole(source: CrossedTriplets) -> IndexArray:
    return np.concatenate(list(source.portions(10_000)))


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_every_anchor_has_all_triplets_of_its_nearest(k: int) -> None:
    triplets = whole(crossed(2 * 59 * k * k, k))
    groups = triplets.reshape(-1, k, k, 3)
    anchors = groups[:, 0, 0, 0]
    assert (groups[..., 0] == anchors[:, None, None]).all()
    same, other = nearest_same_and_other(X, LABELS, anchors, n_same=k, n_other=k)
    np.testing.assert_array_equal(groups[..., 1], np.repeat(same[:, :, None], k, axis=2))
    np.testing.assert_array_equal(groups[..., 2], np.repeat(other[:, None, :], k, axis=1))


def test_every_row_comes_once_in_a_pass() -> None:
    anchors = whole(crossed(2 * 59 * 9, 3))[::9, 0]
    for part in (anchors[:59], anchors[59:]):
        np.testing.assert_array_equal(np.sort(part), np.arange(59))  # not the lonely one
    assert not np.array_equal(anchors[:59], anchors[59:])


@pytest.mark.parametrize("size", [1, 7, 9, 100])
def test_portions_do_not_matter(size: int) -> None:
    source = crossed(605, 3)
    assert len(source) == 605
    parts = list(source.portions(size))
    assert {len(part) for part in parts[:-1]} <= {size}
    np.testing.assert_array_equal(np.concatenate(parts), whole(source))


def test_a_longer_list_begins_with_the_shorter_and_seeds_differ() -> None:
    np.testing.assert_array_equal(whole(crossed(100, 3)), whole(crossed(500, 3))[:100])
    assert not np.array_equal(whole(crossed(500, 3)), whole(crossed(500, 3, seed=2)))


def test_where_there_are_fewer_rows_they_come_again() -> None:
    rows = RowsInMemory(np.arange(5.0)[:, None], np.array([0, 0, 0, 1, 1]))
    source = CrossedTriplets(rows, 5 * 16, n_neighbors=4, rng=np.random.default_rng(0))
    (group,) = (g for g in whole(source).reshape(-1, 4, 4, 3) if g[0, 0, 0] == 0)
    np.testing.assert_array_equal(group[:, 0, 1], [1, 2, 1, 2])
    np.testing.assert_array_equal(group[0, :, 2], [3, 4, 3, 4])


def test_anchors_may_be_named() -> None:
    anchors = whole(crossed(90, 3, among=np.array([4, 8, 8])))[::9, 0]
    np.testing.assert_array_equal(np.bincount(anchors[:9])[[4, 8]], [3, 6])
