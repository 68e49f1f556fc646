"""Killed, terminated, out of space: what was there stays, nothing half is found, one goes on."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

from calipers import load
from calipers.cli.main import main
from calipers.paper.runs import ROWS, RunFile
from metric_files import small_file


def a_table(folder: Path) -> None:
    """Samples to fit, as ``rows.csv``."""
    samples = np.random.default_rng(0).standard_normal((300, 20))
    lines = [",".join(map(repr, sample)) + f",{i % 3}" for i, sample in enumerate(samples.tolist())]
    names = ",".join([*(f"f{i}" for i in range(20)), "y"])
    (folder / "rows.csv").write_text("\n".join([names, *lines]))


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

WRITER = """
import os, pathlib, signal, sys
from calipers.data.files import atomic_write

def die(*_):
    os.kill(os.getpid(), signal.{signal})
    signal.pause()

moment, path = sys.argv[1:]
if moment == "before it is on the disk":
    os.fsync = die
if moment == "before it takes its name":
    pathlib.Path.replace = die
from calipers.cli.stopping import terminable
with terminable(), atomic_write(path) as stream:
    stream.write(b"half of it")
    stream.flush()
    if moment == "while it is written":
        die()
    stream.write(b" and the rest")
"""

MOMENTS = ("while it is written", "before it is on the disk", "before it takes its name")


def run(*words: str, limit: int | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, which may not write files longer than ``limit`` bytes."""

    def obey() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, **more},
        preexec_fn=obey,
    )


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_stopped_at_any_moment_of_writing(moment: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "metric.safetensors"
    path.write_bytes(b"what was there")
    done = run("-c", WRITER.replace("{signal}", name), moment, str(path))
    assert done.returncode != 0
    assert path.read_bytes() == b"what was there"
    drafts = [file.name for file in tmp_path.iterdir() if file != path]
    assert all(draft.endswith(".part") for draft in drafts)
    if name == "SIGTERM":
        assert drafts == []
    small_file(tmp_path).replace(path)
    assert load(path).n_features_in_ == 3


DEAF = """
import os, signal, time, weakref
from calipers.cli.stopping import Terminated, terminable

class Thing: pass

thing = Thing()
seen = weakref.ref(thing, lambda _: (os.kill(os.getpid(), signal.{signal}), time.sleep(0)))
try:
    with terminable():
        del thing  # the signal comes in a callback, where an exception is only reported
        time.sleep(30)
        print("never heard")
except KeyboardInterrupt as stop:
    print(type(stop).__name__)
"""


@pytest.mark.parametrize(
    ("name", "stop"), [("SIGTERM", "Terminated"), ("SIGINT", "KeyboardInterrupt")]
)
def test_a_signal_that_comes_where_nothing_can_be_raised(name: str, stop: str) -> None:
    """It is sent again, and ends a wait of the main thread as the first one would have."""
    started = monotonic()
    done = run("-c", DEAF.replace("{signal}", name))
    assert (done.stdout, done.stderr) == (f"{stop}\n", "")
    assert monotonic() - started < 20.0


LATE = """
import os, signal, time, weakref
from calipers.cli.stopping import terminable

class Thing: pass

thing = Thing()
seen = weakref.ref(thing, lambda _: (os.kill(os.getpid(), signal.SIGTERM), time.sleep(0)))
try:
    with terminable():
        del thing  # and nothing comes after it
except KeyboardInterrupt as stop:
    print(type(stop).__name__)
time.sleep(0.2)
print("alive")
"""


def test_a_signal_that_comes_last_of_all() -> None:
    """It ends the work, and nothing is sent to what comes after it."""
    done = run("-c", LATE)
    assert (done.stdout, done.stderr, done.returncode) == ("Terminated\nalive\n", "", 0)


FIT = (
    "--label",
    "y",
    "--learner",
    "triplet-sgd",
    "--method",
    "as-sgd",
    "--triplets",
    "20000",
    "--quiet",
)


@pytest.mark.parametrize("seed", range(1))
def test_a_fit_stopped_at_a_random_moment(seed: int, tmp_path: Path) -> None:
    """Whether it was done or not, the name holds a whole metric: the old or the new one."""
    path, table = tmp_path / "metric.safetensors", tmp_path / "rows.csv"
    a_table(tmp_path)
    before = small_file(tmp_path).replace(path).read_bytes()
    how = (signal.SIGKILL, signal.SIGTERM)[seed % 2]
    words = [sys.executable, "-m", "calipers", "fit", str(table), *FIT, "-o", str(path)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    sleep(float(np.random.default_rng(seed).uniform(0.0, 6.0)))
    process.send_signal(how)
    _, told = process.communicate(timeout=120)
    # a signal may come once the new metric has its name, so that the code alone tells nothing
    assert path.read_bytes() == before or load(path).n_features_in_ == 20
    assert "Traceback" not in told
    assert main(["fit", str(table), *FIT, "-o", str(path)]) == 0
    assert load(path).n_features_in_ == 20


PAPER = ("--datasets", "wine", "--methods", "euclidean", "as-sgd", "--triplets", "300", "--quiet")


@pytest.mark.parametrize("seed", range(2))
def test_the_papers_experiments_stopped_at_a_random_moment(seed: int, tmp_path: Path) -> None:
    output = tmp_path / "report"
    words = [sys.executable, "-m", "calipers", "paper", *PAPER, "--seeds", "2"]
    process = subprocess.Popen(
        [*words, "--output", str(output)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    sleep(float(np.random.default_rng(10 + seed).uniform(2.0, 8.0)))
    process.send_signal((signal.SIGKILL, signal.SIGTERM)[seed % 2])
    process.communicate(timeout=120)
    kept = RunFile(output / ROWS).read() if output.exists() else []
    done = run("-m", "calipers", "paper", *PAPER, "--seeds", "2", "--output", str(output))
    assert done.returncode == 0, done.stderr
    rows = RunFile(output / ROWS).read()
    assert rows[: len(kept)] == kept
    assert len({(row["method"], row["run"]) for row in rows}) == 4
    assert "</html>" in (output / "report.html").read_text()


# No space


def test_a_full_disk_while_a_metric_is_written(tmp_path: Path) -> None:
    path = tmp_path / "metric.safetensors"
    before = small_file(tmp_path).replace(path).read_bytes()
    code = (
        "import sys; from calipers import load\n"
        "metric = load(sys.argv[1])\n"
        "from calipers.metric.file import FileError\n"
        "try: metric.save(sys.argv[1])\n"
        "except FileError as told: print(told)"
    )
    done = run("-c", code, str(path), limit=500)
    assert done.stdout == (
        f"Cannot write {str(path)!r} (File too large): name another place, or free this one; what "
        "was there before is unchanged.\n"
    )
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_while_rows_are_mapped(tmp_path: Path) -> None:
    metric, rows, mapped = small_file(tmp_path), tmp_path / "rows.csv", tmp_path / "mapped.csv"
    rows.write_text("a,b,c\n" + "1,2,3\n" * 5000)
    mapped.write_text("old")
    words = ("-m", "calipers", "transform", str(metric), str(rows), "-o", str(mapped))
    done = run(*words, limit=20_000)
    assert done.returncode == 2
    assert done.stderr.startswith(f"calipers: Cannot write {str(mapped)!r} (File too large)")
    assert len(done.stderr.splitlines()) == 1
    assert mapped.read_text() == "old"
    assert run(*words).returncode == 0
    assert len(mapped.read_text().splitlines()) == 5001


def test_a_full_disk_during_the_papers_experiments(tmp_path: Path) -> None:
    """Samples that were kept stay, and the same command goes on once there is space."""
    words = ("-m", "calipers", "paper", "--datasets", "wine", "--methods", "euclidean", "--quiet")
    output = ("--seeds", "2", "--output", str(tmp_path / "report"))
    full = run(*words, *output, limit=1500)
    assert full.returncode == 2, full.stderr
    assert "File too large" in full.stderr
    assert "Traceback" not in full.stderr
    assert run(*words, *output).returncode == 0
    assert len(RunFile(tmp_path / "report" / ROWS).read()) == 2


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that takes no files")
@pytest.mark.parametrize("command", ["fit", "transform", "paper"])
def test_a_folder_that_takes_no_files(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.csv"
    a_table(tmp_path)
    words = {
        "fit": ["fit", str(rows), "--label", "y", "-o", "/proc/metric.safetensors"],
        "transform": ["transform", str(small_file(tmp_path)), str(rows), "-o", "/proc/a.csv"],
        "paper": ["paper", "--output", "/proc/report", "--datasets", "wine"],
    }[command]
    assert main(words) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert told[0].startswith("calipers: Cannot ")
