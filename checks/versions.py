"""The core tests under the lowest and the newest versions of what is required.

The lowest are those that ``pyproject.toml`` promises, for dependencies and extras alike;
the newest are what the package index has today. Both are installed afresh, which needs a
network.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.rows import Column, Report

from checks import ROOT, clean_environment

CORE = (
    "tests/test_*.py",
    "tests/cli/test_*.py",
    "tests/core/test_*.py",
    "tests/data/**/test_*.py",
    "tests/estimators/test_*.py",
    "tests/metric/file/test_*.py",
    "tests/data/test_neighbors.py",
    "tests/solvers/test_*.py",
    "tests/triplets/test_*.py",
)
SHOWN = ("numpy", "scipy", "scikit-learn")

TABLES = {
    "versions": [
        Column("versions", "which", width=8),
        Column("python", "python", width=8),
        *(Column(package, package, width=12) for package in SHOWN),
        Column("seconds", "seconds", ".0f"),
        Column("holds", "holds"),
        Column("tests", "summary", width=60),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("which", nargs="*", default=["lowest", "newest"], metavar="WHICH")
    parser.add_argument("--tests", nargs="+", default=CORE, metavar="FILE")
    parser.add_argument("--folder", type=Path, help="keep the environments here")


def run(args: argparse.Namespace, report: Report) -> None:
    """Install and test."""
    with TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        for which in args.which:
            _check(which, folder / which, args.tests, report)


def lowest(project: dict[str, Any] | None = None) -> list[str]:
    """Constraints that hold every requirement at the lowest version promised.

    >>> lowest({"dependencies": ["numpy>=2.0"], "optional-dependencies": {"x": ["dask[a]>=2.2"]}})
    ['numpy==2.0', 'dask==2.2']
    """
    if project is None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    needed: list[str] = list(project["dependencies"])
    for name, requirements in extras.items():
        if name not in ("dev", "docs", "stores"):  # tools are used, not required
            needed += [text for text in requirements if not text.startswith("calipers")]
    return [re.sub(r"\[.*\]", "", text).replace(">=", "==") for text in needed]


def _check(which: str, folder: Path, tests: Sequence[str], report: Report) -> None:
    started = perf_counter()
    python = folder / "bin" / "python"
    folder.mkdir(parents=True, exist_ok=True)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(lowest()) if which == "lowest" else "")
    _run(sys.executable, "-m", "venv", folder)
    _run(python, "-m", "pip", "install", "--quiet", "-c", constraints, f"{ROOT}[test]")
    files = [str(file.relative_to(ROOT)) for name in tests for file in sorted(ROOT.glob(name))]
    # old versions are told off by newer ones of what they require themselves
    patience = ["-W", "ignore::DeprecationWarning"] if which == "lowest" else []
    output = folder / "output.txt"
    with output.open("w") as stream:
        done = subprocess.run(
            [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *patience, *files],
            cwd=ROOT,
            env=clean_environment(),
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    told = output.read_text().splitlines() or ["nothing was printed"]
    report.add(
        "versions",
        which=which,
        holds=done.returncode == 0,
        summary=told[-1].strip("= "),
        seconds=perf_counter() - started,
        failed=[line for line in told if line.startswith(("FAILED", "ERROR"))],
        **_installed(python),
    )


def _run(*words: str | Path) -> None:
    done = subprocess.run(words, capture_output=True, text=True, env=clean_environment())
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} failed:\n{done.stderr[-3000:]}")


def _installed(python: Path) -> dict[str, str]:
    code = (
        "import platform; from importlib.metadata import distributions\n"
        "print('python', platform.python_version())\n"
        "for d in distributions(): print(d.metadata['Name'], d.version)"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())
