"""``calipers demo``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from calipers.cli import demo
from calipers.cli.main import main


@pytest.fixture(autouse=True)
def two_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calipers.cli.demo.N_SPLITS", 2)


def test_the_learned_distance_comes_first_and_wins(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "p.svg"
    assert main(["demo", "--json", "--quiet", "--output", str(path)]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    learned, raw, standardised = json.loads(output.out)
    assert learned["distance"] == "learned"
    assert learned["error"] < standardised["error"] < raw["error"]
    assert path.read_text().startswith("<?xml")
    assert main(["demo", "--seed", "1", "--output", str(tmp_path / "p.png")]) == 0
    output = capsys.readouterr()
    assert output.out.startswith("Learned distance: ")
    assert max(map(len, output.out.splitlines())) <= 80
    assert output.err == f"Picture: {tmp_path / 'p.png'}\n"


def test_the_picture_rings_as_many_unseen_wines_as_its_titles_say() -> None:
    split = demo._splits(0)[0]
    assert not {*map(tuple, split[0])} & {*map(tuple, split[2])}
    maps = demo.learned_and_given(split, n_components=2)
    errors = {name: (0.0, demo._error(maps[name], split)) for name in demo.DISTANCES}
    figure = demo.draw(split, maps, errors)
    for panel, name in zip(figure.axes, ("raw", "standardised", "learned"), strict=True):
        rings = np.asarray(panel.collections[-1].get_offsets())
        assert 100 * len(rings) / len(split[3]) == pytest.approx(errors[name][1])
        assert f"{errors[name][1]:.1f} %" in panel.get_title("left")
