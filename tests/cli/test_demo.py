"""``calipers demo``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calipers.cli.main import main


def test_the_learned_distance_wins(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "p.svg"
    assert main(["demo", "--json", "--quiet", "--output", str(path)]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    learned, raw, standardised = json.loads(output.out)["distances"]
    assert learned["knn_error"] < standardised["knn_error"] < raw["knn_error"]
    assert path.read_text().startswith("<?xml")
