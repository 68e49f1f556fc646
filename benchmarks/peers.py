"""Calipers beside other metric learners: error, seconds and memory of a fit.

Everybody gets the same samples in a process of its own, with the defaults of its makers; 3-NN
errors are of the test part, after the clock has stopped. Foreign packages have environments of
their own. Whoever cannot be started or does not end in time is a row with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import blas
from benchmarks.learners import Fitted
from benchmarks.rows import ROOT, Column, Report, Row
from benchmarks.splits import Features, rescaled, split_of
from calipers.paper.datasets import DatasetError, Split, has_standard_split
from calipers.paper.protocol import split_error

NAMES = (
    *("iris", "wine", "breast_cancer", "digits", "semeion", "dna"),
    *("pendigits", "letter", "tdt30", "isolet", "connect4"),
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ENVIRONMENTS: Mapping[str, tuple[str, ...]] = {
    "metric_learn": ("metric-learn==0.7.0", "scikit-learn"),
    "torch": ("torch==2.13.0", "pytorch-metric-learning==2.9.0"),
}
"""Name of an environment to what pip installs there."""


class Contestant(NamedTuple):
    """A way to learn a metric: a function of `learners` and what it is told beside data and seed.

    Without a ``home`` it is Euclidean distance. ``seeded``: another seed makes another metric.
    """

    name: str
    home: str | None
    settings: Mapping[str, Any] = {}
    features: Features = "raw"
    seeded: bool = True


def _of(home: str, learner: str, seeded: bool = True, **settings: Any) -> Contestant:
    name = " ".join((home, learner.removesuffix("_Supervised"), *map(str, settings.values())))
    features: Features = "min-max" if home == "torch" else "raw"
    return Contestant(name, home, {"learner": learner, **settings}, features, seeded)


CONTESTANTS = (
    _of("calipers", "MetricCV"),
    _of("calipers", "TripletSGD"),
    *(_of("calipers", "TripletSGD", method=m) for m in ("as-sgd", "hr-sgd", "ha-sgd")),
    *(_of("calipers", name) for name in ("NCA", "SCML", "ITML")),
    *(_of("calipers", name, False) for name in ("LMNN", "LFDA", "RCA", "GMML", "Discriminant")),
    Contestant("Euclidean", None, seeded=False),
    _of("sklearn", "LDA", False),
    _of("sklearn", "NCA"),
    *(_of("metric_learn", f"{name}_Supervised") for name in ("ITML", "MMC", "SCML", "RCA")),
    *(_of("metric_learn", name) for name in ("LMNN", "LFDA", "NCA")),
    *(_of("torch", name) for name in ("NCALoss", "TripletMarginLoss")),
)

TABLES = {
    "peers": [
        Column("data", "data", width=14),
        Column("shape", "shape", width=12),
        Column("seed", "seed", width=4),
        Column("peer", "peer", width=29),
        Column("features", "features", width=12),
        Column("thr.", "threads", width=4),
        Column("error %", "error", ".2f"),
        Column("seconds", "seconds", ".3f", 9),
        Column("CPU s", "cpu_seconds", ".2f", 8),
        Column("MB", "megabytes", ".1f", 8),
    ],
    "peers, means": [
        Column("data", "data", width=14),
        Column("peer", "peer", width=29),
        Column("runs", "n_runs", width=4),
        Column("error %", "error", ".2f"),
        Column("sd", "deviation", ".2f", 5),
        Column("seconds", "seconds", ".3f", 9),
        Column("CPU s", "cpu_seconds", ".2f", 8),
        Column("MB", "megabytes", ".1f", 8),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    every = tuple(contestant.name for contestant in CONTESTANTS)
    parser.add_argument("--data-dir", help="folder with the paper's data")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=NAMES)
    parser.add_argument("--peers", nargs="+", metavar="PEER", choices=every, default=every)
    parser.add_argument("--seeds", nargs="+", type=int, default=(0, 1, 2))
    parser.add_argument("--seconds", type=float, default=120.0, help="cap of each process")
    parser.add_argument(
        "--environments",
        type=Path,
        metavar="DIR",
        help=f"folder of foreign environments, made there by pip: {', '.join(ENVIRONMENTS)}",
    )


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure data set by data set, then print the means."""
    report.say("MB: how far the fit raised the memory of its process; thr.: BLAS threads")
    for name in args.only:
        for seed in args.seeds:
            try:
                data = split_of(name, data_dir=args.data_dir, split=seed)
            except DatasetError as error:
                report.skip("peers", str(error), data=name, seed=seed)
                break
            again = has_standard_split(name) and seed != args.seeds[0]
            for contestant in CONTESTANTS:
                if contestant.name in args.peers and (contestant.seeded or not again):
                    _add(contestant, data, name, seed, args, report)
    for line in means(report.rows):
        report.show("peers, means", **line)


def _add(
    contestant: Contestant,
    data: Split,
    name: str,
    seed: int,
    args: argparse.Namespace,
    report: Report,
) -> None:
    row = {
        "data": name,
        "shape": f"{len(data.y_train):,} x {data.X_train.shape[1]}",
        "seed": seed,
        "peer": contestant.name,
        "features": contestant.features,
    }
    try:
        answer = measure(contestant, rescaled(data, contestant.features), seed, args)
    except PeerError as failure:
        report.skip("peers", str(failure), **row)
    else:
        report.add("peers", **row, **answer)


class PeerError(RuntimeError):
    """A peer gave no metric; the message says why."""


def measure(contestant: Contestant, data: Split, seed: int, args: argparse.Namespace) -> Row:
    """One fit in a process of its own, then its error."""
    if contestant.home is None:
        return {"error": 100 * split_error(data), "seconds": 0.0, "cpu_seconds": 0.0}
    python, variables = sys.executable, dict(os.environ)
    if contestant.home in ENVIRONMENTS:
        python = environment(args.environments, contestant.home)
        variables.pop("PYTHONPATH", None)
    threads = None
    if contestant.home != "calipers":  # which knows how many threads it wants
        threads = _threads_for(data.X_train.shape)
        variables.update(dict.fromkeys(THREADS, str(threads)))
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "given.npz", Path(folder) / "answer.npz"
        how = json.dumps({"seed": seed, **contestant.settings})
        np.savez(given, X=data.X_train, y=data.y_train, how=how)
        words = [python, "-m", "benchmarks.learners", contestant.home, str(given), str(answer)]
        _call(words, variables, args.seconds)
        with np.load(answer) as written:
            facts = json.loads(str(written["facts"]))
            fitted = Fitted(written["components"], facts["seconds"], facts.pop("unit_length"))
    if not np.isfinite(fitted.components).all():
        raise PeerError("its metric is not finite")
    return {"error": 100 * split_error(data, fitted), "threads": threads, **facts}


@lru_cache
def _threads_for(shape: tuple[int, int]) -> int:
    """BLAS threads that are faster for samples of a shape: one or all."""
    return blas.for_product(np.zeros(shape))


def environment(folder: Path | None, name: str) -> str:
    """Python of an environment, which pip makes unless it is there."""
    if folder is None:
        raise PeerError("no environment: name a folder with --environments DIR")
    python = folder / name / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = folder / name / "made"
    if not done.is_file():
        for words in (
            [sys.executable, "-m", "venv", "--clear", str(folder / name)],
            [str(python), "-m", "pip", "install", "--quiet", *ENVIRONMENTS[name]],
        ):
            _call(words, dict(os.environ), None)
        done.touch()
    return str(python)


def _call(words: list[str], variables: dict[str, str], cap: float | None) -> None:
    try:
        done = subprocess.run(
            words, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=cap
        )
    except subprocess.TimeoutExpired:
        raise PeerError(f"ended after {cap:g} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise PeerError(lines[-1] if lines else f"ended by signal {-done.returncode}")


def means(rows: Iterable[Row]) -> list[Row]:
    """A line for every data set and peer: means over seeds."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if "skipped" not in row:
            groups[row["data"], row["peer"]].append(row)
    return [
        {
            "data": data,
            "peer": peer,
            "n_runs": len(group),
            "error": float(np.mean([row["error"] for row in group])),
            "deviation": float(np.std([row["error"] for row in group])),
            "seconds": float(np.mean([row["seconds"] for row in group])),
            "cpu_seconds": float(np.mean([row["cpu_seconds"] for row in group])),
            "megabytes": max(row.get("megabytes", 0.0) for row in group),
        }
        for (data, peer), group in groups.items()
    ]
