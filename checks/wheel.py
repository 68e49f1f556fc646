"""The names of all that is in the wheel and in the source archive, against what belongs there.

A wheel holds the package, its compiled core with the types, its licence and its facts: no tests, no
data, no sources of the core. A source archive is made of what git has committed. Every file of the
package is in it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.rows import Column, Report

from checks import ROOT

IN_WHEEL = (
    r"calipers/[\w/]+\.(py|js|css|html)|calipers/py\.typed|"
    r"calipers/_core/\w+(\.pyi|(\.[\w-]+)?\.(so|pyd))|"
    r"calipers-[\w.]+\.dist-info/(METADATA|WHEEL|RECORD|entry_points\.txt|licenses/LICENSE)"
)
IN_ARCHIVE = (
    r"(src|tests|benchmarks|checks)/[\w/.-]+\.(py|html|npz|typed|md)|"
    r"src/calipers/_core/\w+\.(pyx|pxi|pyi|c|h)|([\w/]+/)?meson\.build|"
    r"(docs|examples)/[\w/.-]+\.(py|rst|md|css|html|png|svg|txt)|"
    r"\.ci/[\w.]+|\.github/workflows/\w+\.yml|"
    r"README\.md|CHANGELOG\.md|CONTRIBUTING\.md|LICENSE|PKG-INFO|pyproject\.toml|"
    r"\.gitignore"
)
NEVER = r"__pycache__|\.py[co]$|\.npy$|\.safetensors$|\.env|\.git/"
BY_PIP = (
    r"^(\.\./)+(bin|Scripts)/calipers|__pycache__/|"
    r"dist-info/(INSTALLER|REQUESTED|direct_url\.json)$"
)
FOR_THE_BUILD = (".pyx", ".pxi", ".c", ".h", ".build")
LIBRARIES = (".so", ".pyd")  # of a build in place
LARGEST = 4 << 20  # bytes of a wheel

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
    """Add the options."""
    parser.add_argument("files", nargs="*", type=Path, help="already built (default: build them)")


def run(args: argparse.Namespace, report: Report) -> None:
    """Build, list, compare."""
    with TemporaryDirectory() as folder:
        for file in args.files or built(Path(folder)):
            wrong = wrong_names(names_in(file), is_wheel=file.suffix == ".whl")
            report.add(
                "wheel",
                file=file.name,
                names=len(names_in(file)),
                bytes=file.stat().st_size,
                holds=not wrong and file.stat().st_size <= LARGEST,
                wrong=", ".join(wrong) or "nothing",
            )


def tools() -> str:
    """Where the build's programs are looked for: beside Python first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def built(folder: Path, *kinds: str) -> list[Path]:
    """A wheel and a source archive, made by the build backend that is installed."""
    code = (
        "import mesonpy, sys; folder, *kinds = sys.argv[1:]\n"
        "for kind in kinds: getattr(mesonpy, f'build_{kind}')(folder)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), *(kinds or ("wheel", "sdist"))],
        cwd=ROOT,
        env={**os.environ, "PATH": tools()},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"nothing was built:\n{(done.stdout + done.stderr)[-3000:]}")
    return sorted(folder.iterdir())


def names_in(file: Path) -> list[str]:
    """Names of the files inside; those of a source archive without its folder."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            return [name for name in archive.namelist() if not name.endswith("/")]
    with tarfile.open(file) as archive:
        return [part.name.split("/", 1)[1] for part in archive.getmembers() if part.isfile()]


def names_installed() -> list[str]:
    """Names of the files that the wheel had from which this package was installed."""
    names = [file.as_posix() for file in metadata.files("calipers") or ()]
    return [name for name in names if not re.search(BY_PIP, name)]


def wrong_names(names: Iterable[str], *, is_wheel: bool) -> list[str]:
    """What should not be there, and what is missing (after a minus)."""
    names = list(names)
    allowed = re.compile(IN_WHEEL if is_wheel else IN_ARCHIVE)
    wrong = [name for name in names if not allowed.fullmatch(name) or re.search(NEVER, name)]
    present = {_without_tag(name) for name in names}
    missing = [f"-{name}" for name in _expected(is_wheel) if name not in present]
    if not any(name.endswith("LICENSE") for name in names):
        missing.append("-LICENSE")
    return wrong + missing


def _without_tag(name: str) -> str:
    """Name of a file; that of a library without the Python and platform it is for."""
    path = Path(name)
    if path.suffix not in LIBRARIES:
        return name
    return (path.parent / f"{path.name.split('.')[0]}.library").as_posix()


def _expected(is_wheel: bool) -> list[str]:
    """Files of the package: a wheel has a library for every source of the core."""
    sources = [
        path.relative_to(ROOT / "src")
        for path in sorted((ROOT / "src" / "calipers").rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in LIBRARIES
    ]
    if not is_wheel:
        return [f"src/{path.as_posix()}" for path in sources]
    libraries = [path.with_suffix(".library") for path in sources if path.suffix == ".pyx"]
    read = [path for path in sources if path.suffix not in FOR_THE_BUILD]
    return [path.as_posix() for path in read + libraries]
