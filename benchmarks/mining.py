"""The search for nearest positives and negatives, against scikit-learn.

Both sides answer the same question for the same anchors: the k nearest samples of
the anchor's class (itself left out) and of all other classes. scikit-learn is called as a user
would call it, once per class and once per complement of a class, with brute force on all
cores; taking those samples out of X is part of its time, as sorting by class is of ours. All
data are synthetic stand-ins with the shape and kind of values of the named sets.
Libraries are loaded before the clock starts. "equal" compares the directly summed distances
of the samples found (scikit-learn breaks ties otherwise).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks.clock import best_timed
from benchmarks.rows import Column, Report
from benchmarks.shapes import Data, stand_in
from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors import nearest_same_and_other
from calipers.threads import n_threads

Lists: TypeAlias = tuple[IndexArray, IndexArray]
Search: TypeAlias = Callable[[FloatArray, IndexArray, IndexArray, int], Lists]

N_ANCHORS = {
    "letter": 15_000,
    "isolet": 6_238,
    "connect4": 20_000,
    "sensit": 20_000,
    "rcv20": 20_000,
    "poker": 20_000,
}
FEWER_ANCHORS = {"rcv20": 4_000, "poker": 4_000}
"""Where scikit-learn would take minutes both sides get this many instead."""

TABLES = {
    "mining": [
        Column("data", "data", width=18),
        Column("shape", "shape", width=15),
        Column("classes", "n_classes", width=7),
        Column("anchors", "n_anchors", ",", 7),
        Column("k", "k", width=2),
        Column("ours s", "seconds", ".2f"),
        Column("scikit-learn s", "peer_seconds", ".2f", 14),
        Column("ratio", "ratio", ".1f", 6),
        Column("equal", "equal", width=6),
    ]
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--only", nargs="+", choices=tuple(N_ANCHORS), default=tuple(N_ANCHORS))
    parser.add_argument("--neighbors", type=int, nargs="+", default=[1, 5], metavar="K")
    parser.add_argument("--shrink", type=int, default=1, help="divide samples and anchors")
    parser.add_argument(
        "--all-anchors", action="store_true", help="as many where scikit-learn takes minutes"
    )


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure case by case."""
    _warm_up()
    report.say(
        f"{n_threads()} threads; best of 3 runs where they are short; ratio = scikit-learn / ours"
    )
    if not args.all_anchors:
        few = ", ".join(sorted(FEWER_ANCHORS))
        report.say(f"fewer anchors (both sides) where scikit-learn takes minutes: {few}")
    for name in args.only:
        data = stand_in(name, shrink=args.shrink)
        wanted = N_ANCHORS[name]
        if not args.all_anchors:
            wanted = FEWER_ANCHORS.get(name, wanted)
        anchors = np.random.default_rng(1).permutation(len(data.X))[: wanted // args.shrink]
        for k in args.neighbors:
            _compare(data, anchors, k, report)


def _compare(data: Data, anchors: IndexArray, k: int, report: Report) -> None:
    """Both searches for one number of neighbours."""

    def search(method: Search, of: IndexArray) -> Lists:
        return method(data.X, data.y, of, k)

    seconds, found = best_timed(lambda: search(search_by_ours, anchors))
    peer_seconds, expected = best_timed(lambda: search(search_by_scikit_learn, anchors))
    report.add(
        "mining",
        data=data.name,
        shape=data.shape,
        n_classes=int(data.y.max()) + 1,
        n_anchors=len(anchors),
        k=k,
        seconds=seconds,
        peer_seconds=peer_seconds,
        ratio=peer_seconds / seconds,
        equal=_equal(data.X, anchors, found, expected),
    )


def _equal(X: FloatArray, anchors: IndexArray, found: Lists, expected: Lists) -> bool:
    """Whether both found samples at the same distances."""
    return all(
        np.allclose(
            squared_distances(X, anchors, mine), squared_distances(X, anchors, theirs), rtol=1e-9
        )
        for mine, theirs in zip(found, expected, strict=True)
    )


def squared_distances(X: FloatArray, anchors: IndexArray, nearest: IndexArray) -> FloatArray:
    """Directly summed distances of the samples found, nearest first."""
    found = [((X[anchors] - X[column]) ** 2).sum(axis=1) for column in nearest.T]
    return np.sort(np.column_stack(found), axis=1)


def search_by_ours(X: FloatArray, labels: IndexArray, anchors: IndexArray, k: int) -> Lists:
    """Indices of the nearest positives and negatives."""
    return nearest_same_and_other(X, labels, anchors, n_same=k, n_other=k)


def search_by_scikit_learn(X: FloatArray, labels: IndexArray, anchors: IndexArray, k: int) -> Lists:
    """The same by brute force, called once per class and once per complement of a class."""
    same = np.empty((len(anchors), k), dtype=np.intp)
    other = np.empty((len(anchors), k), dtype=np.intp)
    for label in np.unique(labels[anchors]):
        places = np.flatnonzero(labels[anchors] == label)
        queries = X[anchors[places]]
        inside, outside = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        for pool, found, n_wanted in ((inside, same, k + 1), (outside, other, k)):
            model = NearestNeighbors(n_neighbors=n_wanted, algorithm="brute", n_jobs=-1)
            nearest = pool[model.fit(X[pool]).kneighbors(queries, return_distance=False)]
            found[places] = _without(nearest, anchors[places], k) if pool is inside else nearest
    return same, other


def _without(nearest: IndexArray, anchors: IndexArray, k: int) -> IndexArray:
    """Drop each anchor from its own list, or the last sample where duplicates pushed it out."""
    keep = nearest != anchors[:, None]
    keep[keep.all(axis=1), -1] = False
    kept: IndexArray = nearest[keep].reshape(len(anchors), k)
    return kept


def _warm_up() -> None:
    """Load what a search needs."""
    rng = np.random.default_rng(0)
    for d in (2, 30):
        search_by_ours(rng.normal(size=(3000, d)), rng.integers(3, size=3000), np.arange(2500), 1)
