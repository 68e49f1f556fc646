"""Time, bytes moved and memory of fits on a Dask cluster, as rows, partitions and workers grow.

The cluster is of worker processes on this machine, so that two workers share its cores. "one s"
is the search of a fit in memory, and "same" tells whether both have the same bits. "B/row" is
what was sent between processes, in bytes for each row, the rows' own way to the workers left
out. Then two modes that are not exact: a faiss index of each partition, with the share of the
nearest rows that it finds, and the mean of a metric for each partition, with its 3-NN error.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.growth import noisy_classes
from benchmarks.rows import Column, Report, Row
from calipers import Euclidean, TripletSGD
from calipers.arrays import FloatArray, IndexArray

TABLES = {
    "scale": [
        Column("grows", "grows", width=10),
        Column("rows", "n", ",", 9),
        Column("d", "d", ",", 5),
        Column("parts", "parts", ",", 6),
        Column("workers", "workers", ",", 7),
        Column("search s", "mining_seconds", ".2f"),
        Column("one s", "one_seconds", ".2f"),
        Column("solve s", "solve_seconds", ".2f"),
        Column("rounds", "rounds", ",", 7),
        Column("B/row", "bytes_per_row", ".1f"),
        Column("MB/worker", "worker_megabytes", ",.0f", 10),
        Column("same", "same", width=5),
    ],
    "approximate": [
        Column("rows", "n", ",", 9),
        Column("d", "d", ",", 5),
        Column("parts", "parts", ",", 6),
        Column("anchors", "anchors", ",", 8),
        Column("exact s", "exact_seconds", ".2f"),
        Column("index s", "index_seconds", ".2f"),
        Column("same found", "recall_same", ".3f", 11),
        Column("other found", "recall_other", ".3f", 12),
    ],
    "averaged": [
        Column("parts", "parts", ",", 6),
        Column("triplets", "n_triplets", ",", 9),
        Column("error", "error", ".2f"),
        Column("averaged", "averaged_error", ".2f", 9),
        Column("Euclid", "euclidean_error", ".2f"),
        Column("seconds", "seconds", ".2f"),
        Column("averaged s", "averaged_seconds", ".2f", 11),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may be asked."""
    parser.add_argument("--only", nargs="+", choices=tuple(TABLES), default=tuple(TABLES))
    parser.add_argument("--n", type=int, default=40_000, help="rows to start from")
    parser.add_argument("--d", type=int, default=64, help="features")
    parser.add_argument("--triplets", type=int, default=2000)
    parser.add_argument("--factors", nargs="+", type=int, default=(1, 2, 4))
    parser.add_argument("--workers", nargs="+", type=int, default=(1, 2))


def run(asked: argparse.Namespace, report: Report) -> None:
    """Let one after the other grow, then measure the modes that are not exact."""
    most = max(asked.workers)
    for workers in asked.workers if "scale" in asked.only else ():
        with cluster_of(workers) as client:
            warm_up(client, asked.d)
            _grow(client, asked, report, workers == most)
    if "approximate" in asked.only:
        report.add("approximate", **approximate(2 * asked.n, asked.d, 2))
    if "averaged" in asked.only:
        with cluster_of(most) as client:
            for parts in (2, 8, 32):
                report.add("averaged", **averaged(client, asked, parts))


def _grow(client: Any, asked: argparse.Namespace, report: Report, is_largest: bool) -> None:
    """Workers grow from cluster to cluster, rows and partitions on the largest."""
    report.add("scale", grows="workers", **measure(client, asked, asked.n, 8))
    if is_largest:
        for factor in asked.factors:
            report.add("scale", grows="rows", **measure(client, asked, factor * asked.n, 8))
        for parts in (8, 32):
            report.add("scale", grows="partitions", **measure(client, asked, asked.n, parts))


@contextmanager
def cluster_of(n_workers: int) -> Iterator[Any]:
    """Yield the client of a cluster of processes on this machine."""
    from distributed import Client, LocalCluster

    how: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with LocalCluster(n_workers=n_workers, **how) as one, Client(one) as client:
        yield client


def warm_up(client: Any, d: int) -> None:
    """Compile or load the kernels in every process."""
    X, y = noisy_classes(400, d)
    TripletSGD(n_triplets=500, random_state=0).fit(X, y)
    fit(client, X, y, 2, 500)


def fit(client: Any, X: FloatArray, y: IndexArray, parts: int, n_triplets: int) -> Any:
    """A fit on the cluster, of rows that are on it already."""
    from dask import delayed

    from calipers.dask import DaskTripletSGD

    pairs = zip(np.array_split(X, parts), np.array_split(y, parts), strict=True)
    there = [delayed(pair, nout=2) for pair in client.scatter(list(pairs))]
    rows, labels = [pair[0] for pair in there], [pair[1] for pair in there]
    settings: dict[str, Any] = {"start": "identity", "n_triplets": n_triplets, "random_state": 0}
    return DaskTripletSGD(**settings).fit(rows, labels, client=client)


def measure(client: Any, asked: argparse.Namespace, n: int, parts: int) -> Row:
    """One fit beside the same in memory."""
    X, y = noisy_classes(n, asked.d)
    one = TripletSGD(start="identity", n_triplets=asked.triplets, random_state=0).fit(X, y)
    client.run(forget_peak)
    sent = sum(client.run(bytes_sent).values())
    with counted_rounds() as rounds:
        got = fit(client, X, y, parts, asked.triplets)
    moved = sum(client.run(bytes_sent).values()) - sent
    workers = client.run(peak_megabytes)
    return {
        "n": n,
        "d": asked.d,
        "parts": parts,
        "workers": len(workers),
        "mining_seconds": got.mining_seconds_,
        "one_seconds": one.mining_seconds_,
        "solve_seconds": got.solve_seconds_,
        "rounds": len(rounds),
        "bytes_per_row": moved / n,
        "worker_megabytes": max(workers.values()),
        "same": bool(np.array_equal(got.components_, one.components_)),
    }


@contextmanager
def counted_rounds() -> Iterator[list[str]]:
    """Yield a list to which every wait for results is added."""
    from calipers.dask.cluster import Tasks

    waits: list[str] = []
    true = Tasks.results

    def counted(self: Tasks, futures: Sequence[Any], what: str = "a task") -> list[Any]:
        waits.append(what)
        return true(self, futures, what)

    Tasks.results = counted  # type: ignore[method-assign]
    try:
        yield waits
    finally:
        Tasks.results = true  # type: ignore[method-assign]


def bytes_sent(dask_worker: Any) -> float:
    """Bytes of data that a worker has sent to others and to the client."""
    return float(dask_worker.transfer_outgoing_bytes_total)


def peak_megabytes() -> float:
    """Largest resident memory of a worker's process since it was forgotten."""
    from benchmarks.clock import peak_megabytes as peak

    return peak()


def forget_peak() -> None:
    """Make the present memory of a worker its peak."""
    from benchmarks.clock import _forget_peak

    _forget_peak()


def approximate(n: int, d: int, parts: int) -> Row:
    """The exact search of partitions beside that by an index, without a cluster."""
    from calipers.dask.approximate import search_by_index
    from calipers.dask.partitions import Partition, search
    from calipers.triplets._product import Anchors
    from calipers.triplets.passing import Found, merge

    X, y = noisy_classes(n, d)
    X = X.astype(np.float32)
    chosen = np.random.default_rng(0).choice(n, n // 10, replace=False)
    anchors = Anchors(X[chosen], y[chosen], chosen)
    starts = np.linspace(0, n, parts + 1).astype(int)

    def found_by(method: Any) -> tuple[float, Found]:
        started = perf_counter()
        pieces = [
            method(Partition(X[first:last], y[first:last]), int(first), anchors, None, (5, 5))
            for first, last in pairwise(starts)
        ]
        return perf_counter() - started, merge(pieces)

    exact_seconds, exact = found_by(search)
    index_seconds, found = found_by(search_by_index)
    return {
        "n": n,
        "d": d,
        "parts": parts,
        "anchors": len(chosen),
        "exact_seconds": exact_seconds,
        "index_seconds": index_seconds,
        "recall_same": _recall(found.same, exact.same),
        "recall_other": _recall(found.other, exact.other),
    }


def _recall(found: IndexArray, exact: IndexArray) -> float:
    return float(np.mean([np.isin(e, f).mean() for f, e in zip(found, exact, strict=True)]))


def averaged(client: Any, asked: argparse.Namespace, parts: int) -> Row:
    """A metric for each partition, and their mean, beside one metric of all.

    The data are digits, with as many columns of noise beside them.
    """
    import dask.array as da
    from sklearn.datasets import load_digits

    from calipers.dask import AveragedTripletSGD
    from calipers.evaluation import knn_error

    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    X, y = np.column_stack([X, 16.0 * rng.random(X.shape)])[order], y[order]
    train, test = slice(0, 1200), slice(1200, None)
    rows = da.from_array(X[train], chunks=(-(-1200 // parts), -1))
    labels = da.from_array(y[train], chunks=-(-1200 // parts))
    n_triplets = 10 * asked.triplets
    settings: dict[str, Any] = {"n_triplets": n_triplets, "random_state": 0}

    def error(metric: Any) -> float:
        images = metric.transform(X[train]), metric.transform(X[test])
        return 100 * knn_error(images[0], y[train], images[1], y[test])

    started = perf_counter()
    whole = TripletSGD(**settings).fit(X[train], y[train])
    seconds = perf_counter() - started
    started = perf_counter()
    mean = AveragedTripletSGD(**settings).fit(rows, labels, client=client)
    return {
        "parts": parts,
        "n_triplets": n_triplets,
        "error": error(whole),
        "averaged_error": error(mean),
        "euclidean_error": error(Euclidean().fit(X[train])),
        "seconds": seconds,
        "averaged_seconds": perf_counter() - started,
    }
