"""Runs: what is to be done, doing one, and its row in a file.

A run is one system on one data set (and 70/30 split, where none is standard) with one seed. Its
row is a line of JSON, written when the run is done, so that a killed command goes on where it was.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import calipers
from calipers.arrays import FloatArray, IndexArray
from calipers.paper import datasets, systems
from calipers.paper.datasets import DatasetError, Split
from calipers.paper.protocol import split_error
from calipers.paper.published import SIZES
from calipers.paper.systems import STUDIED, SYSTEMS, System
from calipers.paper.theory import Theory
from calipers.threads import n_threads

Row: TypeAlias = dict[str, Any]

ROWS = "runs.jsonl"
"""Name of the file of rows in the folder of a report."""

USUAL_RUNS = {"semeion": 10, "tdt30": 10, "connect4": 10}
"""Runs whose mean is reported, as in the paper: ten random splits of these, one of all others."""

QUICK_RUNS = {"semeion": 1, "dna": 1}
"""The same for a first look; the digits of scikit-learn where these are not here."""

STUDY_DATASETS = ("dna", "letter")
"""Data sets of the parameter study, unless others are named."""

CURVED = ("sgd", "mini-sgd", "as-sgd")
"""Methods of Figure 1."""

CURVE_TRIPLETS = 1000
"""Triplets whose mean loss is the training error of Figure 1; the same for all methods."""

_ONLY_SHOWN = ("tables.py", "figures.py", "check.py", "report.py")

# What is to be done


@dataclass(frozen=True)
class Wish:
    """What the user asks for; None stands for the default.

    Attributes
    ----------
    datasets, methods : sequence of str or None
        Their names.
    runs : mapping of str to int
        Usual numbers of runs; one of data sets that are not in it.
    seeds : int or None
        Runs of every data set instead.
    n_triplets : int
        N, 100,000 in the paper.
    data_dir : str or None
        Folder of the data.
    download : bool
        Whether to download data.
    """

    datasets: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    runs: dict[str, int] | None = None
    seeds: int | None = None
    n_triplets: int = systems.PAPER_TRIPLETS
    data_dir: str | None = None
    download: bool = False


class Job(NamedTuple):
    """One run."""

    dataset: str
    number: int
    system: System


@dataclass(frozen=True)
class Plan:
    """The runs of a wish, the files of each data set, and why others cannot be had."""

    wish: Wish
    jobs: list[Job]
    files: dict[str, list[str]]
    missing: dict[str, str]

    @property
    def origin(self) -> Row:
        """What the rows of this plan have in common."""
        return {"n_triplets": self.wish.n_triplets, **origin()}

    def rows(self, file: Path) -> list[Row]:
        """The rows that are there already, of the same origin and data."""
        return [
            row
            for row in read_rows(file)
            if row["origin"] == self.origin and row["files"] == self.files.get(row["dataset"])
        ]

    def to_do(self, file: Path) -> list[Job]:
        """The runs that no row is there for, or only that of a failure."""
        rows = [row for row in self.rows(file) if "failed" not in row]
        done = {(row["dataset"], row["run"], row["method"]) for row in rows}
        return [job for job in self.jobs if (*job[:2], job.system.name) not in done]


def plan(wish: Wish) -> Plan:
    """Choose what to run, after finding or downloading the files of every data set.

    A data set that is named must be there; of the default ones those that are not are left out.
    """
    methods = wish.methods or [*SYSTEMS, *([] if wish.runs else [systems.PARAMETERS])]
    chosen = systems.choose(methods)
    datasets.data_folder(wish.data_dir)  # one that does not exist is a mistake
    counts = wish.runs or {name: USUAL_RUNS.get(name, 1) for name in SIZES}
    files: dict[str, list[str]] = {}
    missing: dict[str, str] = {}
    for name in wish.datasets or counts:
        try:
            paths = datasets.require(name, data_dir=wish.data_dir, download=wish.download)
        except DatasetError as problem:
            if wish.datasets:
                raise
            missing[name] = str(problem)
        else:
            files[name] = [path.name for path in paths]
    if not files and wish.runs == QUICK_RUNS:
        return plan(replace(wish, datasets=["digits"]))
    if not files:
        raise DatasetError(
            "None of the paper's data sets is here: name their folder with --data-dir, allow "
            "--download, or take --datasets digits, which comes with scikit-learn."
        )
    studied: Sequence[str] = ()
    if systems.PARAMETERS in methods:
        studied = wish.datasets if wish.methods and wish.datasets else STUDY_DATASETS
    jobs = [
        Job(name, number, system)
        for name in files
        for number in range(wish.seeds or counts.get(name, 1))
        for system in [*chosen, *(STUDIED.values() if name in studied and number == 0 else ())]
    ]
    return Plan(wish, jobs, files, missing)


@cache
def origin() -> Row:
    """What must be equal for rows to stand in one table: the code and the machine."""
    packages = ("calipers", "numpy", "scipy", "scikit-learn")
    return {
        **{package: version(package) for package in packages},
        "python": platform.python_version(),
        "code": _code(),
        "cpu": _processor(),
        "cores": os.cpu_count() or 1,
        "threads": n_threads(),
    }


def _code() -> str:
    """A digest of the code that numbers depend on, so that rows of two states are never mixed."""
    folder = Path(calipers.__file__).parent
    digest = sha256()
    for file in sorted(folder.rglob("*")):
        is_shown = file.parent.name == "cli" or file.name in _ONLY_SHOWN
        if file.suffix in (".py", ".so", ".pyd") and not is_shown:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


@cache
def commit() -> str:
    """The commit of the code; empty outside of a repository."""
    command = ("git", "describe", "--always", "--dirty")
    folder = Path(calipers.__file__).parent
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip()


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text().splitlines() if listing.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


# Doing it


def run(plan: Plan, file: Path) -> Iterator[Job]:
    """Do the runs that are left; each is yielded once its row is in the file."""
    wish = plan.wish
    for (name, number), jobs in groupby(plan.to_do(file), key=lambda job: job[:2]):
        split = 0 if datasets.has_standard_split(name) else number
        data = datasets.load(name, data_dir=wish.data_dir, split=split, download=wish.download)
        same = list(jobs)
        drawn = np.empty((0, 3), dtype=np.intp), 0.0
        if any(job.system.takes_triplets for job in same):
            drawn = systems.draw_triplets(data, seed=number, n_triplets=wish.n_triplets)
        for job in same:
            row = {
                "dataset": name,
                "method": job.system.name,
                "run": number,
                "files": plan.files[name],
                "when": datetime.now(UTC).isoformat(timespec="minutes"),
                "commit": commit(),
                "origin": plan.origin,
            }
            append_row(file, row | measure(job.system, data, drawn, seed=number))
            yield job


def measure(system: System, data: Split, drawn: tuple[IndexArray, float], *, seed: int) -> Row:
    """Fit a system, score it, and return what came out; a failure is a result, too.

    ``drawn`` are the triplets of learners from triplets, and the seconds that they took.
    """
    row: Row = {
        "n_classes": len(np.unique(np.concatenate([data.y_train, data.y_test]))),
        "n_features": data.X_train.shape[1],
        "n_train": len(data.y_train),
        "n_test": len(data.y_test),
        "note": data.note,
    }
    part = _part(data, system.most, seed)
    if part is not data:
        row["trained_on"] = len(part.y_train)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            metric = _fitted(system, part, drawn[0], seed=seed)
        row["error"] = 100 * split_error(data, metric)
    except (ValueError, ArithmeticError, MemoryError) as problem:
        return row | {"failed": f"{type(problem).__name__}: {problem}"}
    if getattr(metric, "interrupted_", False):
        raise KeyboardInterrupt
    row["seconds"] = getattr(metric, "solve_seconds_", None)
    if system.takes_triplets:
        row |= {"mining_seconds": drawn[1], "updates": int(metric.n_updates_)}
    if system.name == "as-sgd":
        row["update_bound"] = Theory.of(metric).update_bound
    if system.name in CURVED and seed == 0:
        row["training"] = training_curve(system, data.X_train, drawn[0], seed=seed)
    return row


def _part(data: Split, most: int | None, seed: int) -> Split:
    """The data with so many training samples at most, drawn evenly."""
    if most is None or len(data.y_train) <= most:
        return data
    kept = np.sort(np.random.default_rng(seed).permutation(len(data.y_train))[:most])
    return replace(data, X_train=data.X_train[kept], y_train=data.y_train[kept])


def _fitted(system: System, data: Split, triplets: IndexArray, *, seed: int) -> Any:
    metric = system.make(seed=seed, n_triplets=len(triplets))
    if not system.takes_triplets:
        return metric.fit(data.X_train, data.y_train)
    if system.is_sgd:
        metric.set_params(n_neighbors=None)  # which given triplets have no use for
    if system.learner == "LEGO":
        metric.set_params(**systems.lego_limits(data.X_train, triplets, seed=seed))
    return metric.fit_triplets(data.X_train, triplets)


def training_curve(system: System, X: FloatArray, triplets: IndexArray, *, seed: int) -> Row:
    """Figure 1: the mean loss of a thousand training triplets at the average so far.

    The method runs once more, over portions of the triplets that grow.
    """
    learner = system.make(seed=seed)
    learner.set_params(n_neighbors=None, n_rounds=None, n_triplets=None)
    chosen = triplets[np.random.default_rng(0).permutation(len(triplets))[:CURVE_TRIPLETS]]
    L, b = learner.smoothness, learner.batch_size

    def error(images: FloatArray) -> float:
        anchor, near, far = (images[column] for column in chosen.T)
        margins = np.sum((anchor - far) ** 2 - (anchor - near) ** 2, axis=1)
        return float(np.logaddexp(0.0, -L * (margins - 1.0)).mean() / L)

    ends = (len(triplets) // b * np.linspace(0.0, 1.0, 31) ** 2).astype(int) * b
    seen, losses = [0], [error(X)]
    for first, last in pairwise(np.unique(ends)):
        learner.partial_fit_triplets(X, triplets[first:last])
        seen.append(int(last))
        losses.append(error(learner.transform(X)))
    return {"triplets": seen, "loss": losses}


# Rows


def read_rows(file: Path) -> list[Row]:
    """All whole rows of a file, the last one about each run; a kill may have cut a line off."""
    rows = {}
    for line in file.read_text("utf-8").splitlines() if file.is_file() else ():
        with suppress(ValueError, KeyError):
            row = json.loads(line)
            rows[row["dataset"], row["method"], row["run"], str(row["origin"])] = row
    return list(rows.values())


def append_row(file: Path, row: Row) -> None:
    """Write a row on a line of its own, also after a line that was cut off."""
    with file.open("a", encoding="utf-8") as lines:
        lines.write("\n" + json.dumps(row))
