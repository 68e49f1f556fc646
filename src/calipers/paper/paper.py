"""The paper's three experiments: every system on every data set, a row for each run.

A run is one data set (and 70/30 split, where none is standard), one seed and one system.
Runs whose row is in the file already are not done again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.paper import datasets, forms, published, runs, systems
from calipers.paper.costs import expected_seconds
from calipers.paper.datasets.paper import SETS
from calipers.paper.measure import measure
from calipers.paper.runs import Identity, Row, RunFile
from calipers.paper.systems import System

if TYPE_CHECKING:
    from calipers.paper.progress import Meter

RUNS = {"semeion": 10, "tdt30": 10, "connect4": 10}
"""Runs whose mean is reported, as in the paper: ten random splits of these, one of all others."""

STUDY = ("dna", "letter")
"""Data sets of the parameter study, unless others are requested."""

QUICK = ("semeion", "dna")
"""Data sets of a first look, one run each; embedded digits where they are not here."""


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes
    ----------
    runs : dict of str to int
        Data sets and how many runs each gets.
    systems : list of System
        Columns of the tables.
    studied : frozenset of str
        Data sets that the parameter study is run on, once.
    n_triplets : int
        N, 100,000 in the paper.
    missing : dict of str to str
        Data sets of the paper that cannot be had, and why.
    files : dict of str to list
        Name and size of the files of each data set.
    """

    runs: dict[str, int]
    systems: list[System]
    studied: frozenset[str]
    n_triplets: int
    missing: dict[str, str]
    files: dict[str, list[list[Any]]]

    @property
    def identity(self) -> Identity:
        """What the rows of this plan have in common."""
        return runs.identity({**systems.paper_settings(self.n_triplets), "k": 3})

    def systems_of(self, name: str, run: int) -> list[System]:
        """What one run of a data set does."""
        studied = systems.STUDIED.values() if name in self.studied and run == 0 else ()
        return [*self.systems, *studied]


@dataclass(frozen=True)
class Wish:
    """What the user asks for; None stands for the default."""

    datasets: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    runs: int | None = None
    quick: bool = False
    n_triplets: int = systems.PAPER_TRIPLETS


def plan(wish: Wish, *, data_dir: str | None = None, download: bool = False, meter: Meter) -> Plan:
    """Choose what to run, after fetching or finding the files of every data set.

    A data set that is named must be there; of the default ones those that are not are left out,
    with the reason.
    """
    chosen = systems.choose(wish.methods)
    studies = systems.PARAMETERS in wish.methods if wish.methods else not wish.quick
    studied = (wish.datasets if wish.methods and wish.datasets else STUDY) if studies else ()
    every = list(published.SIZES) if chosen else STUDY
    names = wish.datasets or (QUICK if wish.quick else every)
    files: dict[str, list[list[Any]]] = {}
    missing: dict[str, str] = {}
    for name in names:
        try:
            paths = datasets.require(
                name, data_dir=data_dir, download=download, report=meter.download
            )
        except (datasets.DatasetError, OSError) as problem:
            if wish.datasets or (data_dir and not Path(data_dir).expanduser().is_dir()):
                raise
            missing[name] = str(problem) if download else _how_to_get(name)
        else:
            files[name] = [[path.name, path.stat().st_size] for path in paths]
    if not files and wish.quick:
        files, missing = {"digits": []}, {}
    if not files:
        raise datasets.DatasetError(
            "None of the paper's data sets is here: name their folder with --data-dir, allow "
            "--download, or take embedded ones (--quick, or --datasets digits)."
        )
    usual = {} if wish.quick else RUNS
    counts = {name: wish.runs or usual.get(name, 1) for name in files}
    return Plan(counts, chosen, frozenset(studied), wish.n_triplets, missing, files)


def _how_to_get(name: str) -> str:
    """A reason without the paths of this machine, for a report that others may read."""
    files = " and ".join(SETS[name].original.files)
    return f"its files {files} are not here; --download fetches them."


@dataclass(frozen=True)
class Job:
    """One run to be done."""

    dataset: str
    run: int
    system: System

    @property
    def split(self) -> int:
        """The number of its 70/30 split, 0 for a standard one."""
        return 0 if datasets.has_standard_split(self.dataset) else self.run

    @property
    def weight(self) -> float:
        """About how many seconds it takes."""
        return expected_seconds(self.dataset, self.system)


def to_do(plan: Plan, rows: Sequence[Row]) -> list[Job]:
    """The runs of the plan that no usable row is there for.

    A row serves if settings, versions and machine are the same, the data came from files of
    the same names and sizes, and the run did not fail.
    """
    done = {
        runs.key(row)
        for row in runs.of_identity(rows, plan.identity.digest)
        if not row.get("failed") and row.get("files") == plan.files.get(row["dataset"])
    }
    return [
        Job(name, run, system)
        for name, count in plan.runs.items()
        for run in range(count)
        for system in plan.systems_of(name, run)
        if (name, system.name, run) not in done
    ]


def run(
    plan: Plan, jobs: Sequence[Job], file: RunFile, *, data_dir: str | None, meter: Meter
) -> None:
    """Do the jobs, appending each one's row to the file as soon as it is done."""
    _note_missing(plan, file)
    for (name, number), same in _by_data(jobs):
        with meter.step(f"{name} {number + 1}/{plan.runs[name]}: reading", weight=0):
            data = datasets.load(name, data_dir=data_dir, split=same[0].split, download=False)
            drawn = None
            if any(job.system.kind in ("online", "sgd") for job in same):
                drawn = systems.draw_triplets(data, seed=number, n_triplets=plan.n_triplets)
        for job in same:
            text = f"{name} {number + 1}/{plan.runs[name]}: {job.system.name}"
            with meter.step(text, weight=job.weight) as advance:
                pictures = number == 0 and not job.system.parameter
                result = measure(
                    job.system, data, drawn, seed=number, callback=advance, pictures=pictures
                )
            file.append({**_about(job, plan), **result})


def _about(job: Job, plan: Plan) -> Row:
    """The part of a row that says what was run, when and where."""
    return {
        "dataset": job.dataset,
        "method": job.system.name,
        "run": job.run,
        "split": job.split,
        "files": plan.files[job.dataset],
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": runs.commit(),
        **plan.identity.as_row(),
    }


def _note_missing(plan: Plan, file: RunFile) -> None:
    """Write a row for each data set that cannot be had, unless it is written."""
    known = {runs.key(row): row for row in runs.of_identity(file.read(), plan.identity.digest)}
    for name, reason in plan.missing.items():
        old = known.get((name, forms.ANY_METHOD, 0), {})
        if old.get("skipped") != reason:
            row = {"dataset": name, "method": forms.ANY_METHOD, "run": 0, "skipped": reason}
            file.append({**row, **plan.identity.as_row()})


def _by_data(jobs: Sequence[Job]) -> Iterator[tuple[tuple[str, int], list[Job]]]:
    """Jobs that need the same samples and triplets, together."""
    groups: dict[tuple[str, int], list[Job]] = {}
    for job in jobs:
        groups.setdefault((job.dataset, job.run), []).append(job)
    yield from groups.items()
