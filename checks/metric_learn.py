"""metric-learn's own tests, with our classes for its classes: what it holds them to, ours do.

pip downloads metric-learn's source archive, which has its tests; `checks.switched` gives our
classes the names and words of metric-learn, by the tables of docs/metric_learn.rst. The texts of
messages are not compared. Tests that make no class of ours are not counted.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.rows import Column, Report

from checks import ROOT, clean_environment

VERSION = "0.7.0"

REASONS = {
    r"init='random'": "nothing starts at random",
    r"test_auto_init.*(AssertionError|ValueError)": "init='auto' follows another rule",
    r"Invalid parameter 'random_state'": "nothing is drawn at random",
    r"Invalid parameter 'init' for estimator MMC": "MMC begins at the identity",
    r"test_singular.*LSML_Supervised.*LinAlgError": "an initial metric may be singular",
    r"test_base_metric.*AssertionError: '(\w+)\(.*' != '\1\(": "parameters have other names",
    r"test_check_input_pairs_learners_invalid_y.*DID NOT": "labels of pairs may be any two",
    r"needs at least 2 pairs of each kind": "the threshold is set on held-out pairs",
    r"test_score_pairs_warning.*FutureWarning": "metric-learn deprecated score_pairs",
    r"beta must be a number that is not negative": "a negative beta is refused",
    r"test_calibrate_threshold_extreme.*Error": "a subclass of metric-learn's private classes",
    r"test_get_metric_works.*IndexError": "components_ is always a matrix",
    r"'scoring' parameter": "scikit-learn has no such scorer any more",
}
"""Why a behaviour is another here, by a pattern of ``file::test: what it said``."""

TABLES = {
    "metric-learn": [
        Column("behaviour", "behaviour", width=66),
        Column("tried", "tried"),
        Column("hold", "held"),
        Column("reasons", "reasons", width=0),
        Column("unexplained", "unexplained", width=0),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--archive", type=Path, help="a source archive that was downloaded before")


def run(args: argparse.Namespace, report: Report) -> None:
    """Download, run the tests, and say which hold."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with tarfile.open(args.archive or downloaded(folder)) as archive:
            if hasattr(tarfile, "data_filter"):  # Python 3.11.4
                archive.extractall(folder, filter="data")
            else:
                archive.extractall(folder)
        rows = list(tested(next(folder.glob("metric*learn-*/"))))
    tried = [row for row in rows if row["is_ours"] and row["outcome"] != "skipped"]
    for behaviour in dict.fromkeys(map(_behaviour, tried)):
        of_it = [row for row in tried if _behaviour(row) == behaviour]
        reasons = {reason_of(row) for row in of_it if row["outcome"] == "failed"} - {""}
        report.add(
            "metric-learn",
            behaviour=behaviour,
            tried=len(of_it),
            held=sum(row["outcome"] == "passed" for row in of_it),
            reasons="; ".join(sorted(reasons)),
            unexplained=" ".join(_text(row) for row in of_it if _is_unexplained(row)),
            holds=not any(map(_is_unexplained, of_it)),
        )
    n_held = sum(row["outcome"] == "passed" for row in tried)
    n_open = sum(map(_is_unexplained, tried))
    report.say(f"\n{n_held} of {len(tried)} tests hold; {n_open} do not and have no reason")


def downloaded(folder: Path) -> Path:
    """Download metric-learn's source archive."""
    words = ["download", "--quiet", "--no-deps", "--no-binary", "metric-learn"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words, f"metric-learn=={VERSION}"],
        cwd=folder,
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    if done.returncode:
        raise SystemExit(
            f"The source archive of metric-learn {VERSION} could not be downloaded from PyPI: go "
            "online, or pass --archive FILE."
        )
    return next(folder.glob("metric*learn-*.tar.gz"))


def tested(folder: Path) -> Iterable[dict[str, Any]]:
    """Run the tests of an unpacked archive with our classes; return a row for each."""
    (folder / "test" / "__init__.py").touch()  # or Python's own package is found
    for file in (folder / "test").glob("test_*.py"):
        file.write_text(without_messages(file.read_text()))
    rows = folder / "rows.jsonl"
    path = os.pathsep.join([str(folder), str(ROOT)])
    words = ["-q", "-W", "ignore", "--tb=no", "-c", os.devnull, "--rootdir", ".", "test"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "checks.switched", "-p", "no:cacheprovider", *words],
        cwd=folder,
        env={**clean_environment(), "PYTHONPATH": path, "SWITCHED_ROWS": str(rows)},
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1) or not rows.exists():  # 1: some tests failed
        raise SystemExit(f"metric-learn's tests did not run:\n{done.stdout[-3000:]}{done.stderr}")
    return map(json.loads, rows.read_text().splitlines())


class _WithoutMessages(ast.NodeTransformer):
    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        return node  # its assertion says that nothing may go wrong

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        parts = list(ast.walk(node.test))
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
        is_of_text = names & {"msg", "expected_msg"} or attributes & {"value", "message"}
        return ast.Pass() if is_of_text else node


def without_messages(source: str) -> str:
    """Leave out assertions about the text of an error or a warning.

    >>> without_messages("assert str(raised.value) == 'No.'")
    'pass'
    """
    return ast.unparse(_WithoutMessages().visit(ast.parse(source)))


def reason_of(row: dict[str, Any]) -> str:
    """Find the written reason of a test that does not hold; empty without one."""
    text = f"{_text(row)}: {row['said']}"
    found = (why for pattern, why in REASONS.items() if re.search(pattern, text, re.DOTALL))
    return next(found, "")


def _is_unexplained(row: dict[str, Any]) -> bool:
    return row["outcome"] == "failed" and not reason_of(row)


def _text(row: dict[str, Any]) -> str:
    return f"{row['file']}::{row['test']}"


def _behaviour(row: dict[str, Any]) -> str:
    """Name of a test without its parameters."""
    return _text(row).split("[")[0].removeprefix("test_")
