"""Some attacks; ``python -m checks attack`` draws thousands, others each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attacks import attack

TIMES = {"kinds": 60, "table": 60, "foreign": 20, "environment": 2}


def times(name: str, n: int, folder: Path) -> set[str]:
    places = [folder / str(seed) for seed in range(n)]
    for place in places:
        place.mkdir()
    return {attack(name, seed, place) for seed, place in enumerate(places)}


@pytest.mark.parametrize("name", TIMES)
def test_attacks(name: str, tmp_path: Path) -> None:
    seen = times(name, TIMES[name], tmp_path)
    assert seen <= {"held", "refused"}
    assert TIMES[name] < 60 or "held" in seen


def as_float(cell: Any) -> str:
    try:
        return str(float(cell))
    except ValueError:
        return str(cell)


MISTAKES: dict[str, tuple[str, Any]] = {
    "table": ("calipers.data.tables.text_of", as_float),
    "foreign": ("calipers.data.files.escaped", str),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_of_the_package_would_be_noticed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*MISTAKES[name])
    with pytest.raises(AssertionError, match=r"labels|: "):
        times(name, 60, tmp_path)
