"""Triplets from labels: which samples are drawn, how often; and given ones: what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors import nearest_same_and_other
from calipers.data.samples import MemorySamples
from calipers.data.triplets import (
    AllPairsTriplets,
    DrawnTriplets,
    GivenTriplets,
    PairsOfTriplets,
    Source,
    check_pairs,
    check_triplets,
)

LABELS = np.concatenate([np.random.default_rng(0).integers(3, size=59), [3]])  # 59 is a singleton
X = np.random.default_rng(0).standard_normal((60, 4))
SAMPLES = MemorySamples(X, LABELS)


def drawn(
    n: int = 500, k: int = 3, seed: int = 1, samples: MemorySamples = SAMPLES
) -> DrawnTriplets:
    return DrawnTriplets(samples, n, n_neighbors=k, rng=np.random.default_rng(seed))


def all_pairs(n: int, k: int, seed: int = 1, among: IndexArray | None = None) -> AllPairsTriplets:
    rng = np.random.default_rng(seed)
    return AllPairsTriplets(SAMPLES, n, n_neighbors=k, rng=rng, among=among)


def whole(source: Source) -> IndexArray:
    return np.concatenate(list(source.portions(10_000)))


def test_anchors_positives_and_negatives_have_a_stream_each() -> None:
    anchor_rng, positive_rng, negative_rng = np.random.default_rng(1).spawn(3)
    anchors = anchor_rng.integers(59, size=80)
    same, other = nearest_same_and_other(X, LABELS, anchors, n_same=4, n_other=4)
    places = np.arange(80)
    positives = same[places, positive_rng.integers(np.full(80, 4))]
    negatives = other[places, negative_rng.integers(np.full(80, 4))]
    np.testing.assert_array_equal(
        whole(drawn(80, 4)), np.column_stack([anchors, positives, negatives])
    )


def test_choices_are_uniform_among_the_neighbours_that_exist() -> None:
    samples = MemorySamples(
        np.array([[0.0], [1.0], [2.0], [10.0], [11.0]]), np.array([0, 0, 0, 1, 1])
    )
    triplets = whole(drawn(6000, 3, 2, samples))
    assert (np.abs(np.bincount(triplets[:, 0]) - 1200) < 150).all()
    of_first = triplets[triplets[:, 0] == 0]
    assert set(of_first[:, 1]) == {1, 2}
    assert abs(np.mean(of_first[:, 1] == 1) - 0.5) < 0.06
    of_last = triplets[triplets[:, 0] == 4]
    assert set(of_last[:, 1]) == {3}
    assert (np.abs(np.bincount(of_last[:, 2]) / len(of_last) - 1 / 3) < 0.06).all()


def test_singletons_are_never_anchors_but_may_be_negatives() -> None:
    samples = MemorySamples(np.array([[0.0], [1.0], [0.4]]), np.array([1, 1, 0]))
    triplets = whole(drawn(20, 1, 0, samples))
    assert {tuple(triplet) for triplet in triplets.tolist()} == {(0, 1, 2), (1, 0, 2)}


@pytest.mark.parametrize("source", [drawn(605), all_pairs(605, 3)])
@pytest.mark.parametrize("size", [1, 7, 9, 1000])
def test_portions_do_not_change_the_triplets(source: Source, size: int) -> None:
    portions = list(source.portions(size))
    assert len(source) == 605
    assert {len(portion) for portion in portions[:-1]} <= {size}
    np.testing.assert_array_equal(np.concatenate(portions), whole(source))


@pytest.mark.parametrize("make", [drawn, all_pairs])
def test_a_longer_list_begins_with_the_shorter_and_seeds_differ(make: Any) -> None:
    np.testing.assert_array_equal(whole(make(100, 3)), whole(make(500, 3))[:100])
    assert not np.array_equal(whole(make(500, 3)), whole(make(500, 3, 2)))


@pytest.mark.parametrize("n_neighbors", [1, 3, 1000])
def test_positives_and_negatives_are_among_the_nearest(n_neighbors: int) -> None:
    triplets = whole(drawn(3000, n_neighbors))
    same, other = nearest_same_and_other(
        X, LABELS, np.arange(len(X)), n_same=n_neighbors, n_other=n_neighbors
    )
    anchor, positive, negative = triplets.T
    assert (LABELS[anchor] == LABELS[positive]).all()
    assert (LABELS[anchor] != LABELS[negative]).all()
    assert (same[anchor] == positive[:, None]).any(axis=1).all()
    assert (other[anchor] == negative[:, None]).any(axis=1).all()
    assert 59 not in anchor
    if n_neighbors == 3:  # every choice is made at times
        assert len(np.unique(triplets, axis=0)) > 0.9 * 59 * 9


# All-pairs triplets


@pytest.mark.parametrize("k", [1, 3, 5])
def test_every_anchor_has_all_pairs_of_its_nearest(k: int) -> None:
    groups = whole(all_pairs(2 * 59 * k * k, k)).reshape(-1, k, k, 3)
    anchors = groups[:, 0, 0, 0]
    assert (groups[..., 0] == anchors[:, None, None]).all()
    same, other = nearest_same_and_other(X, LABELS, anchors, n_same=k, n_other=k)
    np.testing.assert_array_equal(groups[..., 1], np.repeat(same[:, :, None], k, axis=2))
    np.testing.assert_array_equal(groups[..., 2], np.repeat(other[:, None, :], k, axis=1))
    for part in (anchors[:59], anchors[59:]):
        np.testing.assert_array_equal(np.sort(part), np.arange(59))  # a pass, without the singleton


def test_an_anchor_with_fewer_neighbours_repeats_them() -> None:
    labelled = MemorySamples(np.arange(5.0)[:, None], np.array([0, 0, 0, 1, 1]))
    source = AllPairsTriplets(labelled, 5 * 16, n_neighbors=4, rng=np.random.default_rng(0))
    (group,) = (g for g in whole(source).reshape(-1, 4, 4, 3) if g[0, 0, 0] == 0)
    np.testing.assert_array_equal(group[:, 0, 1], [1, 2, 1, 2])
    np.testing.assert_array_equal(group[0, :, 2], [3, 4, 3, 4])


def test_anchors_may_be_named() -> None:
    anchors = whole(all_pairs(90, 3, among=np.array([4, 8, 8])))[::9, 0]
    np.testing.assert_array_equal(np.bincount(anchors[:9])[[4, 8]], [3, 6])


@pytest.mark.parametrize("among", [None, np.arange(10, 40)])
def test_anchors_are_drawn_as_often_as_their_weights_say(among: IndexArray | None) -> None:
    weights: FloatArray = np.random.default_rng(3).random(60) + 0.1
    possible = np.arange(59) if among is None else among
    expected = weights[possible] / weights[possible].sum()
    n, k, samples = 30_000, 2, MemorySamples(X, LABELS, weights)
    rng = np.random.default_rng(4)
    one = DrawnTriplets(samples, n, n_neighbors=k, rng=rng, among=among)
    counts = np.bincount(whole(one)[:, 0], minlength=60)[possible]
    assert counts.sum() == n
    assert np.abs(counts / n - expected).max() < 4.0 * np.sqrt(expected.max() / n)
    other = AllPairsTriplets(samples, n, n_neighbors=k, rng=rng, among=among)
    counts = np.bincount(whole(other)[:: k * k, 0], minlength=60)[possible]
    n_passes = n / k**2 / len(possible)  # each has an anchor as often as its share says, rounded
    assert np.abs(counts - expected * n / k**2).max() <= n_passes + 1


# Given ones


def test_the_two_pairs_of_each_triplet_come_in_order() -> None:
    triplets = np.random.default_rng(0).integers(9, size=(7, 3))
    source = PairsOfTriplets(GivenTriplets(triplets))
    expected = [[a, b, s] for a, p, n in triplets.tolist() for b, s in ((p, 1), (n, -1))]
    assert len(source) == 14
    for size in (1, 3, 4, 20):
        assert np.concatenate(list(source.portions(size))).tolist() == expected


def test_any_integer_type_becomes_contiguous_indices_of_their_own() -> None:
    for dtype in (np.int8, np.uint64, np.intp):
        given: Any = np.asfortranarray(np.array([[0, 1, 2], [3, 2, 0]], dtype=dtype))
        checked = check_triplets(given, n_samples=4)
        assert checked.dtype == np.intp
        assert checked.flags.c_contiguous
        assert checked.tolist() == given.tolist()
        assert not np.shares_memory(checked, given)


@pytest.mark.parametrize(
    ("triplets", "sentence"),
    [
        ([[0, 1, 2]] * 17 + [[4, 9, 212]], "triplets[17] = (4, 9, 212) points outside of X: use "
         "indices from 0 to 199."),
        ([[0, 1, 2], [0, -1, 2]], "triplets[1] = (0, -1, 2) points outside of X: use indices"),
        ([[5, 5, 2]], "triplets[0] = (5, 5, 2) has its anchor as its positive: drop or replace"),
        ([[5, 2, 5]], "triplets[0] = (5, 2, 5) has its anchor as its negative: drop or replace"),
        ([[0.0, 1.0, 2.0]], "triplets must hold integer indices of samples of X, got float64."),
        ([[0, 1]], "triplets must have shape (n_triplets, 3), one (anchor, positive, negative) in"),
        ([], "triplets must have shape (n_triplets, 3), one (anchor, positive, negative) in each"),
    ],
)  # fmt: skip
def test_triplets_that_are_refused(triplets: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(sentence)}"):
        check_triplets(triplets, n_samples=200)


@pytest.mark.parametrize(
    ("pairs", "y", "sentence"),
    [
        ([[0, 0]], [1], "pairs[0] = (0, 0) holds one sample twice"),
        ([[0, 1], [1, 2]], [1], "y must have shape (2,), one +1 (similar) or -1 (dissimilar)"),
        ([[0, 1], [1, 2]], [1, 0], "y[1] = 0 is neither +1 (similar) nor -1 (dissimilar)"),
    ],
)
def test_pairs_that_are_refused(pairs: Any, y: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        check_pairs(pairs, y, n_samples=3)
