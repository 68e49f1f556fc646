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
    r"ImportError: the compiled core of calipers cannot be loaded by this Python 3\.\d+ \(.*\): "
    r"install calipers again by 'python -m pip install --force-reinstall --no-deps calipers' .*"
)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the installed package, to be damaged."""
    installed = Path(calipers.__file__).parent
    if not [*installed.glob("_core/compiled.*.so"), *installed.glob("_core/compiled.*.pyd")]:
        pytest.skip("installed in place, not from a wheel")
    ignored = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(installed, tmp_path / "copy" / "calipers", ignore=ignored)


def library(package: Path) -> Path:
    (file,) = (file for file in (package / "_core").iterdir() if file.suffix in (".so", ".pyd"))
    return file


def errors(package: Path, code: str = "import calipers") -> list[str]:
    """What an interpreter that finds this copy first says, line by line."""
    words = f"import sys; sys.path.insert(0, {str(package.parent)!r}); {code}"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, timeout=60)
    return done.stderr.splitlines()


def test_a_whole_copy_is_imported(package: Path) -> None:
    assert errors(package) == []


def test_a_missing_library_is_told(package: Path) -> None:
    library(package).unlink()
    *_, last = told = errors(package)
    assert re.fullmatch(SENTENCE, last)
    assert "(it is missing)" in last
    assert "During handling" not in "".join(told)


@pytest.mark.parametrize("code", ["import calipers", "from calipers.solvers.parts import Hinge"])
def test_a_damaged_library_is_told_with_the_reason(package: Path, code: str) -> None:
    library(package).write_bytes(b"no library")
    last = errors(package, code)[-1]
    assert re.fullmatch(SENTENCE, last)
    assert library(package).name in last


def test_a_library_of_another_module_is_noticed(package: Path) -> None:
    import _json

    other = Path(getattr(_json, "__file__", ""))
    if other.suffix not in (".so", ".pyd"):
        pytest.skip("this Python has its own modules inside")
    shutil.copy(other, library(package))
    assert re.fullmatch(SENTENCE, errors(package)[-1])


def test_a_library_for_another_python_is_not_taken(package: Path) -> None:
    file = library(package)
    file.rename(file.with_name(f"compiled.cpython-39-other{file.suffix}"))
    assert "(it is missing)" in errors(package)[-1]


def test_a_scipy_that_does_not_fit_is_told_with_the_advice(package: Path) -> None:
    code = (
        "import calipers, types, scipy.linalg.cython_blas\n"
        "other = types.ModuleType('scipy.linalg.cython_blas'); other.__pyx_capi__ = {}\n"
        "sys.modules[other.__name__] = scipy.linalg.cython_blas = other\n"
        "import calipers._core.compiled"
    )
    *_, last = told = errors(package, code)
    assert "(scipy.linalg.cython_blas does not export expected C function " in last
    assert "install calipers and scipy again by 'python -m pip install --force-reinstall " in last
    assert "During handling" not in "".join(told)


def test_what_else_fails_below_is_not_ours_to_explain(package: Path) -> None:
    code = "sys.modules['scipy.linalg.cython_blas'] = None; import calipers._core.compiled"
    assert errors(package, code)[-1].startswith("ModuleNotFoundError: import of scipy.linalg")


def test_every_file_of_the_core_is_included() -> None:
    core = ROOT / "src" / "calipers" / "_core"
    included = re.findall(r'include "(\w+\.pxi)"', (core / "compiled.pyx").read_text())
    assert sorted(included) == sorted(file.name for file in core.glob("*.pxi"))
