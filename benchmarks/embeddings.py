"""Fits on unit-norm embeddings: seconds, and recall@10 before, after and with fewer dimensions.

Samples are synthetic: a centre for every class in a subspace of 32 dimensions, a spread within
classes that is largest in another subspace, and noise in all dimensions, scaled to length 1.
Half of them are learned from, the other half are the queries. "cpu s" are the seconds of
all threads, which tell more than "fit s" where the machine has other work.
"""

from __future__ import annotations

import argparse
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.clock import timed
from benchmarks.rows import Column, Report
from calipers import TripletSGD
from calipers.evaluation import retrieval_scores
from calipers.solvers import plan

DIMENSIONS = (384, 768, 1536)
N_SIGNAL, N_NUISANCE = 32, 64

TABLES = {
    "embeddings": [
        Column("d", "d", width=6),
        Column("samples", "samples", ",", 7),
        Column("triplets", "triplets", ",", 9),
        Column("fit s", "seconds", ".1f", 7),
        Column("cpu s", "cpu_seconds", ".1f", 7),
        Column("mining s", "mining_seconds", ".1f", 9),
        Column("updates", "updates", ",", 8),
        Column("recall@10 before", "before", ".4f", 17),
        Column("after", "after", ".4f", 8),
        Column("kept", "components", width=5),
        Column("at kept", "at_components", ".4f", 8),
    ]
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--dimensions", nargs="+", type=int, default=DIMENSIONS, metavar="D", help="64 or more"
    )
    parser.add_argument("--samples", type=int, default=10_000, help="of either half")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--triplets", type=int, default=100_000, help="of all rounds")
    parser.add_argument("--components", type=int, default=64, help="dimensions to keep")
    parser.add_argument("--seed", type=int, default=0)


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure dimension by dimension."""
    n = args.samples
    for d in args.dimensions:
        X, y = embeddings(2 * n, d, args.classes, seed=args.seed)
        n_triplets = args.triplets // plan.N_ROUNDS
        learner = TripletSGD(n_triplets=n_triplets, random_state=args.seed)
        if d == args.dimensions[0]:  # compile before the clock starts
            TripletSGD(n_triplets=1000, random_state=0).fit(X[:500], np.arange(500) % 10)
        used = process_time()
        seconds, metric = timed(partial(learner.fit, X[:n], y[:n]))
        used = process_time() - used
        few = metric.components_[: args.components]  # what n_components would keep
        scores = {
            name: retrieval_scores(
                mapped[:n], mapped[n:], labels=y[:n], query_labels=y[n:], k=10
            ).recall_at_k
            for name, mapped in (
                ("before", X),
                ("after", metric.transform(X)),
                ("at_components", X @ few.T),
            )
        }
        report.add(
            "embeddings",
            d=d,
            samples=n,
            triplets=args.triplets,
            seconds=seconds,
            cpu_seconds=used,
            mining_seconds=metric.mining_seconds_,
            updates=metric.n_updates_,
            components=len(few),
            **scores,
        )


def embeddings(
    n: int, d: int, n_classes: int, *, seed: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
    """Samples of length 1 in float32, as sentence models give them, and their classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    signal = rng.normal(size=(n_classes, N_SIGNAL)) @ _directions(rng, N_SIGNAL, d)
    nuisance = 2.0 * rng.normal(size=(n, N_NUISANCE)) @ _directions(rng, N_NUISANCE, d)
    X = signal[y] + nuisance + rng.normal(scale=8 / np.sqrt(d), size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X.astype(np.float32), y


def _directions(rng: np.random.Generator, k: int, d: int) -> npt.NDArray[np.float64]:
    """Rows that are orthogonal and of length 1."""
    return np.linalg.qr(rng.normal(size=(d, k)))[0].T
