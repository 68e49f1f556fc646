"""Every example in a docstring of the installed package runs."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import calipers

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = [
    name
    for _, name, _ in walk_packages(calipers.__path__, "calipers.")
    if name != "calipers._core.compiled" and not name.endswith("__main__")
]


@pytest.mark.parametrize("name", ["calipers", *MODULES])
def test_examples_run(name: str) -> None:
    failed, _ = doctest.testmod(import_module(name), optionflags=OPTIONS)
    assert failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(import_module(name))]
    assert sum(bool(test.examples) for test in found) > 50
