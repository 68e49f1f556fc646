"""Drawn triplets as a list: reproducible, extendable, near and far rows independent."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.arrays import FloatArray, IndexArray
from calipers.triplets import DrawnTriplets, RowsInMemory, nearest_same_and_other


def rows(n: int = 60) -> tuple[FloatArray, IndexArray]:
    rng = np.random.default_rng(0)
    labels = np.concatenate([rng.integers(3, size=n - 1), [3]])  # class 3 has one member
    return rng.standard_normal((n, 4)), labels


def drawn(n_triplets: int = 500, n_neighbors: int = 3, seed: int = 1) -> DrawnTriplets:
    X, labels = rows()
    rng = np.random.default_rng(seed)
    return DrawnTriplets(RowsInMemory(X, labels), n_triplets, n_neighbors=n_neighbors, rng=rng)


def whole(source: DrawnTriplets) -> IndexArray:
    return np.concatenate(list(source.portions(1000)))


def test_asking_twice_gives_the_same_and_another_seed_does_not() -> None:
    np.testing.assert_array_equal(whole(drawn()), whole(drawn()))
    assert not np.array_equal(whole(drawn()), whole(drawn(seed=2)))


def test_a_longer_list_begins_with_the_shorter() -> None:
    np.testing.assert_array_equal(whole(drawn(100)), whole(drawn(500))[:100])


@pytest.mark.parametrize("n_neighbors", [1, 3, 1000])
def test_near_and_far_are_among_the_nearest(n_neighbors: int) -> None:
    X, labels = rows()
    triplets = whole(drawn(3000, n_neighbors=n_neighbors))
    same, other = nearest_same_and_other(
        X, labels, np.arange(len(X)), n_same=n_neighbors, n_other=n_neighbors
    )
    anchor, near, far = triplets.T
    assert (labels[anchor] == labels[near]).all()
    assert (labels[anchor] != labels[far]).all()
    assert (anchor != near).all()
    assert (same[anchor] == near[:, None]).any(axis=1).all()
    assert (other[anchor] == far[:, None]).any(axis=1).all()
    assert 59 not in anchor
    if n_neighbors == 3:  # every choice is made at times
        assert len(np.unique(triplets, axis=0)) > 0.9 * 59 * 9


def test_near_and_far_are_chosen_independently() -> None:
    X, labels = rows()
    triplets = whole(drawn(20_000))
    same, other = nearest_same_and_other(X, labels, np.arange(60), n_same=3, n_other=3)
    near = np.argmax(same[triplets[:, 0]] == triplets[:, 1, None], axis=1)
    far = np.argmax(other[triplets[:, 0]] == triplets[:, 2, None], axis=1)
    counts = np.bincount(3 * near + far, minlength=9)
    np.testing.assert_allclose(counts / 20_000, 1 / 9, atol=0.01)
