"""Killed, out of space: what was there stays, and nothing half is found."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from calipers import load
from metric_files import small_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

WRITER = """
import os, pathlib, signal, sys
from calipers.data.files import atomic_write

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

moment, path = sys.argv[1:]
if moment == "before it is on the disk":
    os.fsync = die
if moment == "before it takes its name":
    pathlib.Path.replace = os.replace = die
with atomic_write(path) as stream:
    stream.write(b"half of it")
    stream.flush()
    if moment == "while it is written":
        die()
    stream.write(b" and the rest")
"""

MOMENTS = ("while it is written", "before it is on the disk", "before it takes its name")


def run(*words: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
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
        preexec_fn=obey,
    )


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_any_moment_of_writing(moment: str, tmp_path: Path) -> None:
    path = tmp_path / "metric.safetensors"
    path.write_bytes(b"what was there")
    assert run("-c", WRITER, moment, str(path)).returncode != 0
    assert path.read_bytes() == b"what was there"
    drafts = [file.name for file in tmp_path.iterdir() if file != path]
    assert all(draft.endswith(".part") for draft in drafts)
    small_file(tmp_path).replace(path)
    assert load(path).n_features_in_ == 3


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
