"""Triplets drawn from labels: which samples are drawn, how often, and by which random numbers."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.arrays import FloatArray, IndexArray
from calipers.data import samples
from calipers.data.neighbors.search import nearest_same_and_other
from calipers.data.samples import MemorySamples
from calipers.data.triplets import (
    AllPairsTriplets,
    DrawnTriplets,
    GivenTriplets,
    Source,
    each_negative_once,
)

RNG = np.random.default_rng(0)
LABELS = np.concatenate([RNG.integers(3, size=59), [3]])  # class 3 is a singleton
X = RNG.standard_normal((60, 4))


def blobs(n: int = 60, n_classes: int = 3) -> tuple[FloatArray, IndexArray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 4)), np.arange(n) % n_classes


def drawn_from(
    X: FloatArray, labels: IndexArray, n: int, *, n_neighbors: int, seed: int
) -> IndexArray:
    rng = np.random.default_rng(seed)
    source = DrawnTriplets(MemorySamples(X, labels), n, n_neighbors=n_neighbors, rng=rng)
    return np.concatenate(list(source.portions(n)))


def drawn(n_triplets: int = 500, n_neighbors: int = 3, seed: int = 1) -> DrawnTriplets:
    rng = np.random.default_rng(seed)
    return DrawnTriplets(MemorySamples(X, LABELS), n_triplets, n_neighbors=n_neighbors, rng=rng)


def all_pairs(
    n_triplets: int, k: int, seed: int = 1, among: IndexArray | None = None
) -> AllPairsTriplets:
    rng = np.random.default_rng(seed)
    labelled = MemorySamples(X, LABELS)
    return AllPairsTriplets(labelled, n_triplets, n_neighbors=k, rng=rng, among=among)


def whole(source: Source) -> IndexArray:
    return np.concatenate(list(source.portions(10_000)))


# drawn triplets


def test_one_neighbour_gives_the_nearest_samples_of_uniform_anchors() -> None:
    X, labels = blobs()
    triplets = drawn_from(X, labels, 500, n_neighbors=1, seed=7)
    anchors = np.random.default_rng(7).spawn(3)[0].integers(60, size=500)
    same, other = nearest_same_and_other(X, labels, np.arange(60), n_same=1, n_other=1)
    expected = np.column_stack([anchors, same[anchors, 0], other[anchors, 0]])
    np.testing.assert_array_equal(triplets, expected)
    assert triplets.dtype == np.intp
    assert triplets.flags.c_contiguous


def test_anchors_positives_and_negatives_have_a_stream_each() -> None:
    X, labels = blobs()
    triplets = drawn_from(X, labels, 80, n_neighbors=4, seed=1)
    anchor_rng, positive_rng, negative_rng = np.random.default_rng(1).spawn(3)
    anchors = anchor_rng.integers(60, size=80)
    same, other = nearest_same_and_other(X, labels, anchors, n_same=4, n_other=4)
    places = np.arange(80)
    positives = same[places, positive_rng.integers(np.full(80, 4))]
    negatives = other[places, negative_rng.integers(np.full(80, 4))]
    np.testing.assert_array_equal(triplets, np.column_stack([anchors, positives, negatives]))


def test_choices_are_uniform_among_the_neighbours_that_exist() -> None:
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    labels = np.array([0, 0, 0, 1, 1])
    triplets = drawn_from(X, labels, 6000, n_neighbors=3, seed=2)
    assert (np.abs(np.bincount(triplets[:, 0]) - 1200) < 150).all()
    of_first = triplets[triplets[:, 0] == 0]
    assert set(of_first[:, 1]) == {1, 2}
    assert abs(np.mean(of_first[:, 1] == 1) - 0.5) < 0.06
    of_last = triplets[triplets[:, 0] == 4]
    assert set(of_last[:, 1]) == {3}
    assert (np.abs(np.bincount(of_last[:, 2]) / len(of_last) - 1 / 3) < 0.06).all()


def test_singletons_are_never_anchors_but_may_be_negatives() -> None:
    X = np.array([[0.0], [1.0], [0.4]])
    triplets = drawn_from(X, np.array([1, 1, 0]), 20, n_neighbors=1, seed=0)
    assert {tuple(triplet) for triplet in triplets.tolist()} == {(0, 1, 2), (1, 0, 2)}


def test_only_distinct_anchors_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []

    def spy(
        X: FloatArray, labels: IndexArray, anchors: IndexArray, **sizes: int
    ) -> tuple[IndexArray, IndexArray]:
        searched.append(anchors)
        return nearest_same_and_other(X, labels, anchors, **sizes)

    monkeypatch.setattr(samples, "nearest_same_and_other", spy)
    X, labels = blobs()
    triplets = drawn_from(X, labels, 30, n_neighbors=2, seed=3)
    assert len(searched) == 1
    np.testing.assert_array_equal(searched[0], np.unique(triplets[:, 0]))


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_portions_do_not_change_the_triplets(size: int) -> None:
    X, labels = blobs()
    rng = np.random.default_rng(4)
    source = DrawnTriplets(MemorySamples(X, labels), 90, n_neighbors=3, rng=rng)
    portions = list(source.portions(size))
    assert [len(p) for p in portions[:-1]] == [size] * (len(portions) - 1)
    np.testing.assert_array_equal(
        np.concatenate(portions), drawn_from(X, labels, 90, n_neighbors=3, seed=4)
    )


def test_a_second_iteration_yields_the_same_and_another_seed_does_not() -> None:
    np.testing.assert_array_equal(whole(drawn()), whole(drawn()))
    assert not np.array_equal(whole(drawn()), whole(drawn(seed=2)))


def test_a_longer_list_begins_with_the_shorter() -> None:
    np.testing.assert_array_equal(whole(drawn(100)), whole(drawn(500))[:100])


@pytest.mark.parametrize("n_neighbors", [1, 3, 1000])
def test_positives_and_negatives_are_among_the_nearest(n_neighbors: int) -> None:
    triplets = whole(drawn(3000, n_neighbors=n_neighbors))
    same, other = nearest_same_and_other(
        X, LABELS, np.arange(len(X)), n_same=n_neighbors, n_other=n_neighbors
    )
    anchor, positive, negative = triplets.T
    assert (LABELS[anchor] == LABELS[positive]).all()
    assert (LABELS[anchor] != LABELS[negative]).all()
    assert (anchor != positive).all()
    assert (same[anchor] == positive[:, None]).any(axis=1).all()
    assert (other[anchor] == negative[:, None]).any(axis=1).all()
    assert 59 not in anchor
    if n_neighbors == 3:  # every choice is made at times
        assert len(np.unique(triplets, axis=0)) > 0.9 * 59 * 9


def test_positives_and_negatives_are_chosen_independently() -> None:
    triplets = whole(drawn(20_000))
    same, other = nearest_same_and_other(X, LABELS, np.arange(60), n_same=3, n_other=3)
    positive = np.argmax(same[triplets[:, 0]] == triplets[:, 1, None], axis=1)
    negative = np.argmax(other[triplets[:, 0]] == triplets[:, 2, None], axis=1)
    counts = np.bincount(3 * positive + negative, minlength=9)
    np.testing.assert_allclose(counts / 20_000, 1 / 9, atol=0.01)


# given triplets


def test_given_triplets_come_in_order() -> None:
    triplets = np.arange(21).reshape(7, 3)
    portions = list(GivenTriplets(triplets).portions(3))
    assert [len(p) for p in portions] == [3, 3, 1]
    np.testing.assert_array_equal(np.concatenate(portions), triplets)


# all-pairs triplets


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_every_anchor_has_all_pairs_of_its_nearest(k: int) -> None:
    triplets = whole(all_pairs(2 * 59 * k * k, k))
    groups = triplets.reshape(-1, k, k, 3)
    anchors = groups[:, 0, 0, 0]
    assert (groups[..., 0] == anchors[:, None, None]).all()
    same, other = nearest_same_and_other(X, LABELS, anchors, n_same=k, n_other=k)
    np.testing.assert_array_equal(groups[..., 1], np.repeat(same[:, :, None], k, axis=2))
    np.testing.assert_array_equal(groups[..., 2], np.repeat(other[:, None, :], k, axis=1))


def test_every_sample_is_anchor_once_in_a_pass() -> None:
    anchors = whole(all_pairs(2 * 59 * 9, 3))[::9, 0]
    for part in (anchors[:59], anchors[59:]):
        np.testing.assert_array_equal(np.sort(part), np.arange(59))  # not the singleton
    assert not np.array_equal(anchors[:59], anchors[59:])


@pytest.mark.parametrize("size", [1, 7, 9, 100])
def test_portions_do_not_change_all_pairs(size: int) -> None:
    source = all_pairs(605, 3)
    assert len(source) == 605
    parts = list(source.portions(size))
    assert {len(part) for part in parts[:-1]} <= {size}
    np.testing.assert_array_equal(np.concatenate(parts), whole(source))


def test_a_longer_list_of_all_pairs_begins_with_the_shorter_and_seeds_differ() -> None:
    np.testing.assert_array_equal(whole(all_pairs(100, 3)), whole(all_pairs(500, 3))[:100])
    assert not np.array_equal(whole(all_pairs(500, 3)), whole(all_pairs(500, 3, seed=2)))


def test_an_anchor_with_fewer_neighbours_repeats_them() -> None:
    labelled = MemorySamples(np.arange(5.0)[:, None], np.array([0, 0, 0, 1, 1]))
    source = AllPairsTriplets(labelled, 5 * 16, n_neighbors=4, rng=np.random.default_rng(0))
    (group,) = (g for g in whole(source).reshape(-1, 4, 4, 3) if g[0, 0, 0] == 0)
    np.testing.assert_array_equal(group[:, 0, 1], [1, 2, 1, 2])
    np.testing.assert_array_equal(group[0, :, 2], [3, 4, 3, 4])


def test_anchors_may_be_named() -> None:
    anchors = whole(all_pairs(90, 3, among=np.array([4, 8, 8])))[::9, 0]
    np.testing.assert_array_equal(np.bincount(anchors[:9])[[4, 8]], [3, 6])


def test_one_triplet_is_kept_per_anchor_and_negative() -> None:
    triplets = whole(all_pairs(20 * 9 + 5, 3))  # the last anchor lacks four triplets
    kept = each_negative_once(triplets, 3)
    pairs = [tuple(pair) for pair in triplets[: 20 * 9, [0, 2]].tolist()]
    assert [tuple(pair) for pair in kept[:, [0, 2]].tolist()] == list(dict.fromkeys(pairs))


@pytest.mark.parametrize("among", [None, np.arange(10, 40)])
def test_anchors_are_drawn_as_often_as_their_weights_say(among: IndexArray | None) -> None:
    weights = np.random.default_rng(3).random(60) + 0.1
    possible = np.arange(59) if among is None else among
    expected = weights[possible] / weights[possible].sum()
    n, k = 30_000, 2
    for draw, n_anchors in ((DrawnTriplets, n), (AllPairsTriplets, n // k**2)):
        source = draw(
            MemorySamples(X, LABELS, weights),
            n,
            n_neighbors=k,
            rng=np.random.default_rng(4),
            among=among,
        )
        anchors = next(source.portions(n))[:: n // n_anchors, 0]
        counts = np.bincount(anchors, minlength=60)[possible]
        assert counts.sum() == n_anchors  # no singleton, and none but these
        if draw is DrawnTriplets:
            assert np.abs(counts / n - expected).max() < 4.0 * np.sqrt(expected.max() / n)
        else:  # a pass has each anchor as often as its share says, rounded up or down
            n_passes = n_anchors / len(possible)
            assert np.abs(counts / n_passes - expected * len(possible)).max() < 0.2
            first = np.bincount(anchors[: len(possible)], minlength=60)[possible]
            assert np.abs(first - expected * len(possible)).max() < 1.0


def test_equal_weights_draw_the_same_triplets() -> None:
    for draw in (DrawnTriplets, AllPairsTriplets):
        plain, equal = (
            next(
                draw(
                    MemorySamples(X, LABELS, weights),
                    500,
                    n_neighbors=2,
                    rng=np.random.default_rng(1),
                ).portions(500)
            )
            for weights in (None, np.full(60, 0.3))
        )
        np.testing.assert_array_equal(plain, equal)
