"""MLKR beside metric-learn's: what neighbours leave unexplained of a target, seconds and memory.

Both get the same standardised samples in a process of their own, with the defaults of their makers.
The error is the share of the variance of the test part's targets that the mean of the ten nearest
training samples does not explain. metric-learn has an environment of its own, as for `peers`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor

from benchmarks import peers
from benchmarks.contestants import Contestant
from benchmarks.learners.splits import rescaled
from benchmarks.rows import Report, Row
from calipers.paper.datasets import Split
from calipers.paper.protocol import Metric

N_NEIGHBORS = 10
NOISE = 0.3  # standard deviation of the noise, as a share of that of the target

DATA: Mapping[str, Callable[[int], tuple[Any, Any]]] = {
    "diabetes": lambda seed: load_diabetes(return_X_y=True),
    **{
        make.__name__.removeprefix("make_"): partial(lambda make, seed: _noisy(make, seed), make)
        for make in (make_friedman1, make_friedman2, make_friedman3)
    },
}
"""Samples and targets for a seed."""

CONTESTANTS = (
    Contestant("Calipers MLKR", "by_name", {"learner": "MLKR"}),
    Contestant("metric-learn MLKR", "metric_learn_weak", {"learner": "MLKR"}, "metric-learn"),
    Contestant("Euclidean", None),
)

TABLES = {f"regression{part}": peers.TABLES[f"peers{part}"] for part in ("", ", means")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=DATA, default=tuple(DATA))
    parser.add_argument("--seeds", nargs="+", type=int, default=(0, 1, 2))
    peers.add_environment_arguments(parser)


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure data set by data set, then print the means over seeds."""
    troubles = peers.troubles(args, CONTESTANTS)
    for name in args.only:
        for seed in args.seeds:
            data = split(name, seed)
            for contestant in CONTESTANTS:
                row: Row = {
                    "data": name,
                    "shape": f"{len(data.y_train):,} x {data.X_train.shape[1]}",
                    "seed": seed,
                    "peer": contestant.name,
                    "features": "standardised",
                    "cap": args.seconds,
                }
                try:
                    answer = peers.measure(contestant, data, seed, args, troubles, unexplained)
                except peers.PeerError as failure:
                    report.skip("regression", str(failure), **row)
                else:
                    report.add("regression", **row, **answer)
    for line in peers.means(report.rows):
        report.show("regression, means", **line)


def split(name: str, seed: int) -> Split:
    """Three quarters to learn from, standardised, and a quarter to test."""
    parts = train_test_split(*DATA[name](seed), random_state=seed)
    X_train, X_test, y_train, y_test = parts
    return rescaled(Split(X_train, y_train, X_test, y_test), "standardised")


def _noisy(make: Callable[..., tuple[Any, Any]], seed: int) -> tuple[Any, Any]:
    X, y = make(1000, random_state=seed)
    noise = NOISE * y.std() * np.random.default_rng(seed).standard_normal(len(y))
    return X, y + noise


def unexplained(data: Split, metric: Metric | None = None) -> float:
    """Share of the test targets' variance that neighbours do not explain."""
    train, test = data.X_train, data.X_test
    if metric is not None:
        train, test = metric.transform(train), metric.transform(test)
    predicted = KNeighborsRegressor(N_NEIGHBORS).fit(train, data.y_train).predict(test)
    return float(np.mean((predicted - data.y_test) ** 2) / np.var(data.y_test))
