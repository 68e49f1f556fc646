"""Few components: `TripletSGD` beside LDA, PCA and NCA at the same number of them.

At 2 components and at a quarter of the features; 3-NN errors are of the test part, means over
splits, or over seeds where the split is fixed. LDA has at most one component fewer than classes.
NCA is fitted at 2 components only, and where there are more than ``--most`` training samples both
it and ours learn from (and are judged by) that many, drawn by the seed. Rows that the file has are
not measured again.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NeighborhoodComponentsAnalysis

import calipers
from benchmarks.clock import timed
from benchmarks.paired import difference
from benchmarks.rows import Column, Report, Row, read
from benchmarks.splits import split_of
from calipers.paper.datasets import DatasetError, Split
from calipers.paper.protocol import split_error

Key: TypeAlias = tuple[str, int, int, int, str]  # data, seed, training samples, components, learner

NAMES = ("digits", "letter", "isolet", "semeion", "dna")
OURS = ("TripletSGD", "MetricCV")

TABLES = {
    "components": [
        Column("data", "data", width=10),
        Column("samples", "n_train", ",", 7),
        Column("features", "n_features", width=8),
        Column("seed", "seed", width=4),
        Column("components", "n_components", width=10),
        Column("learner", "learner", width=10),
        Column("error %", "error", ".2f"),
        Column("seconds", "seconds", ".2f"),
    ],
    "components, means": [
        Column("data", "data", width=10),
        Column("samples", "n_train", ",", 7),
        Column("components", "n_components", width=10),
        Column("ours", "ours", width=10),
        Column("error %", "value", ".2f"),
        Column("peer", "peer", width=10),
        Column("error %", "baseline", ".2f"),
        Column("change", "change", "+.2f", 7),
        Column("+-", "standard_error", ".2f", 5),
        Column("runs", "n_runs", width=4),
        Column("no worse", "holds", width=8),
    ],
}


def _lda(n_components: int, seed: int, n_classes: int) -> Any:
    return LinearDiscriminantAnalysis(n_components=min(n_components, n_classes - 1))


LEARNERS: dict[str, Callable[[int, int, int], Any]] = {
    "TripletSGD": lambda k, seed, _: calipers.TripletSGD(n_components=k, random_state=seed),
    "MetricCV": lambda k, seed, _: calipers.MetricCV(n_components=k, random_state=seed),
    "LDA": _lda,
    "PCA": lambda k, seed, _: PCA(k, random_state=seed),
    "NCA": lambda k, seed, _: NeighborhoodComponentsAnalysis(k, random_state=seed),
}
"""Learners by name, of so many components, with a seed, for so many classes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--data-dir", help="folder with the paper's data; digits needs none")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=NAMES)
    parser.add_argument(
        "--learners",
        nargs="+",
        choices=tuple(LEARNERS),
        default=("TripletSGD", "LDA", "PCA", "NCA"),
        metavar="NAME",
        help=f"of {', '.join(LEARNERS)} (default: all but MetricCV)",
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=tuple(range(10)))
    parser.add_argument(
        "--most", type=int, default=3000, help="training samples of NCA (default: %(default)s)"
    )


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure what the file does not have, then print the means of all it has."""
    stored = list(read(report.file)) if report.file.is_file() else []
    rows = {_key(row): row for row in stored}
    for seed in args.seeds:
        for name in args.only:
            try:
                data = split_of(name, data_dir=args.data_dir, split=seed)
            except DatasetError as error:
                report.say(f"{name} is left out: {error}")
                continue
            for part, n_components, learner in _runs(data, args, seed):
                n, d = part.X_train.shape
                row: Row = {"data": name, "seed": seed, "n_train": n, "n_features": d}
                row |= {"n_components": n_components, "learner": learner}
                if _key(row) not in rows:
                    report.add("components", **row, **measure(part, n_components, learner, seed))
                    rows[_key(row)] = report.rows[-1]
    report.say(
        "\nchange: our error minus the peer's, in points, with its paired standard error over "
        "runs; no worse: by less than two of these"
    )
    for line in means(row for row in rows.values() if row["data"] in args.only):
        report.show("components, means", **line)


def _key(row: Row) -> Key:
    return row["data"], row["seed"], row["n_train"], row["n_components"], row["learner"]


def _runs(data: Split, args: argparse.Namespace, seed: int) -> Iterator[tuple[Split, int, str]]:
    """Training parts, numbers of components and learners."""
    for n_components in dict.fromkeys((2, data.X_train.shape[1] // 4)):
        for learner in args.learners:
            if learner != "NCA":
                yield data, n_components, learner
    if "NCA" in args.learners:
        few = at_most(data, args.most, seed)
        for learner in (*(name for name in args.learners if name in OURS), "NCA"):
            if few is not data or learner == "NCA":
                yield few, 2, learner


def at_most(data: Split, n_samples: int, seed: int) -> Split:
    """Draw so many training samples, if there are more."""
    n = len(data.y_train)
    if n <= n_samples:
        return data
    kept = np.random.default_rng(seed).permutation(n)[:n_samples]
    return replace(data, X_train=data.X_train[kept], y_train=data.y_train[kept])


def measure(data: Split, n_components: int, learner: str, seed: int) -> Row:
    """Error of the test part, and the seconds of the fit."""
    model = LEARNERS[learner](n_components, seed, len(np.unique(data.y_train)))
    seconds, metric = timed(lambda: model.fit(data.X_train, data.y_train))
    return {"error": 100 * split_error(data, metric), "seconds": seconds}


def means(rows: Iterable[Row]) -> list[Row]:
    """A line for each of our learners and each peer of the same training parts."""
    groups: dict[tuple[str, int, int], dict[str, dict[int, float]]] = {}
    for row in rows:
        group = groups.setdefault((row["data"], row["n_train"], row["n_components"]), {})
        group.setdefault(row["learner"], {})[row["seed"]] = row["error"]
    lines = []
    for (data, n_train, n_components), group in groups.items():
        place = {"data": data, "n_train": n_train, "n_components": n_components}
        for ours, peer in product(OURS, (name for name in LEARNERS if name not in OURS)):
            seeds = sorted(group.get(ours, {}).keys() & group.get(peer, {}).keys())
            if seeds:
                errors = ([group[name][seed] for seed in seeds] for name in (ours, peer))
                found = difference(*errors)
                facts = {"ours": ours, "peer": peer, "n_runs": len(seeds)}
                lines.append({**place, **facts, **found._asdict(), "holds": not found.is_worse})
    return lines
