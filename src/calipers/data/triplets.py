"""Triplets (anchor, positive, negative) and pairs: drawn from labels, or given by a user.

Solvers take them portion by portion: however many they need, memory holds one portion of them.
The triplets do not depend on the size of the portions.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import Samples, relative_weights

LARGEST_PORTION = 65_536


class Source(Protocol):
    """A sequence of triplets, or of pairs, that may be too long for memory."""

    def __len__(self) -> int: ...

    def portions(self, size: int) -> Iterator[IndexArray]:
        """Yield all of them in order, ``size`` at a time."""
        ...


class GivenTriplets:
    """Triplets, or pairs, given by a user, in the order given.

    >>> [len(p) for p in GivenTriplets(np.zeros((5, 3), dtype=np.intp)).portions(2)]
    [2, 2, 1]
    """

    def __init__(self, triplets: IndexArray) -> None:
        self.triplets = triplets

    def __len__(self) -> int:
        return len(self.triplets)

    def portions(self, size: int) -> Iterator[IndexArray]:
        """Yield all of them in order, ``size`` at a time."""
        for first in range(0, len(self.triplets), size):
            yield self.triplets[first : first + size]


class DrawnTriplets:
    """Triplets drawn from labelled samples; every iteration yields the same ones.

    The anchor is drawn with replacement among the samples whose class has another member, each as
    often as its weight says. The positive is drawn uniformly among the anchor's ``n_neighbors``
    nearest samples of its class, or all of them if there are fewer; the negative likewise among
    those of other classes. With one neighbour these are the paper's triplets. Only anchors that
    are drawn are searched.

    Parameters
    ----------
    samples : Samples
        Labelled samples.
    n_triplets : int
        The number of triplets.
    n_neighbors : int
        The number of nearest samples of each kind to draw from.
    rng : numpy.random.Generator
        Spawns a random stream each for anchors, positives and negatives.
    among : array of indices, optional
        Draw anchors among these samples only.

    Examples
    --------
    >>> from calipers.data.samples import MemorySamples
    >>> samples = MemorySamples(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1]))
    >>> source = DrawnTriplets(samples, 3, n_neighbors=1, rng=np.random.default_rng(0))
    >>> next(source.portions(3)).tolist()
    [[3, 2, 1], [3, 2, 1], [0, 1, 2]]
    """

    def __init__(
        self,
        samples: Samples,
        n_triplets: int,
        *,
        n_neighbors: int,
        rng: np.random.Generator,
        among: IndexArray | None = None,
    ) -> None:
        self.n_triplets = n_triplets
        self._among, self._edges = _anchors_of(samples, among)
        self._streams = rng.spawn(3)
        is_drawn = np.zeros(samples.shape[0], dtype=np.bool_)
        for anchors in self._anchors(LARGEST_PORTION, deepcopy(self._streams[0])):
            is_drawn[anchors] = True
        self._distinct = np.flatnonzero(is_drawn)
        self._same, self._other = samples.nearest(
            self._distinct, n_same=n_neighbors, n_other=n_neighbors
        )

    def __len__(self) -> int:
        return self.n_triplets

    def portions(self, size: int) -> Iterator[IndexArray]:
        """Yield all triplets in order, ``size`` at a time."""
        anchor_rng, positive_rng, negative_rng = deepcopy(self._streams)
        for anchors in self._anchors(size, anchor_rng):
            places = np.searchsorted(self._distinct, anchors)
            positives = _choose(self._same[places], positive_rng)
            negatives = _choose(self._other[places], negative_rng)
            yield np.column_stack([anchors, positives, negatives])

    def _anchors(self, size: int, rng: np.random.Generator) -> Iterator[IndexArray]:
        for first in range(0, self.n_triplets, size):
            count = min(size, self.n_triplets - first)
            if self._edges is None:
                yield self._among[rng.integers(len(self._among), size=count)]
            else:
                yield self._among[np.searchsorted(self._edges, rng.random(count), side="right")]


class AllPairsTriplets:
    """All-pairs triplets of one anchor after the other; every iteration yields the same ones.

    Each pass visits, in random order, all samples whose class has another member: once, or as
    often as their weights say, rounded up or down at random. Each of an
    anchor's ``n_neighbors`` nearest samples of its class (positives) makes a triplet with each
    of its ``n_neighbors`` nearest samples of other classes (negatives): ``n_neighbors**2``
    successive triplets, ordered by positive. An anchor with fewer neighbours repeats them.

    Parameters
    ----------
    samples : Samples
        Labelled samples.
    n_triplets : int
        The number of triplets.
    n_neighbors : int
        The number of positives and of negatives of an anchor.
    rng : numpy.random.Generator
        Draws the order of the anchors.
    among : array of indices, optional
        Take these samples only as anchors.

    Examples
    --------
    >>> from calipers.data.samples import MemorySamples
    >>> samples = MemorySamples(np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1]))
    >>> source = AllPairsTriplets(samples, 4, n_neighbors=2, rng=np.random.default_rng(0))
    >>> next(source.portions(4)).tolist()
    [[3, 4, 2], [3, 4, 1], [3, 5, 2], [3, 5, 1]]
    """

    def __init__(
        self,
        samples: Samples,
        n_triplets: int,
        *,
        n_neighbors: int,
        rng: np.random.Generator,
        among: IndexArray | None = None,
    ) -> None:
        self.n_triplets, self._k = n_triplets, n_neighbors
        among, edges = _anchors_of(samples, among)
        n_anchors, passes = -(-n_triplets // n_neighbors**2), []
        for _ in range(-(-n_anchors // len(among))):
            drawn = among
            if edges is not None:  # each as often as its share says (systematic sampling)
                points = (rng.random() + np.arange(len(among))) / len(among)
                drawn = among[np.searchsorted(edges, points, side="right")]
            passes.append(rng.permutation(drawn))
        self._anchors = np.concatenate(passes)[:n_anchors]
        self._distinct = np.unique(self._anchors)
        nearest = samples.nearest(self._distinct, n_same=n_neighbors, n_other=n_neighbors)
        self._same, self._other = (_filled(lists) for lists in nearest)

    def __len__(self) -> int:
        return self.n_triplets

    def portions(self, size: int) -> Iterator[IndexArray]:
        """Yield all triplets in order, ``size`` at a time."""
        k = self._k
        for first in range(0, self.n_triplets, size):
            t = np.arange(first, min(first + size, self.n_triplets))
            anchors = self._anchors[t // k**2]
            places = np.searchsorted(self._distinct, anchors)
            positives, negatives = self._same[places, t // k % k], self._other[places, t % k]
            yield np.column_stack([anchors, positives, negatives])


class PairsOfTriplets:
    """The two pairs of each triplet, with a sign: (anchor, positive, +1), (anchor, negative, -1).

    >>> source = PairsOfTriplets(GivenTriplets(np.array([[0, 1, 2], [3, 4, 5]])))
    >>> [portion.tolist() for portion in source.portions(3)]
    [[[0, 1, 1], [0, 2, -1], [3, 4, 1]], [[3, 5, -1]]]
    """

    def __init__(self, triplets: Source) -> None:
        self.triplets = triplets

    def __len__(self) -> int:
        return 2 * len(self.triplets)

    def portions(self, size: int) -> Iterator[IndexArray]:
        """Yield all pairs in order, ``size`` at a time."""
        rest = np.empty((0, 3), dtype=np.intp)
        for triplets in self.triplets.portions(-(-size // 2)):
            pairs = np.empty((2 * len(triplets), 3), dtype=np.intp)
            pairs[0::2, :2], pairs[0::2, 2] = triplets[:, [0, 1]], 1
            pairs[1::2, :2], pairs[1::2, 2] = triplets[:, [0, 2]], -1
            rest = np.concatenate([rest, pairs])
            while len(rest) >= size:
                yield rest[:size]
                rest = rest[size:]
        if len(rest):
            yield rest


def _anchors_of(samples: Samples, among: IndexArray | None) -> tuple[IndexArray, FloatArray | None]:
    """Possible anchors, by default all samples whose class has another member, and their shares.

    These are the limits between them in [0, 1]; None if all count alike.

    >>> from calipers.data.samples import MemorySamples
    >>> _anchors_of(MemorySamples(np.zeros((5, 1)), np.array([0, 1, 0, 2, 0])), None)
    (array([0, 2, 4]), None)
    """
    if among is None:
        among = np.delete(np.arange(samples.shape[0]), samples.singletons)
    weights = relative_weights(samples, among)
    if weights is None:
        return among, None
    sums = np.cumsum(weights)
    return among, np.asarray(sums[:-1] / sums[-1])


def _filled(lists: IndexArray) -> IndexArray:
    """Repeat the entries of each list in place of the -1 at its end.

    >>> _filled(np.array([[4, 5, 6], [7, 8, -1], [9, -1, -1]])).tolist()
    [[4, 5, 6], [7, 8, 7], [9, 9, 9]]
    """
    n_found = np.count_nonzero(lists >= 0, axis=1)
    places = np.arange(lists.shape[1]) % n_found[:, None]
    return np.take_along_axis(lists, places, axis=1)


def _choose(nearest: IndexArray, rng: np.random.Generator) -> IndexArray:
    """Draw one index per list, uniformly among those found (-1 pads a short list)."""
    if nearest.shape[1] == 1:
        return nearest[:, 0]
    n_found = np.count_nonzero(nearest >= 0, axis=1)
    chosen: IndexArray = nearest[np.arange(len(nearest)), rng.integers(n_found)]
    return chosen


def check_triplets(triplets: npt.ArrayLike, n_samples: int) -> IndexArray:
    """Return triplets as an (n, 3) array of indices of ``n_samples`` samples, or raise.

    >>> check_triplets([[0, 1, 4]], n_samples=4)
    Traceback (most recent call last):
        ...
    ValueError: triplets[0] = (0, 1, 4) points outside of X: use indices from 0 to 3.
    """
    given = _indices(triplets, "triplets", ("anchor", "positive", "negative"), n_samples)
    for column, name in ((1, "positive"), (2, "negative")):
        _refuse(
            "triplets",
            given,
            given[:, 0] == given[:, column],
            f"has its anchor as its {name}: drop or replace this triplet.",
        )
    return given


def check_pairs(pairs: npt.ArrayLike, y: npt.ArrayLike, n_samples: int) -> IndexArray:
    """Return pairs and their signs as an (n, 3) array of (index, index, sign), or raise.

    ``y`` is +1 for similar pairs and -1 for dissimilar ones.

    >>> check_pairs([[0, 1], [2, 0]], [1, -1], n_samples=3)
    array([[ 0,  1,  1],
           [ 2,  0, -1]])
    """
    given = _indices(pairs, "pairs", ("one", "other"), n_samples)
    _refuse(
        "pairs",
        given,
        given[:, 0] == given[:, 1],
        "holds one sample twice: drop or replace this pair.",
    )
    signs = np.asarray(y)
    if signs.shape != (len(given),):
        raise ValueError(
            f"y must have shape ({len(given)},), one +1 (similar) or -1 (dissimilar) for each of "
            f"the pairs, got shape {signs.shape}."
        )
    wrong = (signs != 1) & (signs != -1)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(
            f"y[{place}] = {signs.tolist()[place]!r} is neither +1 (similar) nor -1 (dissimilar): "
            "give every pair one of the two."
        )
    return np.column_stack([given, signs]).astype(np.intp)


def _indices(
    value: npt.ArrayLike, name: str, members: tuple[str, ...], n_samples: int
) -> IndexArray:
    """Return ``value`` as an array of indices of X, one column per member, or raise."""
    given = np.asarray(value)
    if given.ndim != 2 or given.shape[1] != len(members) or not len(given):
        raise ValueError(
            f"{name} must have shape (n_{name}, {len(members)}), one ({', '.join(members)}) in "
            f"each row, and at least one row, got shape {given.shape}."
        )
    if given.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integer indices of samples of X, got {given.dtype}.")
    _refuse(
        name,
        given,
        ((given < 0) | (given >= n_samples)).any(axis=1),
        f"points outside of X: use indices from 0 to {n_samples - 1}.",
    )
    return np.array(given, dtype=np.intp, order="C")


def _refuse(name: str, given: npt.NDArray[Any], wrong: Any, why: str) -> None:
    """Raise ``triplets[17] = (4, 9, 212) <why>`` for the first wrong tuple, if there is one."""
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(f"{name}[{place}] = {tuple(given[place].tolist())} {why}")
