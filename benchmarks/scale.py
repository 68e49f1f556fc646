"""Time, bytes moved and memory of fits on a Dask cluster as samples, partitions and workers grow.

The cluster is of worker processes on this machine, so that two workers share its cores. "one s"
is the search of a fit in memory, and "same" tells whether both have the same bits. "B/sample" is
what was sent between processes, in bytes for each sample, the samples' own way to the workers
left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.growth import noisy_classes
from benchmarks.rows import Column, Report, Row
from calipers import TripletSGD
from calipers.arrays import FloatArray, IndexArray

TABLES = {
    "scale": [
        Column("grows", "grows", width=10),
        Column("samples", "n", ",", 9),
        Column("d", "d", ",", 5),
        Column("parts", "parts", ",", 6),
        Column("workers", "workers", ",", 7),
        Column("search s", "mining_seconds", ".2f"),
        Column("one s", "one_seconds", ".2f"),
        Column("solve s", "solve_seconds", ".2f"),
        Column("waits", "waits", ",", 7),
        Column("B/sample", "bytes_per_sample", ".1f"),
        Column("MB/worker", "worker_megabytes", ",.0f", 10),
        Column("same", "same", width=5),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--n", type=int, default=40_000, help="samples to start from")
    parser.add_argument("--d", type=int, default=64, help="features")
    parser.add_argument("--triplets", type=int, default=2000)
    parser.add_argument("--factors", nargs="+", type=int, default=(1, 2, 4))
    parser.add_argument("--workers", nargs="+", type=int, default=(1, 2))


def run(args: argparse.Namespace, report: Report) -> None:
    """Let one after the other grow."""
    most = max(args.workers)
    for workers in args.workers:
        with cluster_of(workers) as client:
            warm_up(client, args.d)
            _grow(client, args, report, workers == most)


def _grow(client: Any, args: argparse.Namespace, report: Report, is_largest: bool) -> None:
    """Workers grow from cluster to cluster, samples and partitions on the largest."""
    report.add("scale", grows="workers", **measure(client, args, args.n, 8))
    if is_largest:
        for factor in args.factors:
            report.add("scale", grows="samples", **measure(client, args, factor * args.n, 8))
        for parts in (8, 32):
            report.add("scale", grows="partitions", **measure(client, args, args.n, parts))


@contextmanager
def cluster_of(n_workers: int) -> Iterator[Any]:
    """Yield the client of a cluster of processes on this machine."""
    from distributed import Client, LocalCluster

    how: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with LocalCluster(n_workers=n_workers, **how) as one, Client(one) as client:
        yield client


def warm_up(client: Any, d: int) -> None:
    """Load the code in every process."""
    X, y = noisy_classes(400, d)
    learner(500).fit(X, y)
    fit(client, X, y, 2, 500)


def learner(n_triplets: int) -> TripletSGD:
    """One round from the identity."""
    return TripletSGD(init="identity", n_rounds=1, n_triplets=n_triplets, random_state=0)


def fit(client: Any, X: FloatArray, y: IndexArray, parts: int, n_triplets: int) -> Any:
    """A fit on the cluster, of samples that are on it already."""
    from dask import delayed

    pairs = zip(np.array_split(X, parts), np.array_split(y, parts), strict=True)
    there = [delayed(pair, nout=2) for pair in client.scatter(list(pairs))]
    parts_of_X, parts_of_y = zip(*((pair[0], pair[1]) for pair in there), strict=True)
    return learner(n_triplets).fit(list(parts_of_X), list(parts_of_y), client=client)


def measure(client: Any, args: argparse.Namespace, n: int, parts: int) -> Row:
    """One fit beside the same in memory."""
    X, y = noisy_classes(n, args.d)
    one = learner(args.triplets).fit(X, y)
    client.run(forget_peak)
    sent = sum(client.run(bytes_sent).values())
    with counted_waits() as waits:
        got = fit(client, X, y, parts, args.triplets)
    moved = sum(client.run(bytes_sent).values()) - sent
    workers = client.run(peak_megabytes)
    return {
        "n": n,
        "d": args.d,
        "parts": parts,
        "workers": len(workers),
        "mining_seconds": got.mining_seconds_,
        "one_seconds": one.mining_seconds_,
        "solve_seconds": got.solve_seconds_,
        "waits": len(waits),
        "bytes_per_sample": moved / n,
        "worker_megabytes": max(workers.values()),
        "same": bool(np.array_equal(got.components_, one.components_)),
    }


@contextmanager
def counted_waits() -> Iterator[list[str]]:
    """Yield a list to which every wait for results is added."""
    from calipers.data.dask.cluster import Tasks

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
