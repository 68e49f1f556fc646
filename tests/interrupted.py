"""Commands that are stopped at a random moment, and what must hold after that.

Tests try a few moments; ``python -m checks interruptions`` as many as one likes.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

import numpy as np

from calipers import load
from calipers.metric.file.checkpoint import read_states
from calipers.paper.runs import ROWS, RunFile

SIGNALS = (signal.SIGKILL, signal.SIGTERM)
LONGEST = 600.0  # seconds that a command may take

# a checkpoint after every portion instead of every minute
EAGER = """
import sys
from calipers.estimators.checkpoint import Checkpointed
from calipers.cli.main import main
Checkpointed.set_checkpoint.__kwdefaults__["every_seconds"] = 0.0
sys.exit(main(sys.argv[1:]))
"""


class Job(NamedTuple):
    """A command whose output goes into the folder it is started in.

    ``found`` reads from that folder what is done: it raises if anything there is not whole.
    """

    words: tuple[str, ...]
    found: Callable[[Path], Mapping[Any, Any]]


def a_table(folder: Path) -> None:
    """Samples to fit, as ``rows.csv``."""
    samples = np.random.default_rng(0).standard_normal((300, 20))
    lines = [",".join(map(repr, sample)) + f",{i % 3}" for i, sample in enumerate(samples.tolist())]
    names = ",".join([*(f"f{i}" for i in range(20)), "y"])
    (folder / "rows.csv").write_text("\n".join([names, *lines]))


def the_metric(folder: Path) -> dict[str, Any]:
    """The bits of the metric; and the checkpoint, if there is one, can be read."""
    read_states(folder / "state")
    if not (folder / "metric.safetensors").exists():
        return {}
    metric = load(folder / "metric.safetensors")
    return {"components": metric.components_.tobytes(), "updates": metric.facts_["n_updates_"]}


def the_rows(folder: Path) -> dict[Any, Any]:
    """What was measured in each run; and the report, if there is one, is whole."""
    page = folder / "report" / "report.html"
    assert not page.exists() or page.read_text().rstrip().endswith("</html>")
    rows = RunFile(folder / "report" / ROWS).read()
    return {(row["method"], row["run"]): (row["error"], row["updates"]) for row in rows}


_FIT = (
    *("fit", "rows.csv", "--label", "y", "--quiet"),
    *("--learner", "triplet-sgd", "--method", "as-sgd", "--triplets", "40000"),
)
_PAPER = (
    "paper",
    "--quick",
    "--triplets",
    "30000",
    "--seeds",
    "5",
    "--quiet",
    "--output",
    "report",
)

JOBS: dict[str, Job] = {
    "fit": Job((*_FIT, "-o", "metric.safetensors"), the_metric),
    "fit --checkpoint": Job(
        (*_FIT, "-o", "metric.safetensors", "--checkpoint", "state"), the_metric
    ),
    "paper --quick": Job((*_PAPER, "--methods", "euclidean", "as-sgd", "oasis"), the_rows),
}


def start(job: Job, folder: Path) -> subprocess.Popen[str]:
    """The command, on its way."""
    return subprocess.Popen(
        [sys.executable, "-c", EAGER, *job.words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def undisturbed(job: Job, folder: Path) -> tuple[Mapping[Any, Any], float]:
    """What the command comes to when nobody stops it, and its seconds."""
    started = monotonic()
    _, told = start(job, folder).communicate(timeout=LONGEST)
    found = job.found(folder)
    assert found, told
    return found, monotonic() - started


def stopped(job: Job, folder: Path, how: signal.Signals, seconds: float) -> Mapping[Any, Any]:
    """What is found after the command was stopped so many seconds after its start."""
    process = start(job, folder)
    sleep(seconds)
    return _end(process, job, folder, how)


def stopped_after_checkpoint(
    job: Job, folder: Path, how: signal.Signals, seconds: float
) -> Mapping[Any, Any]:
    """The same, so many seconds after it has written a checkpoint, unless it was done before."""
    state = folder / "state"
    before = state.stat().st_mtime_ns if state.exists() else 0
    process, limit = start(job, folder), monotonic() + LONGEST
    while process.poll() is None and monotonic() < limit:
        try:
            if state.stat().st_mtime_ns != before:
                break
        except FileNotFoundError:
            pass
        sleep(0.001)
    sleep(seconds)
    return _end(process, job, folder, how)


def _end(
    process: subprocess.Popen[str], job: Job, folder: Path, how: signal.Signals
) -> Mapping[Any, Any]:
    process.send_signal(how)
    _, told = process.communicate(timeout=LONGEST)
    assert "Traceback" not in told, told
    assert process.returncode in (0, -how, 128 + how, 130), (process.returncode, told)
    for draft in folder.rglob("*.part"):  # nobody can remove it when killed
        assert how == signal.SIGKILL
        draft.unlink()
    return job.found(folder)
