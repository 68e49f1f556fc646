"""Calipers beside other metric learners: error, seconds and memory of a fit.

Everybody gets the same samples in a process of its own, with the defaults of its makers; 3-NN
errors are of the test part, after the clock has stopped. Wine and breast_cancer, whose
features have unlike units, come a second time standardised. One that runs into the cap is
stopped there and scored by what it had, or, where it cannot be stopped, ended; foreign
packages have environments of their own. Whoever cannot be started or does not end is a row
with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import blas, environments
from benchmarks.contestants import CONTESTANTS, ENVIRONMENTS, Contestant
from benchmarks.learners.fitted import Fitted
from benchmarks.learners.splits import Features, rescaled, split_of
from benchmarks.rows import ROOT, Column, Report, Row
from calipers.paper.datasets import DatasetError, Split, has_standard_split
from calipers.paper.protocol import split_error

NAMES = (
    *("iris", "wine", "breast_cancer", "digits", "semeion", "dna"),
    *("pendigits", "letter", "tdt30", "isolet", "connect4"),
)
UNLIKE_UNITS = ("wine", "breast_cancer")
START_UP = 60.0  # seconds beyond the cap after which a process is ended
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

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
        Column("its", "iterations", ",", 7),
        Column("ended by", "ended", width=8),
    ],
    "peers, means": [
        Column("data", "data", width=14),
        Column("peer", "peer", width=29),
        Column("features", "features", width=12),
        Column("runs", "n_runs", width=4),
        Column("error %", "error", ".2f"),
        Column("sd", "deviation", ".2f", 5),
        Column("seconds", "seconds", ".3f", 9),
        Column("CPU s", "cpu_seconds", ".2f", 8),
        Column("MB", "megabytes", ".1f", 8),
        Column("capped", "n_capped", width=6),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    every = tuple(contestant.name for contestant in CONTESTANTS)
    parser.add_argument("--data-dir", help="folder with the paper's data")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=NAMES)
    parser.add_argument("--peers", nargs="+", metavar="PEER", choices=every, default=every)
    parser.add_argument("--seeds", nargs="+", type=int, default=(0, 1, 2))
    add_environment_arguments(parser)


def add_environment_arguments(parser: argparse.ArgumentParser) -> None:
    """How peers are run, and where."""
    parser.add_argument("--seconds", type=float, default=60.0, help="cap of each fit")
    parser.add_argument(
        "--peer-threads", type=int, help="BLAS threads of the others; else one or all, the faster"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--environments", type=Path, metavar="DIR", help="folder of the foreign environments"
    )
    where.add_argument(
        "--make-environments",
        type=Path,
        metavar="DIR",
        help=f"make them there with pip first: {', '.join(ENVIRONMENTS)}",
    )


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure data set by data set, then print the means and draw error against time."""
    report.say(
        f"3-NN errors of the test part; fits are stopped after {args.seconds:g} s; MB: how far "
        "the fit raised the memory of its process; thr.: BLAS threads"
    )
    chosen = [contestant for contestant in CONTESTANTS if contestant.name in args.peers]
    found = troubles(args, chosen)
    for name in args.only:
        for seed in args.seeds:
            try:
                data = split_of(name, data_dir=args.data_dir, split=seed)
            except DatasetError as error:
                report.skip("peers", str(error), data=name, seed=seed)
                break
            for contestant, features in _runs(args, name, seed):
                row = {
                    "data": name,
                    "shape": f"{len(data.y_train):,} x {data.X_train.shape[1]}",
                    "seed": seed,
                    "peer": contestant.name,
                    "features": features,
                    "cap": args.seconds,
                }
                part = rescaled(data, features)
                try:
                    answer = measure(contestant, part, seed, args, found, split_error)
                except PeerError as failure:
                    report.skip("peers", str(failure), **row)
                else:
                    report.add("peers", **row, **answer)
    lines = means(report.rows)
    for line in lines:
        report.show("peers, means", **line)
    for picture in draw(lines, report.file.with_suffix("")):
        report.say(f"error against time is in {picture}")


class PeerError(RuntimeError):
    """A peer gave no metric; the message says why."""


def _runs(args: argparse.Namespace, name: str, seed: int) -> Iterator[tuple[Contestant, Features]]:
    """Who is run on a split; not again whoever would only do the same again."""
    again = has_standard_split(name) and seed != args.seeds[0]
    for contestant in CONTESTANTS:
        if contestant.name in args.peers and (contestant.seeded or not again):
            yield contestant, contestant.features
            if name in UNLIKE_UNITS and contestant.features == "raw":
                yield contestant, "standardised"


def troubles(args: argparse.Namespace, contestants: Iterable[Contestant]) -> dict[str | None, str]:
    """Environments that are not there, each with the reason."""
    found: dict[str | None, str] = {}
    wanted = {one.environment for one in contestants} - {None}
    for name in sorted(filter(None, wanted)):
        folder = args.make_environments or args.environments
        if folder is None:
            reason: str | None = "no environment: make one with --make-environments DIR"
        elif args.make_environments:
            reason = environments.make(folder / name, ENVIRONMENTS[name])
        else:
            there = environments.interpreter(folder / name).is_file()
            reason = None if there else f"no environment {name!r} in {folder}"
        if reason:
            found[name] = reason
    return found


def measure(
    contestant: Contestant,
    data: Split,
    seed: int,
    args: argparse.Namespace,
    found: dict[str | None, str],
    error_of: Callable[..., float],
) -> Row:
    """One fit, then its error; ``found`` are troubles with environments."""
    if contestant.environment in found:
        raise PeerError(found[contestant.environment])
    if contestant.learner is None:
        nothing = {"seconds": 0.0, "cpu_seconds": 0.0, "megabytes": 0.0}
        return {"error": 100 * error_of(data), **nothing}
    is_ours = contestant.name.startswith("Calipers")  # it knows how many threads it wants
    threads = None if is_ours else args.peer_threads or _threads_for(data.X_train.shape)
    fitted, more = _fit(contestant, data, seed, args, threads)
    if not np.isfinite(fitted.components).all():
        raise PeerError("its metric is not finite")
    return {
        "error": 100 * error_of(data, fitted),
        "seconds": fitted.seconds,
        **more,
        "iterations": fitted.n_iterations,
        "ended": "cap" if fitted.capped else "itself",
        "threads": threads,
    }


@lru_cache
def _threads_for(shape: tuple[int, int]) -> int:
    """BLAS threads that are faster for samples of a shape: one or all."""
    return blas.for_product(np.zeros(shape))


def _fit(
    contestant: Contestant,
    data: Split,
    seed: int,
    args: argparse.Namespace,
    threads: int | None,
) -> tuple[Fitted, Row]:
    """What the contestant made of the training part, the megabytes and CPU seconds it took."""
    python, variables = sys.executable, dict(os.environ)
    if contestant.environment is not None:
        folder = args.make_environments or args.environments
        python = str(environments.interpreter(folder / contestant.environment))
        variables.pop("PYTHONPATH", None)
    if threads is not None:
        variables.update(dict.fromkeys(THREADS, str(threads)))
    how = json.dumps({"seed": seed, "cap": args.seconds, **contestant.settings})
    with tempfile.TemporaryDirectory() as folder_name:
        given, answer = Path(folder_name) / "given.npz", Path(folder_name) / "answer.npz"
        np.savez(given, X=data.X_train, y=data.y_train, how=how)
        words = [python, "-m", "benchmarks.learners.answer", str(contestant.learner)]
        _call([*words, str(given), str(answer)], variables, args.seconds)
        with np.load(answer) as written:
            facts = json.loads(str(written["facts"]))
            more = {name: float(facts.pop(name)) for name in ("megabytes", "cpu_seconds")}
            return Fitted(written["components"], **facts), more


def _call(words: list[str], variables: dict[str, str], cap: float) -> None:
    try:
        done = subprocess.run(
            words,
            cwd=ROOT,
            env=variables,
            capture_output=True,
            text=True,
            timeout=cap + START_UP,
        )
    except subprocess.TimeoutExpired:
        raise PeerError(
            f"ended after {cap + START_UP:.0f} s, beyond the cap of {cap:g} s"
        ) from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise PeerError(lines[-1] if lines else f"ended by signal {-done.returncode}")


def means(rows: Iterable[Row]) -> list[Row]:
    """A line for every data set, peer and kind of features: means over seeds."""
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if "skipped" not in row:
            groups[row["data"], row["peer"], row["features"]].append(row)

    def mean(group: list[Row], key: str) -> float:
        return float(np.mean([row[key] for row in group]))

    return [
        {
            "data": data,
            "peer": peer,
            "features": features,
            "n_runs": len(group),
            "error": mean(group, "error"),
            "deviation": float(np.std([row["error"] for row in group])),
            "seconds": mean(group, "seconds"),
            "cpu_seconds": mean(group, "cpu_seconds"),
            "megabytes": max(row["megabytes"] for row in group),
            "n_capped": sum(row.get("ended") == "cap" for row in group),
        }
        for (data, peer, features), group in groups.items()
    ]


def draw(lines: list[Row], folder: Path) -> list[Path]:
    """A picture for every data set: a mark for every peer, a line for Euclidean distance."""
    from matplotlib.figure import Figure

    from calipers.plot import CLASS_COLORS, MARKERS

    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for name in dict.fromkeys(line["data"] for line in lines):
        of_set = {_label(line): line for line in lines if line["data"] == name}
        figure = Figure(figsize=(9, 5), dpi=150, layout="constrained")
        axes = figure.subplots()
        axes.set(xscale="log", xlabel="seconds", ylabel="error, %")
        for number, (label, line) in enumerate(of_set.items()):
            if line["seconds"]:
                cycle, place = divmod(number, len(CLASS_COLORS))
                look: dict[str, Any] = {
                    "color": CLASS_COLORS[place],
                    "marker": MARKERS[(place + cycle) % 12],
                }
                axes.plot([line["seconds"]], [line["error"]], label=label, markersize=5, **look)
            else:
                axes.axhline(line["error"], color="grey", linewidth=1, linestyle=":", label=label)
        axes.set_title(name, loc="left")
        axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5))
        pictures.append(folder / f"{name}.png")
        figure.savefig(pictures[-1])
    return pictures


def _label(line: Row) -> str:
    standardised = ", standardised" if line["features"] == "standardised" else ""
    return f"{line['peer']}{standardised}"
