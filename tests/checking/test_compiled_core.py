"""A compiled core that is missing or damaged is told in one sentence that says what to do."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import calipers

ROOT = Path(__file__).parents[2]
SENTENCE = (
    r"ImportError: The compiled core of calipers cannot be loaded \(.*\): install calipers again "
    r"by 'python -m pip install --force-reinstall calipers'\."
)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the installed package, to be damaged."""
    installed = Path(calipers.__file__).parent
    if not [*installed.glob("_core/compiled.*.so"), *installed.glob("_core/compiled.*.pyd")]:
        pytest.skip("installed in place, not from a wheel")
    ignored = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(installed, tmp_path / "copy" / "calipers", ignore=ignored)


@pytest.mark.parametrize("content", [None, b"no library"])
def test_a_missing_or_damaged_library_is_told(package: Path, content: bytes | None) -> None:
    (file,) = (file for file in (package / "_core").iterdir() if file.suffix in (".so", ".pyd"))
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    code = f"import sys; sys.path[:0] = [{str(package.parent)!r}]; import calipers._core"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert re.fullmatch(SENTENCE, done.stderr.splitlines()[-1])


def test_every_file_of_the_core_is_included() -> None:
    core = ROOT / "src" / "calipers" / "_core"
    included = re.findall(r'include "(\w+\.pxi)"', (core / "compiled.pyx").read_text())
    assert sorted(included) == sorted(file.name for file in core.glob("*.pxi"))
