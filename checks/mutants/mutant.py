"""What a mutant is."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """A break of the core."""

    file: str  # below src/calipers
    old: str
    new: str
    why: str
    tests: tuple[str, ...]


def tests(name: str, *words: str) -> tuple[str, ...]:
    """Pytest's words for a file of tests, or for those of them that have one of the words."""
    return f"tests/test_{name}.py", *(("-k", " or ".join(words)) if words else ())
