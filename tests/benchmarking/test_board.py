"""The board: its page says what its rows say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.board import draw
from benchmarks.rows import machine

from benchmark_rows import finite, run

pytestmark = pytest.mark.usefixtures("no_data_folder")


def test_the_page_is_made_of_the_rows(tmp_path: Path) -> None:
    page = tmp_path / "board.rst"
    words = "--only iris wine --learners NCA Euclidean --seeds 0 1 --most 80 --output"
    rows = run("board", tmp_path, *words.split(), str(page))
    assert len(rows) == 8
    assert all(finite(row, "error", "seconds") for row in rows)
    told = page.read_text(encoding="utf-8")
    assert f"on {rows[0]['run'][:10]}, from commit {machine()['commit']}." in told
    errors = told.split("Seconds of a fit")[0]
    cells = [line.partition("- ")[2] for line in errors.splitlines() if line.startswith("     - ")]
    assert cells[:2] == ["NCA", "raw"]
    for i, name in enumerate(("iris", "wine")):
        for j, choice in enumerate(("NCA", "Euclidean")):
            two = [r["error"] for r in rows if (r["data"], r["choice"]) == (name, choice)]
            said = f"{np.mean(two):.1f} ± {abs(two[0] - two[1]) / 2:.1f}"
            assert cells[2 + 2 * i + j].replace("\u00a0", " ") == said


def test_the_picture_is_made_of_the_rows(tmp_path: Path) -> None:
    page = tmp_path / "board.rst"
    words = "--only iris wine --learners NCA Euclidean --seeds 0 1 --most 80 --output"
    rows = run("board", tmp_path, *words.split(), str(page))
    assert ".. image:: board.png" in page.read_text(encoding="utf-8")
    assert page.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    drawn: list[Any] = list(draw(rows).axes[0].containers)
    for choice, points in zip(("NCA", "Euclidean"), drawn, strict=True):
        for i, name in enumerate(("iris", "wine")):
            errors = [r["error"] for r in rows if (r["data"], r["choice"]) == (name, choice)]
            assert points.lines[0].get_xdata()[i] == pytest.approx(np.mean(errors))
