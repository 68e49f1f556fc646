"""Time the search for nearest same-class and other-class rows against scikit-learn.

``python -m benchmarks.mining`` prints one table; ``--quick`` uses a tenth of the rows and
anchors.  Both sides answer the same question for the same anchors: the k nearest rows of the
anchor's class (itself left out) and of all other classes.  scikit-learn is asked as a user
would ask it, once per class and once per complement of a class, with brute force on all
cores; taking those rows out of X is part of its time, as sorting by class is of ours.  All
data are synthetic stand-ins with the shape and kind of values of the named sets.  Compilation
is done before the clock starts.  "equal" compares the directly summed distances of the rows
found (scikit-learn breaks ties otherwise).  "extra MB" is the peak of what calipers allocates
beyond the data, from an extra run on fewer anchors.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.neighbors import NearestNeighbors

from calipers.arrays import FloatArray, IndexArray
from calipers.threads import n_threads
from calipers.triplets import nearest_same_and_other

Lists = tuple[IndexArray, IndexArray]
Search = Callable[[FloatArray, IndexArray, IndexArray, int], Lists]


@dataclass(frozen=True)
class Case:
    """A stand-in data set and how many anchors are searched in it."""

    name: str
    n: int
    d: int
    n_classes: int
    n_anchors: int
    kind: str = "mixture"


CASES = [
    Case("letter-like", 15_000, 16, 26, 15_000, "grid"),
    Case("isolet-like", 6_238, 617, 26, 6_238),
    Case("connect4-like", 47_289, 42, 3, 20_000, "three values"),
    Case("sensit-like", 78_823, 100, 3, 20_000),
    Case("rcv20-like", 477_141, 200, 20, 20_000),
    Case("poker-like", 1_000_000, 10, 10, 20_000, "cards"),
]
# scikit-learn would take minutes on these: both sides get this many anchors instead
FEWER_ANCHORS = {"rcv20-like": 4_000, "poker-like": 4_000}


def make(case: Case) -> tuple[FloatArray, IndexArray]:
    """Rows and class codes: overlapping low-rank classes, gridded or counted where asked."""
    rng = np.random.default_rng(0)
    labels = rng.integers(case.n_classes, size=case.n)
    if case.kind == "cards":
        suits = rng.integers(1, 5, (case.n, case.d // 2))
        ranks = rng.integers(1, 14, (case.n, case.d - case.d // 2))
        frequent_first = np.minimum(rng.geometric(0.5, case.n) - 1, case.n_classes - 1)
        return np.hstack([suits, ranks]).astype(np.float64), frequent_first
    if case.kind == "three values":
        return rng.choice([1.0, 2.0, 3.0], (case.n, case.d), p=[0.6, 0.2, 0.2]), labels
    rank = min(20, case.d // 2)
    inner = rng.normal(size=(case.n_classes, rank))[labels] + rng.normal(size=(case.n, rank))
    X = inner @ rng.normal(size=(rank, case.d)) / np.sqrt(rank)
    X += 0.3 * rng.normal(size=X.shape)
    if case.kind == "grid":
        X = np.clip(np.round(2 * X + 7.5), 0, 15) / 7.5 - 1
    return X, labels


def ours(X: FloatArray, labels: IndexArray, anchors: IndexArray, k: int) -> Lists:
    """Calipers."""
    return nearest_same_and_other(X, labels, anchors, n_same=k, n_other=k)


def scikit_learn(X: FloatArray, labels: IndexArray, anchors: IndexArray, k: int) -> Lists:
    """Brute force per class and per complement."""
    same = np.empty((len(anchors), k), dtype=np.intp)
    other = np.empty((len(anchors), k), dtype=np.intp)
    for label in np.unique(labels[anchors]):
        asked = np.flatnonzero(labels[anchors] == label)
        queries = X[anchors[asked]]
        inside, outside = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        for rows, found, n_wanted in ((inside, same, k + 1), (outside, other, k)):
            model = NearestNeighbors(n_neighbors=n_wanted, algorithm="brute", n_jobs=-1)
            numbers = rows[model.fit(X[rows]).kneighbors(queries, return_distance=False)]
            found[asked] = _without(numbers, anchors[asked], k) if rows is inside else numbers
    return same, other


def _without(numbers: IndexArray, anchors: IndexArray, k: int) -> IndexArray:
    """Drop each anchor from its own list, or the last row where duplicates pushed it out."""
    keep = numbers != anchors[:, None]
    keep[keep.all(axis=1), -1] = False
    kept: IndexArray = numbers[keep].reshape(len(anchors), k)
    return kept


def squared_distances(X: FloatArray, anchors: IndexArray, numbers: IndexArray) -> FloatArray:
    """Directly summed distances of found rows, nearest first."""
    found = [((X[anchors] - X[column]) ** 2).sum(axis=1) for column in numbers.T]
    return np.sort(np.column_stack(found), axis=1)


def timed(
    search: Search, X: FloatArray, labels: IndexArray, anchors: IndexArray, k: int
) -> tuple[float, Lists]:
    """Seconds of one call, and its result."""
    start = time.perf_counter()
    lists = search(X, labels, anchors, k)
    return time.perf_counter() - start, lists


def peak_megabytes(
    search: Search, X: FloatArray, labels: IndexArray, anchors: IndexArray, k: int
) -> float:
    """Peak of traced allocations during one call."""
    tracemalloc.start()
    try:
        search(X, labels, anchors, k)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def report(case: Case, k: int, quick: bool) -> str:
    """Run both sides on one case; one row of the table."""
    shrink = 10 if quick else 1
    case = Case(case.name, case.n // shrink, case.d, case.n_classes, case.n_anchors, case.kind)
    X, labels = make(case)
    n_anchors = min(FEWER_ANCHORS.get(case.name, case.n_anchors), case.n_anchors) // shrink
    anchors = np.random.default_rng(1).permutation(case.n)[:n_anchors]
    our_seconds, our_lists = timed(ours, X, labels, anchors, k)
    their_seconds, their_lists = timed(scikit_learn, X, labels, anchors, k)
    equal = all(
        np.allclose(
            squared_distances(X, anchors, mine), squared_distances(X, anchors, theirs), rtol=1e-9
        )
        for mine, theirs in zip(our_lists, their_lists, strict=True)
    )
    # as many anchors as decide between the two ways to search, so that memory is of the same way
    some = anchors[: max(len(anchors) // 10, 2000)]
    memory = peak_megabytes(ours, X, labels, some, k)
    shape = f"{case.n:,} x {case.d}"
    return (
        f"{case.name + ' (synthetic)':<26} {shape:>15} {case.n_classes:>7} {n_anchors:>7,} {k:>2} "
        f"{our_seconds:>8.2f} {their_seconds:>12.2f} {their_seconds / our_seconds:>6.1f} "
        f"{'yes' if equal else 'NO':>6} {memory:>9.0f}"
    )


def compile_everything() -> None:
    """Meet both ways to search once, so that no timed call compiles."""
    rng = np.random.default_rng(0)
    for d in (2, 30):
        X, labels = rng.normal(size=(3000, d)), rng.integers(3, size=3000)
        ours(X, labels, np.arange(2500), 1)
    tight = rng.integers(0, 3, (6000, 1)) + 1e-6 * rng.normal(size=(6000, 40))
    ours(tight, np.arange(6000) % 2, np.arange(100), 1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows and anchors")
    parser.add_argument("--neighbors", type=int, nargs="+", default=[1, 5], metavar="K")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="such as sensit-like")
    asked = parser.parse_args()
    compile_everything()
    print(f"{n_threads()} threads; seconds of one run each; ratio = scikit-learn / calipers")
    print(
        f"fewer anchors than 20,000 (both sides) where scikit-learn takes minutes: "
        f"{', '.join(FEWER_ANCHORS)}"
    )
    print(
        f"{'data':<26} {'shape':>15} {'classes':>7} {'anchors':>7} {'k':>2} {'calipers':>8} "
        f"{'scikit-learn':>12} {'ratio':>6} {'equal':>6} {'extra MB':>9}"
    )
    for case in CASES:
        for k in asked.neighbors:
            if asked.only is None or case.name in asked.only:
                print(report(case, k, asked.quick), flush=True)


if __name__ == "__main__":
    main()
