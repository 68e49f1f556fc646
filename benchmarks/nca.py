"""A default fit of TripletSGD or NCA beside scikit-learn's NeighborhoodComponentsAnalysis.

Both with their defaults, on the same samples; 3-NN errors are of the test part, after the
clock has stopped. The peer is stopped at the end of the iteration in which the cap
strikes; its error is then of the metric it had.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks import blas, fresh, paired
from benchmarks.clock import best_clocked
from benchmarks.learners import nca as peer
from benchmarks.learners import ours
from benchmarks.learners.splits import split_of
from benchmarks.rows import Column, Report, Row
from calipers.paper.datasets import DatasetError, Split
from calipers.paper.protocol import split_error

NAMES = ("pendigits", "letter", "digits", "semeion")

TABLES = {
    "nca": [
        Column("data", "data", width=12),
        Column("shape", "shape", width=12),
        Column("seed", "seed", width=4),
        Column("ours s", "seconds", ".3f"),
        Column("mining", "mining_seconds", ".3f"),
        Column("thr.", "peer_threads", width=4),
        Column("NCA s", "peer_seconds", ".1f"),
        Column("its", "peer_iterations", width=4),
        Column("ended by", "peer_ended", width=8),
        Column("ratio", "ratio", ".1f"),
        Column("CPU ratio", "cpu_ratio", ".1f", 9),
        Column("ours err %", "error", ".2f", 10),
        Column("NCA err %", "peer_error", ".2f", 10),
        Column("Euclid err %", "euclidean_error", ".2f", 12),
    ],
    "nca, means": [
        Column("data", "data", width=12),
        Column("runs", "n_runs", width=4),
        Column("ours err %", "value", ".2f", 10),
        Column("NCA err %", "baseline", ".2f", 10),
        Column("change", "change", "+.2f"),
        Column("+-", "standard_error", ".2f", 6),
        Column("ratio", "ratio", ".1f"),
        Column("CPU ratio", "cpu_ratio", ".1f", 9),
    ],
}

GRACE = 4.0  # an iteration may overrun the cap by this factor before the process is ended


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--data-dir", help="folder with the data; digits needs none")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=NAMES)
    parser.add_argument("--seconds", type=float, default=300.0, help="cap of NCA")
    parser.add_argument(
        "--peer-threads", type=int, help="BLAS threads of NCA; else one or all, what is faster"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=(0,))
    parser.add_argument(
        "--learner", choices=("TripletSGD", "NCA"), default="TripletSGD", help="which is ours"
    )
    parser.add_argument("--most", type=int, help="learn from so many samples at most")
    parser.add_argument(
        "--standardise", action="store_true", help="give both sides standardised features"
    )


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure data set by data set."""
    report.say(
        f"NCA: scikit-learn's defaults, stopped after {args.seconds:g} s, the ratio is then "
        "a lower bound; features " + ("standardised" if args.standardise else "as they are")
    )
    for name in args.only:
        for seed in args.seeds:
            try:
                data = split_of(name, split=seed, **_which(args))
            except DatasetError as error:
                report.skip("nca", str(error), data=name, seed=seed)
                continue
            _compare(name, seed, data, args, report)
    for line in means(report.rows):
        report.show("nca, means", **line)


def _which(args: argparse.Namespace) -> Row:
    return {"data_dir": args.data_dir, "standardise": args.standardise, "most": args.most}


def means(rows: list[Row]) -> list[Row]:
    """Errors of both over seeds, and their paired difference, for every data set."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if "peer_error" in row:
            groups[row["data"]].append(row)

    def of(some: list[Row], key: str) -> list[float]:
        return [row[key] for row in some]

    return [
        {
            "data": name,
            "n_runs": len(some),
            "ratio": float(np.mean(of(some, "ratio"))),
            "cpu_ratio": float(np.mean(of(some, "cpu_ratio"))),
            **paired.difference(of(some, "error"), of(some, "peer_error"))._asdict(),
        }
        for name, some in groups.items()
    ]


def _compare(name: str, seed: int, data: Split, args: argparse.Namespace, report: Report) -> None:
    learner = args.learner
    ours.warm_up(data.X_train, data.y_train, learner=learner)
    (seconds, cpu_seconds), model = best_clocked(
        lambda: ours.fit(data.X_train, data.y_train, seed=seed, learner=learner)
    )
    row = {
        "data": name,
        "shape": f"{data.X_train.shape[0]:,} x {data.X_train.shape[1]}",
        "seed": seed,
        "standardised": args.standardise,
        "learner": learner,
        "cap": args.seconds,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "mining_seconds": model.mining_seconds_,
        "error": 100 * split_error(data, model),
        "euclidean_error": 100 * split_error(data),
    }
    threads = args.peer_threads or blas.for_product(data.X_train)
    try:
        _check_memory(len(data.X_train))
        answer = fresh.call(
            "nca",
            seconds=GRACE * args.seconds + 60,
            name=name,
            split=seed,
            cap=args.seconds,
            threads=threads,
            **_which(args),
        )
    except fresh.FreshProcessError as failure:
        report.skip("nca", f"NCA {failure}", **row)
        return
    report.add(
        "nca",
        **row,
        peer_threads=threads,
        peer_seconds=answer["seconds"],
        peer_iterations=answer["iterations"],
        peer_ended="cap" if answer["capped"] else "itself",
        peer_error=answer["error"],
        ratio=answer["seconds"] / seconds,
        peer_cpu_seconds=answer["cpu_seconds"],
        cpu_ratio=answer["cpu_seconds"] / cpu_seconds,
    )


def _check_memory(n_samples: int) -> None:
    """Raise rather than drive the machine out of memory."""
    listing = Path("/proc/meminfo")
    if not listing.is_file():
        return
    available = next(
        1024 * int(line.split()[1])
        for line in listing.read_text().splitlines()
        if line.startswith("MemAvailable")
    )
    needed = peer.needed_bytes(n_samples)
    if needed > available:
        raise fresh.FreshProcessError(
            f"needs about {needed / 1e9:.0f} GB, of which {available / 1e9:.0f} are available"
        )
