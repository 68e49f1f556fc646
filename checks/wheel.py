"""The names of all that is in the wheel and in the source archive, against what belongs there.

A wheel holds the package, its licence and its facts: no tests, no data, nothing compiled. Every
file of the package that git knows is in it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.rows import Column, Report

from checks import ROOT

IN_WHEEL = (
    r"calipers/[\w/]+\.(py|js|css|html)|calipers/py\.typed|"
    r"calipers-[\w.]+\.dist-info/(METADATA|WHEEL|RECORD|entry_points\.txt|licenses/LICENSE)"
)
IN_ARCHIVE = (
    r"(src|tests|benchmarks|checks)/[\w/.-]+\.(py|js|css|html|typed|md)|"
    r"(docs|examples)/[\w/.-]+\.(py|rst|md|css|png|svg|txt)|"
    r"README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|LICENSE|PKG-INFO|pyproject\.toml|"
    r"\.gitignore"
)
NEVER = r"__pycache__|\.py[co]$|\.nb[ic]$|\.npz?$|\.safetensors$|\.env|\.git/"
LARGEST = 2 << 20  # bytes of a wheel

TABLES = {
    "wheel": [
        Column("file", "file", width=32),
        Column("names", "names", ","),
        Column("bytes", "bytes", ",", 10),
        Column("holds", "holds"),
        Column("wrong", "wrong", width=40),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may be asked."""
    parser.add_argument("files", nargs="*", type=Path, help="already built (default: build them)")


def run(asked: argparse.Namespace, report: Report) -> None:
    """Build, list, compare."""
    with TemporaryDirectory() as folder:
        for file in asked.files or built(Path(folder)):
            wrong = wrong_names(file)
            report.add(
                "wheel",
                file=file.name,
                names=len(names_in(file)),
                bytes=file.stat().st_size,
                holds=not wrong and file.stat().st_size <= LARGEST,
                wrong=", ".join(wrong) or "nothing",
            )


def built(folder: Path) -> list[Path]:
    """A wheel and a source archive, made by the build backend that is installed."""
    code = (
        "import sys; from hatchling import build\n"
        "build.build_wheel(sys.argv[1]); build.build_sdist(sys.argv[1])"
    )
    words = [sys.executable, "-c", code, str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return sorted(folder.iterdir())


def names_in(file: Path) -> list[str]:
    """Names of the files inside; those of a source archive without its folder."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            return [name for name in archive.namelist() if not name.endswith("/")]
    with tarfile.open(file) as archive:
        return [part.name.split("/", 1)[1] for part in archive.getmembers() if part.isfile()]


def wrong_names(file: Path) -> list[str]:
    """What should not be there, and what is missing (after a minus)."""
    names, is_wheel = names_in(file), file.suffix == ".whl"
    allowed = re.compile(IN_WHEEL if is_wheel else IN_ARCHIVE)
    wrong = [name for name in names if not allowed.fullmatch(name) or re.search(NEVER, name)]
    known = [str(path.relative_to(ROOT / "src")) for path in _sources()]
    prefix = "" if is_wheel else "src/"
    missing = [f"-{prefix}{name}" for name in known if f"{prefix}{name}" not in names]
    if not any(name.endswith("LICENSE") for name in names):
        missing.append("-LICENSE")
    return wrong + missing


def _sources() -> list[Path]:
    return [
        path
        for path in sorted((ROOT / "src" / "calipers").rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
