"""Python modules changed in small ways, one change at a time; their tests must notice each.

Mutmut makes the changes, in a copy of the repository, and runs the tests that mirror the module
(``tests/test_plan*.py`` for ``plan.py``). A module holds if the share of mutants that a test
notices is at least ``--least``: some mutants change nothing that can be seen, others only the
words of a message. Those that survived are named. Compiled code is held by differential tests.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.rows import Column, Report

from checks import ROOT, clean_environment

MODULES = (
    *("plan", "init", "coordinates", "rounds", "training", "selection", "recipes"),
    *("checkpoint", "stream"),
)
COPIED = ("src", "tests", "benchmarks", "checks", "docs", "README.md", "pyproject.toml")

TABLES = {
    "mutate": [
        Column("module", "module", width=14),
        Column("mutants", "total", ","),
        Column("noticed", "noticed", ","),
        Column("survived", "survived", ","),
        Column("not tested", "no_tests", ",", 10),
        Column("seconds", "seconds", ".0f"),
        Column("holds", "holds"),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE", help=f"(default: {' '.join(MODULES)})"
    )
    parser.add_argument(
        "--tests", nargs="+", metavar="FILE", help="run these instead of those that mirror it"
    )
    parser.add_argument(
        "--least", type=float, default=0.8, help="share to be noticed (default: %(default)s)"
    )
    parser.add_argument("--show", action="store_true", help="what the survivors change, too")
    parser.add_argument("--processes", type=int, default=2)


def run(args: argparse.Namespace, report: Report) -> None:
    """Mutate one module after the other."""
    for module in args.modules or MODULES:
        started, tests = perf_counter(), args.tests or mirrors(module)
        if not tests:
            report.skip("mutate", f"no tests/test_{module}*.py", module=module, holds=False)
            continue
        with TemporaryDirectory() as temporary:
            copy = Path(temporary)
            _copy(copy, module, tests)
            counts = _mutate(copy, args.processes)
            survivors = _survivors(copy)
            for name in survivors:
                report.say(_mutmut(copy, "show", name) if args.show else name)
        noticed = counts["total"] - counts["survived"] - counts["no_tests"]
        report.add(
            "mutate",
            module=module,
            tests=tests,
            **counts,
            noticed=noticed,
            survivors=survivors,
            seconds=perf_counter() - started,
            holds=noticed >= args.least * counts["total"],
        )


def mirrors(module: str) -> list[str]:
    """Files of tests that mirror a module."""
    return [str(file.relative_to(ROOT)) for file in sorted(ROOT.glob(f"tests/test_{module}*.py"))]


def _copy(folder: Path, module: str, tests: list[str]) -> None:
    """Copy the repository, and tell mutmut what to do there."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "_build", "auto_examples")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    settings = {
        "source_paths": ["src"],
        "only_mutate": [f"src/calipers/{module}.py"],
        "also_copy": [name for name in COPIED if name not in ("src", "tests")],
        "pytest_add_cli_args": ["-p", "no:cacheprovider"],
        "pytest_add_cli_args_test_selection": tests,
    }
    with (folder / "pyproject.toml").open("a") as file:
        file.write("\n[tool.mutmut]\nuse_git_change_detection = false\n")
        file.writelines(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())


def _mutate(folder: Path, n_processes: int) -> dict[str, int]:
    """Run mutmut; how many mutants came to what."""
    _mutmut(folder, "run", "--max-children", str(n_processes))
    _mutmut(folder, "export-cicd-stats")
    counts = json.loads((folder / "mutants/mutmut-cicd-stats.json").read_text())
    return {name: counts[name] for name in ("total", "survived", "no_tests")}


def _survivors(folder: Path) -> list[str]:
    """Names of the mutants that no test noticed."""
    lines = _mutmut(folder, "results").splitlines()
    return [line.split(":")[0].strip() for line in lines if line.endswith(": survived")]


def _mutmut(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mutmut", *words],
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = (done.stdout + done.stderr)[-2000:]
        raise SystemExit(f"mutmut {words[0]} failed:\n{said}")
    return done.stdout
