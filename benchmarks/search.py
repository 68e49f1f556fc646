"""Query adapters: nDCG@10 on folds that a fit never sees, random pairs, seconds and memory.

``folds`` fits on three of four folds of the pairs of a collection and scores the fourth: new
queries (``generalize_to="queries"``), and connected groups of documents (the default). ``random``
counts how often pairs that say nothing are taken. A collection is an NPZ file with ``queries``,
``documents``, ``pairs`` and perhaps ``grade``;
by default those of SciFact and Cranfield in ``--data-dir``. ``seconds`` fits made-up
embeddings, and times one query. ``memory`` fits a memory map of float16 documents.
"""

from __future__ import annotations

import argparse
import resource
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.rows import Column, Report
from calipers import QueryAdapter, retrieval_report
from calipers.search.holdouts import HOLD_OUTS, hold_out
from calipers.search.learning import Examples, Problem
from calipers.search.ranking import Vectors
from calipers.search.relevance import read_relevance

TABLES = {
    "folds": [
        Column("collection", "collection", width=18),
        Column("held out", "held_out", width=10),
        Column("seed", "seed", width=5),
        Column("base", "base", ".1f"),
        Column("gain", "gain", "+.2f"),
        Column("error", "error", ".2f"),
        Column("taken", "taken", width=6),
    ],
    "random": [
        Column("collection", "collection", width=18),
        Column("draws", "draws", width=6),
        Column("taken", "taken", width=6),
    ],
    "seconds": [
        Column("pairs", "pairs", ",", 8),
        Column("documents", "documents", ",", 10),
        Column("d", "d", width=5),
        Column("fit s", "fit_seconds", ".1f"),
        Column("one fit s", "one_seconds", ".2f", 9),
        Column("query us", "query_microseconds", ".1f", 9),
        Column("peak MB", "peak_megabytes", ",.0f"),
    ],
}
N_FOLDS = 4
OURS = ("scifact_train.npz", "cranfield.npz")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("what", choices=("folds", "random", "seconds", "memory"))
    parser.add_argument("--data-dir", type=Path, default=Path("../shared/data"))
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="collections (NPZ)")
    parser.add_argument("--held-out", nargs="+", choices=HOLD_OUTS, default=HOLD_OUTS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--pairs", type=int, help="default: 10,000; of memory 100,000")
    parser.add_argument("--documents", type=int, help="default: 10,000; of memory 1,000,000")
    parser.add_argument("--d", type=int, default=384)


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure one thing."""
    if args.what in ("seconds", "memory"):
        _scale(args, report)
        return
    for file in args.files or [args.data_dir / name for name in OURS]:
        log = collection(file)
        if args.what == "random":
            taken = sum(_random(log, seed) for seed in range(args.draws))
            report.add("random", collection=file.stem, draws=args.draws, taken=taken)
            continue
        for held_out in args.held_out:
            for seed in range(args.seeds):
                _folds(report, file.stem, log, held_out, seed)


def collection(file: Path) -> tuple[Any, Any, Any]:
    """Return queries with a judgement, documents, and pairs of these."""
    stored = np.load(file)
    pairs = np.asarray(stored["pairs"], dtype=np.intp)
    if "grade" in stored:
        pairs = pairs[stored["grade"] <= 3]
    own, pairs[:, 0] = np.unique(pairs[:, 0], return_inverse=True)
    return stored["queries"][own], stored["documents"], pairs[np.lexsort(pairs.T[::-1])]


def _folds(report: Report, name: str, log: tuple[Any, Any, Any], held_out: str, seed: int) -> None:
    queries, documents, pairs = log
    part = hold_out(held_out, pairs, N_FOLDS, np.random.default_rng(seed))
    gains: list[float] = []
    base, taken = 0.0, 0
    for fold in range(N_FOLDS):
        adapter = QueryAdapter(generalize_to=held_out, random_state=seed)
        adapter.fit(queries, documents, pairs[part.training(fold)])
        test = pairs[part.fold[pairs[:, 0]] == fold]
        found = retrieval_report(adapter, queries, documents, test).comparisons["given"]
        base += found.before["ndcg@10"] * found.n_queries
        gains += found.gains
        taken += adapter.helps_
    points = 100 * np.array(gains)
    error = float(points.std(ddof=1)) / len(points) ** 0.5
    report.add(
        "folds",
        collection=name,
        held_out=held_out,
        seed=seed,
        base=100 * base / len(points),
        gain=float(points.mean()),
        error=error,
        taken=taken,
    )


def _random(log: tuple[Any, Any, Any], seed: int) -> bool:
    """Return whether a map is taken that was learned from documents drawn at random."""
    queries, documents, pairs = log
    rng = np.random.default_rng(seed)
    drawn = np.column_stack([pairs[:, 0], rng.integers(len(documents), size=len(pairs))])
    return QueryAdapter(random_state=seed).fit(queries, documents, drawn).helps_


def _scale(args: argparse.Namespace, report: Report) -> None:
    """Fit made-up embeddings, in memory or from a file."""
    large = args.what == "memory"
    n_pairs = args.pairs or (100_000 if large else 10_000)
    n_documents = args.documents or (1_000_000 if large else 10_000)
    rng = np.random.default_rng(0)
    with TemporaryDirectory() as folder:
        documents = np.memmap(
            Path(folder) / "documents", np.float16, "w+", shape=(n_documents, args.d)
        )
        for start in range(0, n_documents, 1 << 16):
            block = documents[start : start + (1 << 16)]
            block[:] = rng.normal(size=block.shape)
        given: Any = documents if large else np.asarray(documents, dtype=np.float32)
        answered = rng.choice(n_documents, n_pairs, replace=n_pairs > n_documents)
        turn = np.eye(args.d) + 0.02 * rng.normal(size=(args.d, args.d))
        queries = (documents[answered] @ turn).astype(np.float32)
        queries += 8 * rng.normal(size=queries.shape).astype(np.float32)
        pairs = np.column_stack([np.arange(n_pairs), answered])
        started = perf_counter()
        adapter = QueryAdapter(random_state=0).fit(queries, given, pairs)
        fit_seconds = perf_counter() - started
        one_seconds = None if large else _one_fit(queries, given, pairs, adapter.pull_)
    report.say(adapter.report_.verdict)
    report.add(
        "seconds",
        pairs=n_pairs,
        documents=n_documents,
        d=args.d,
        fit_seconds=fit_seconds,
        one_seconds=one_seconds,
        query_microseconds=_one_query(adapter, queries[0]),
        peak_megabytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def _one_fit(queries: Any, documents: Any, pairs: Any, pull: float) -> float:
    """Return the seconds of learning with one pull, without hold-outs."""
    given, searched = Vectors(queries, "queries"), Vectors(documents, "documents")
    relevance = read_relevance(pairs, (len(given), len(searched)))
    examples = Examples.mined(given, searched, relevance, np.random.default_rng(0))
    problem = Problem(examples, searched, 1, None, None)
    started = perf_counter()
    next(problem.learn(problem.loss(np.ones(len(pairs), dtype=np.bool_)), [pull]))
    return perf_counter() - started


def _one_query(adapter: QueryAdapter, query: Any) -> float:
    """Return the microseconds of one query, the best of several hundred."""
    transform, best = adapter.map_.transform, np.inf
    for _ in range(500):
        started = perf_counter()
        transform(query)
        best = min(best, perf_counter() - started)
    return 1e6 * float(best)
