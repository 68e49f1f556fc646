"""The package as a whole: names, maps of folders, and constants that mean one thing."""

from __future__ import annotations

import ast
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import calipers
import calipers.estimators

ROOT = Path(calipers.__file__).parent
MODULES = [module.name for module in pkgutil.walk_packages([str(ROOT)], "calipers.")]
PACKAGES = sorted(
    path.parent.relative_to(ROOT).as_posix()
    for path in ROOT.rglob("__init__.py")
    if path.parent != ROOT and len(list(path.parent.glob("*.py"))) > 1
)


def constants() -> Iterator[tuple[str, str, str]]:
    """(name, value, file) of every assignment to a constant of a module."""
    for path in ROOT.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and re.fullmatch(r"_?[A-Z][A-Z0-9_]+", target.id):
                    yield target.id, ast.unparse(node.value), path.relative_to(ROOT).as_posix()


def test_one_constant_name_has_one_value() -> None:
    values: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, value, file in constants():
        values[name.lstrip("_")][value].append(file)
    ambiguous = {name: dict(found) for name, found in values.items() if len(found) > 1}
    assert not ambiguous
    assert len(values) > 50


@pytest.mark.parametrize("folder", PACKAGES)
def test_the_map_of_a_folder_names_every_module(folder: str) -> None:
    documentation = import_module("calipers." + folder.replace("/", ".")).__doc__ or ""
    inside = {path.stem for path in (ROOT / folder).glob("*.py")} - {"__init__", "__main__"}
    inside |= {path.parent.name for path in (ROOT / folder).glob("*/__init__.py")}
    named = set(re.findall(r"\w+", documentation))
    assert inside <= named, f"not in the map: {sorted(inside - named)}"
    first = set(re.findall(r"^(\w+) {1,}\S", documentation, flags=re.M)) & named
    table = documentation.count("===") > 0
    assert not table or {name for name in first if name.islower()} - inside <= {"module", "name"}


def test_every_module_can_be_imported() -> None:
    for name in MODULES:
        if not name.endswith("__main__"):
            import_module(name)


def test_names_are_those_promised() -> None:
    for name in calipers.__all__:
        assert getattr(calipers, name) is not None
        assert name in dir(calipers)
    with pytest.raises(AttributeError) as caught:
        calipers.TripleSGD  # noqa: B018
    assert str(caught.value) == "module 'calipers' has no attribute 'TripleSGD'"
