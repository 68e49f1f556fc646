"""Files are read with NumPy and safetensors alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from metric_files import small_file

BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"sklearn", "scipy", "pandas", "joblib"}:
            raise ImportError(f"{name} is not installed here")

sys.meta_path.insert(0, Blocked())
"""
READ = """
from calipers.metric.file import read, write
contents = read(sys.argv[1])
print(contents.learner, contents.components.shape, contents.group("facts")["loss_curve_"])
write(contents, sys.argv[2])
from calipers.metric.file.checkpoint import read_states
print(read_states(__import__("pathlib").Path(sys.argv[1] + ".none")))
"""


def run(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_reading_needs_neither_scikit_learn_nor_scipy(tmp_path: Path) -> None:
    path, copy = small_file(tmp_path), tmp_path / "copy"
    done = run(READ, str(path), str(copy))
    assert (done.stdout, done.stderr) == ("TripletSGD (2, 3) [1.  0.5]\n[]\n", "")
    assert copy.read_bytes() == path.read_bytes()


def test_the_block_works() -> None:
    assert (
        "ImportError: sklearn is not installed here" in run("import calipers.metric.saved").stderr
    )
