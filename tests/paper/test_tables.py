"""Rows as the paper's tables, held to the paper's numbers, on one page."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Any

import pytest

from calipers.paper import check, figures, report
from calipers.paper.datasets import FORMS
from calipers.paper.runs import Row
from calipers.paper.tables import Cell, Results, Table, tables

ORIGIN = {
    "n_triplets": 100_000,
    "calipers": "0.1.0",
    **dict.fromkeys(("python", "numpy", "scipy", "scikit-learn"), "1.0"),
    "cpu": "<b>CPU</b>",
    "cores": 2,
    "threads": 1,
}


def row(dataset: str, method: str, run: int = 0, **parts: Any) -> Row:
    about = {"dataset": dataset, "method": method, "run": run, "origin": ORIGIN, "note": ""}
    sizes = {"n_classes": 10, "n_features": 256, "n_train": 1115, "n_test": 478}
    usual = {"when": "2026-01-02T03:04+00:00", "commit": "abc1234", "error": 6.0, "seconds": 0.5}
    return {**about, **sizes, **usual, **parts}


CURVE = {"triplets": [0, 100], "loss": [1.0, 0.5]}
ROWS = [
    row("semeion", "sgd", updates=100_000, seconds=2.0, training=CURVE),
    row("semeion", "as-sgd", 0, updates=140, error=6.0, update_bound=1234.5, training=CURVE),
    row("semeion", "as-sgd", 1, updates=150, error=8.0, update_bound=1234.5),
    row("semeion", "mcml", error=12.9, trained_on=1000),
    row("semeion", "mini-sgd:batch_size=30", updates=3333),
    row("poker", "lmnn", error=39.1, note=FORMS["poker"][1].note),
    row("digits", "euclidean", seconds=None),
    {**row("semeion", "lego", failed="ValueError: <no>"), "error": None},
]


def shown(title: str) -> dict[str, list[str]]:
    (table,) = (table for table in tables(Results(ROWS)) if table.title.startswith(title))
    return {cells[0]: cells[1:] for cells in table.rows}


def test_cells_have_mean_spread_and_the_papers_number() -> None:
    def text(*values: float, **more: Any) -> str:
        return Cell(values, **more).text("{:.1f}".format, lambda a, b: abs(a - b) <= 1)

    assert text() == text(paper=3.0) == "–"  # noqa: RUF001
    assert text(2.0) == "2.0"
    assert text(2.0, 4.0, paper=3.5) == "≈ 3.0 ± 1.4 (3.5)"
    assert text(2.0, paper=3.5) == "▼ 2.0 (3.5)"
    assert text(5.0, paper=3.5, trained_on=2000) == "▲ 5.0 †2,000 (3.5)"
    assert text(5.0, paper=nan) == "5.0 (N/A)"


def test_tables_are_the_papers() -> None:
    titles = [table.title.partition(":")[0] for table in tables(Results(ROWS))]
    assert titles[:5] == ["Table 1", "Table 2", "Table 3", "Table 3 as ratios", "Table 4"]
    assert shown("Table 1")["semeion"] == ["10", "256", "1,115", "478", "2", ""]
    errors = shown("Table 2")
    assert errors["AS-SGD"][0] == "≈ 7.0 ± 1.4 (6.3)"
    assert errors["MCML"] == ["12.9 †1,000", "–", "–"]  # noqa: RUF001
    assert list(errors) == ["Euclidean", "LMNN", "MCML", "SGD", "AS-SGD"]
    assert shown("Table 3:")["AS-SGD"][0] == "0.5 (45)"
    assert shown("Table 3 as")["AS-SGD"][0] == "4 (48)"
    assert shown("Table 4")["AS-SGD"][0] == "≈ 145 ± 7 (142)"
    assert shown("Theorem 2")["semeion"] == ["145", "1,234"]
    study = ["Mini-SGD", "batch_size = 30", "3,333", "6.0", "0.5"]
    assert shown("Parameter study") == {"semeion": study}


@pytest.mark.parametrize(
    ("updates", "error", "passed"), [(150, 6.9, True), (170, 6.9, False), (150, 7.4, False)]
)
def test_the_check_holds_updates_and_errors_to_the_paper(
    updates: int, error: float, passed: bool
) -> None:
    rows = [row("semeion", "as-sgd", updates=updates, error=error), row("digits", "as-sgd")]
    table, result = check.check(Results(rows))
    assert not check.check(Results(rows[1:]))[1]  # nothing was compared
    assert result == passed
    assert len(table.rows) == 1
    assert ("NO" in " ".join(table.rows[0])) != passed


def test_a_hybrid_without_a_tolerance_is_only_shown() -> None:
    table, passed = check.check(Results([row("semeion", "ha-sgd", updates=9999, error=50.0)]))
    assert passed
    assert table.rows[0][6] == table.rows[0][10] == "–"  # noqa: RUF001


def test_figures_have_a_panel_for_each_set_and_parameter() -> None:
    one, study = (draw(Results(ROWS)) for draw in (figures.figure_1, figures.study))
    assert one is not None
    assert study is not None
    assert [axes.get_title() for axes in one.axes] == ["semeion"]
    lines: Any = [line.get_ydata() for line in one.axes[0].lines]
    assert [[*line] for line in lines] == [[1.0, 0.5]] * 2
    assert [axes.get_title() for axes in study.axes] == ["semeion: batch_size"]
    assert figures.figure_1(Results(ROWS[3:])) is None
    assert figures.study(Results(ROWS[:2])) is None


def test_the_page_has_tables_figures_and_what_is_missing(tmp_path: Path) -> None:
    page = report.write(ROWS, tmp_path).read_text(encoding="utf-8")
    for title in ("Table 1: data", "Table 4: updates", "Figure 1", "How it was run", "Not run"):
        assert f"<h2>{title}</h2>" in page
    assert page.count("data:image/svg+xml") == 2
    assert "&lt;b&gt;CPU&lt;/b&gt;" in page
    assert "LEGO on semeion: ValueError: &lt;no&gt;" in page
    assert "Data sets: dna, isolet, tdt30, letter, protein" in page
    assert '<th scope="col">poker*</th>' in page


def test_no_section_without_numbers(tmp_path: Path) -> None:
    page = report.write([row("digits", "euclidean", seconds=None)], tmp_path).read_text("utf-8")
    for title in ("Table 3", "Table 4", "Theorem 2", "Parameter study", "Figure 1"):
        assert f"<h2>{title}" not in page
    assert isinstance(tables(Results(ROWS))[0], Table)
