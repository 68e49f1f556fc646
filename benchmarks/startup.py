"""What a user waits for before the work begins, each in fresh processes.

``--install`` installs the package into an empty environment first, as a newcomer does, and says
how long that took and how large it is. The first fit of iris is also tried by a user who may write
nowhere and has no home, where this command may change the user.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks import environments, fresh
from benchmarks.clock import timed
from benchmarks.problem import METHODS
from benchmarks.rows import ROOT, Column, Report

COMMANDS = {
    "python alone": ["-c", "pass"],
    "import sklearn": ["-c", "import sklearn"],
    "import sklearn, calipers": ["-c", "import sklearn, calipers"],
    "import sklearn.neighbors": ["-c", "import sklearn.neighbors"],
    "import sklearn.neighbors, calipers": ["-c", "import sklearn.neighbors, calipers"],
    "calipers --help": ["-m", "calipers", "--help"],
}

TABLES = {
    "installed": [
        Column("installed", "what", width=24),
        Column("seconds", "seconds", ".0f"),
        Column("MB", "megabytes", ".0f", 6),
    ],
    "iris": [
        Column("first fit of iris by", "user", width=36),
        Column("import s", "import_seconds", ".2f"),
        Column("fit s", "fit_seconds", ".3f"),
        Column("median s", "median_seconds", ".2f"),
        Column("CPU s", "cpu_seconds", ".2f", 6),
        Column("very first s", "first_seconds", ".2f", 12),
    ],
    "process": [
        Column("process", "process", width=36),
        Column("best s", "best_seconds", ".3f"),
        Column("median s", "median_seconds", ".3f"),
        Column("adds", "added_seconds", ".3f"),
    ],
    "first fit": [
        Column("method", "method"),
        Column("shape", "shape", width=12),
        Column("first fit s", "first_seconds", ".3f", 12),
        Column("second fit s", "second_seconds", ".3f", 12),
        Column("beyond the work s", "beyond_seconds", ".3f", 17),
    ],
}

USERS = {"who calls": None, "nobody, read-only, no home": "nobody"}
MOST_FITS = 3  # processes that fit, per method and shape


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--features", nargs="+", type=int, default=(16, 256))
    parser.add_argument(
        "--install",
        nargs="?",
        const=sys.executable,
        metavar="PYTHON",
        help="fit iris in an empty environment of this interpreter, with the package installed",
    )


def run(args: argparse.Namespace, report: Report) -> None:
    """Fit iris; start processes; then look at the first fit in a process."""
    if args.install:
        _install(args.install, args.repeats, report)
    else:
        _iris(Path(sys.executable), args.repeats, report)
    report.say(f"whole processes, {args.repeats} each after one that is not counted")
    best: dict[str, float] = {}
    for process, words in COMMANDS.items():
        readings = [timed(partial(_start, words))[0] for _ in range(args.repeats + 1)]
        best[process] = min(readings[1:])
        without = process.removesuffix(", calipers")
        report.add(
            "process",
            process=process,
            best_seconds=best[process],
            median_seconds=median(readings[1:]),
            added_seconds=best[process] - best[without] if without != process else None,
            readings=readings[1:],
        )
    for method in args.methods:
        for d in args.features:
            _first_fit(method, d, min(args.repeats, MOST_FITS), report)


def _install(python: str, repeats: int, report: Report) -> None:
    """Install into an empty environment and use it."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # for a user who may only read
        environment = Path(folder, "environment")
        subprocess.run([python, "-m", "venv", environment], check=True)
        installed = environments.interpreter(environment)
        words = [installed, "-m", "pip", "install", "--quiet", ROOT]
        seconds, _ = timed(partial(subprocess.run, words, check=True))
        size = megabytes(environment)
        report.add("installed", what="pip install .", seconds=seconds, megabytes=size)
        _iris(installed, repeats, report)


def megabytes(folder: Path) -> float:
    """What all files of a folder take on the disk, in units of 2**20 bytes as ``du -m`` has them.

    A file with several names counts once.
    """
    taken = {}
    for path in folder.rglob("*"):
        facts = path.lstat()
        taken[facts.st_ino] = getattr(facts, "st_blocks", facts.st_size / 512) * 512
    return sum(taken.values()) / 2**20


def _iris(python: Path, repeats: int, report: Report) -> None:
    """The first fit of fresh processes: as who calls, and as one who may write nowhere."""
    for name, user in USERS.items():
        try:
            readings = [fresh.first_fit(python, user=user) for _ in range(repeats + 1)]
        except fresh.FreshProcessError as failure:
            report.skip("iris", str(failure), user=name)
            continue
        wholes = [row["import_seconds"] + row["fit_seconds"] for row in readings]
        report.add(
            "iris",
            user=name,
            import_seconds=median(row["import_seconds"] for row in readings),
            fit_seconds=median(row["fit_seconds"] for row in readings),
            median_seconds=median(wholes),
            cpu_seconds=median(row["cpu_seconds"] for row in readings),
            first_seconds=wholes[0],
            readings=readings,
        )


def _start(words: list[str]) -> None:
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True)


def _first_fit(method: str, n_features: int, repeats: int, report: Report) -> None:
    n_samples = 1_000
    answers = [
        fresh.call("two_fits", method=method, n_samples=n_samples, n_features=n_features)
        for _ in range(repeats + 1)
    ]
    first, second = (
        min(answer[key] for answer in answers[1:]) for key in ("first_seconds", "second_seconds")
    )
    report.add(
        "first fit",
        method=method,
        shape=f"{n_samples:,} x {n_features}",
        first_seconds=first,
        second_seconds=second,
        beyond_seconds=first - second,
        readings=answers[1:],
    )
