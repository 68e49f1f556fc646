"""Every package that the code imports is one that the core or an extra brings."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMES = {
    "scikit-learn": {"sklearn"},
    "faiss-cpu": {"faiss"},
    "dask": {"dask", "distributed"},
}
FOR_DEVELOPERS = {"test", "docs", "dev"}
BY_PANDAS = {"tables"}  # pandas calls pyarrow and openpyxl
THEIRS = {"torch", "sentence_transformers"}  # who asks for them has them


def modules(requirements: list[str]) -> set[str]:
    names = {re.split(r"[\[<>=!~; ]", each)[0] for each in requirements}
    return {module for name in names for module in NAMES.get(name, {name})}


def imported() -> Iterator[tuple[str, Path]]:
    """Top-level packages that the sources import, with the file."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((alias.name.split(".")[0], path) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.split(".")[0], path


def test_every_import_is_of_the_core_or_of_a_named_extra() -> None:
    core = modules(PROJECT["dependencies"])
    extras = PROJECT["optional-dependencies"]
    optional = {
        module: extra
        for extra in reversed(extras)  # of those that bring it, the first
        if extra not in FOR_DEVELOPERS
        for module in modules(extras[extra])
    }
    said = (ROOT / "docs" / "quickstart.rst").read_text(encoding="utf-8")
    missed: dict[str, set[str]] = {}
    for module, path in imported():
        if module in optional:
            missed.setdefault(optional[module], set()).add(path.read_text(encoding="utf-8"))
        else:
            assert module in core | THEIRS | {"calipers"} | sys.stdlib_module_names, (
                f"{path}: {module}"
            )
    for extra, sources in missed.items():
        assert f"``calipers[{extra}]``" in said
        assert any("except ImportError" in source for source in sources), extra
    assert set(missed) | BY_PANDAS == set(extras) - FOR_DEVELOPERS


def test_the_extras_for_developers_bring_all_others() -> None:
    extras = PROJECT["optional-dependencies"]
    for extra in set(extras) - FOR_DEVELOPERS:
        assert any(extra in re.split(r"[\[\],]", each) for each in extras["test"])
    assert "calipers[test,docs]" in extras["dev"]
