"""The pages: every public name is in the reference, and what they name exists."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from inspect import getmodule, isclass, isroutine
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from benchmarks.__main__ import _parser as benchmarks_parser
from checks.__main__ import COMMANDS as CHECKS

from calipers.cli.main import _parser as calipers_parser

DOCS = Path(__file__).parents[1] / "docs"
LISTED = ("calipers", "calipers.evaluation")  # by __all__
WHOLE = ("calipers.plot", "calipers.recipes")  # every class and function that is defined there


def pages() -> list[Path]:
    """The pages, the scripts that are pages, and the texts beside them that are no history."""
    root = DOCS.parent
    texts = [root / name for name in ("README.md", "CONTRIBUTING.md")]
    return [
        *DOCS.glob("*.rst"),
        *DOCS.glob("search/*.rst"),
        *(root / "examples").glob("*.py"),
        *texts,
    ]


def documented() -> list[str]:
    """The names in the reference, in full."""
    module, names = "", []
    text = (DOCS / "api.rst").read_text(encoding="utf-8").partition("\n.. _weights:")[0]
    for line in text.splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   [\w.]+", line):
            names.append(f"{module}.{line.strip()}")
    return names


def defined_in(module: ModuleType) -> set[str]:
    """Public classes and functions of a module: its own, or those that it lists."""
    listed = getattr(module, "__all__", None)
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (isclass(value) or isroutine(value))
        and (getmodule(value) is module if listed is None else name in listed)
    }


@pytest.mark.parametrize("name", [*LISTED, *WHOLE])
def test_every_public_name_is_in_the_reference(name: str) -> None:
    module = import_module(name)
    public = set(module.__all__) if name in LISTED else defined_in(module)
    public -= {"__version__", "evaluation", "plot", "recipes"}  # modules whose names are listed
    assert public
    assert {f"{name}.{each}" for each in public} <= set(documented())


def test_every_name_of_the_reference_exists_once_and_is_documented() -> None:
    names = documented()
    assert len(names) == len(set(names)) > 50
    for name in names:
        home, _, own = name.rpartition(".")
        value = getattr(import_module(home), own)
        if isclass(value) or isroutine(value):
            assert value.__doc__, name


def test_the_pages_name_files_that_exist() -> None:
    root = DOCS.parent
    folders = ("src", "tests", "docs", "examples", "benchmarks")
    files = [file.name for folder in folders for file in (root / folder).rglob("*.*")]
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for named in re.findall(r"`([\w/]+\.(?:py|pxi|rst))`", text):
            assert named.split("/")[-1] in files, f"{page.name}: {named}"


def test_the_pages_link_to_files_that_exist() -> None:
    for page in DOCS.parent.glob("*.md"):
        for named in re.findall(r"\]\(([^):]+)\)", page.read_text(encoding="utf-8")):
            assert (DOCS.parent / named).exists(), f"{page.name}: {named}"


def test_the_glossary_has_each_word_once() -> None:
    glossary = (DOCS / "api.rst").read_text("utf-8").partition("\nGlossary\n")[2]
    words = re.findall(r"^   (\w[\w -]*)$", glossary, re.M)
    assert len(words) == len(set(words)) > 40
    assert {"sample", "anchor", "margin", "slope", "round", "recipe"} <= set(words)


def commands(text: str) -> list[list[str]]:
    """The words of each command on a page: on a line of its own, or quoted in a sentence."""
    text = text.replace("\\\n", " ")  # a command may go on in the next line
    lines = re.findall(r"^ +(?:\$ )?(?:\.venv/bin/)?((?:calipers|python -m) .*)$", text, re.M)
    quoted = re.findall(r"`((?:calipers|python -m) [^`]*)`", re.sub(r"\s+", " ", text))
    return [shlex.split(line, comments=True) for line in [*lines, *quoted]]


def test_commands_are_found_on_lines_and_in_sentences() -> None:
    text = "Run ``calipers\nfit --label y``, or\n\n   $ python -m benchmarks board  # a page\n"
    found = [["python", "-m", "benchmarks", "board"], ["calipers", "fit", "--label", "y"]]
    assert commands(text) == found


def subcommands(parser: Any) -> dict[str, set[str]]:
    """Options of each command of a program."""
    (action,) = parser._subparsers._group_actions
    return {name: set(each._option_string_actions) for name, each in action.choices.items()}


@pytest.mark.parametrize("page", [*pages(), DOCS.parent / "benchmarks" / "README.md"], ids=str)
def test_the_pages_name_commands_and_options_that_exist(page: Path) -> None:
    programs = {
        "calipers": subcommands(calipers_parser()),
        "benchmarks": subcommands(benchmarks_parser()),
        "checks": {name: {"--cases", "--each", "--rows"} for name in CHECKS},
    }
    for words in commands(page.read_text(encoding="utf-8")):
        program, *rest = words if words[0] == "calipers" else words[2:]
        if not rest or not rest[0].isalpha() or rest[0].isupper():
            continue  # named without a command
        if program in programs:
            known = programs[program]
            assert rest[0] in known, (page.name, words)
            assert {word for word in rest if re.match("--?[a-z]", word)} <= known[rest[0]], words
