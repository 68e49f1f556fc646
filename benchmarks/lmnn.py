"""LMNN beside metric-learn's and pylmnn: seconds and the objective reached.

All minimise the same objective with the same targets, k and mu. (metric-learn's weights are
1 - mu and mu, too; pylmnn's are those divided by mu, it looks for impostors within the
distance of the last target rather than the farthest, and it draws from them where there are
more than half a million.) What each has reached is evaluated by one exact evaluator, after
the clock has stopped. Peers have an environment of their own and the smallest shim that makes
them start; they start at the identity. One that runs into the cap is stopped there and scored
by the best it had; the ratio is then a lower bound.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import environments
from benchmarks.clock import best_timed
from benchmarks.rows import ROOT, Column, Report
from calipers.arrays import FloatArray, IndexArray
from calipers.paper.datasets import DatasetError, load

DATA: dict[str, int | None] = {"digits": None, "semeion": None, "letter": 3000}
"""Names, and how many of the training samples are taken; None for all."""

PACKAGES = ("metric-learn==0.7.0", "pylmnn==1.6.4")
MAX_ITER = 1000
PEERS = {
    "metric-learn": "lmnn_metric_learn.py",
    "pylmnn": "lmnn_pylmnn.py",
}
GRACE = 120.0  # seconds by which one evaluation may overrun the cap

TABLES = {
    "lmnn": [
        Column("data", "data", width=8),
        Column("shape", "shape", width=12),
        Column("peer", "peer", width=12),
        Column("ours s", "seconds", ".2f"),
        Column("its", "iterations", width=5),
        Column("peer s", "peer_seconds", ".1f"),
        Column("its", "peer_iterations", width=5),
        Column("ended by", "peer_ended", width=8),
        Column("ratio", "ratio", ".1f"),
        Column("objective", "objective", ",.1f", 12),
        Column("peer's", "peer_objective", ",.1f", 14),
        Column("ours s to it", "seconds_to_peer", ".2f", 12),
        Column("ratio", "ratio_to_peer", ".1f"),
    ]
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--data-dir", help="folder with the data; digits needs none")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=tuple(DATA))
    parser.add_argument("--seconds", type=float, default=300.0, help="cap of each peer")
    parser.add_argument("--neighbors", type=int, default=3)
    parser.add_argument("--push-weight", type=float, default=0.5)
    parser.add_argument(
        "--environment",
        type=Path,
        default=ROOT / "benchmarks" / "__pycache__" / "lmnn-peers",
        help="folder of the peers' environment; made with pip where there is none",
    )


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure data set by data set."""
    report.say(
        f"k={args.neighbors}, mu={args.push_weight:g}, features as they are, peers "
        f"({', '.join(PACKAGES)}) stopped after {args.seconds:g} s; 'ours s to it': until the "
        "peer's objective is reached"
    )
    trouble = environments.make(args.environment, PACKAGES)
    for name in args.only:
        try:
            data = load(name, data_dir=args.data_dir)
        except DatasetError as error:
            report.skip("lmnn", str(error), data=name)
            continue
        part = slice(DATA.get(name))
        codes = np.unique(data.y_train[part], return_inverse=True)[1]
        _compare(name, data.X_train[part], codes, args, report, trouble)


def _compare(
    name: str,
    X: FloatArray,
    y: IndexArray,
    args: argparse.Namespace,
    report: Report,
    trouble: str | None,
) -> None:
    from benchmarks.solvers import lmnn_ours as ours
    from calipers.solvers.large_margin import LargeMargin

    settings: dict[str, Any] = {"n_neighbors": args.neighbors, "push_weight": args.push_weight}
    ours.warm_up(X, y, **settings)
    seconds, model = best_timed(lambda: ours.fit(X, y, **settings))
    evaluator = LargeMargin(X, y, **settings)
    row = {
        "data": name,
        "shape": f"{len(X):,} x {X.shape[1]}",
        "cap": args.seconds,
        **settings,
        "seconds": seconds,
        "iterations": model.n_iter_,
        "objective": evaluator.at(model.components_).objective,
    }
    for peer, file in PEERS.items():
        answer = trouble or _run_peer(file, X, y, args, settings)
        if isinstance(answer, str):
            report.skip("lmnn", answer, **row, peer=peer)
            continue
        objective = evaluator.at(np.ascontiguousarray(answer["components"])).objective
        to_peer = ours.seconds_down_to(objective, X, y, **settings)
        report.add(
            "lmnn",
            **row,
            peer=peer,
            peer_seconds=float(answer["seconds"]),
            peer_iterations=int(answer["iterations"]),
            peer_ended="cap" if answer["capped"] else "itself",
            peer_objective=objective,
            ratio=float(answer["seconds"]) / seconds,
            seconds_to_peer=to_peer,
            ratio_to_peer=None if to_peer is None else float(answer["seconds"]) / to_peer,
        )


def _run_peer(
    file: str, X: FloatArray, y: IndexArray, args: argparse.Namespace, settings: dict[str, Any]
) -> dict[str, Any] | str:
    """What the peer answered, or why it did not."""
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "given.npz", Path(folder) / "answer.npz"
        np.savez(given, X=X, y=y, seconds=args.seconds, max_iter=MAX_ITER, **settings)
        script = ROOT / "benchmarks" / "solvers" / file
        words = [
            str(environments.interpreter(args.environment)),
            str(script),
            str(given),
            str(answer),
        ]
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, timeout=args.seconds + GRACE
            )
        except subprocess.TimeoutExpired:
            return f"ended after {args.seconds + GRACE:.0f} s, within an iteration"
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            return lines[-1] if lines else f"ended by signal {-done.returncode}"
        return dict(np.load(answer))
