"""Rows that somebody edited: a report of them, or one sentence that says where to look."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calipers.cli.main import main
from calipers.data.files import FileError
from calipers.paper import forms
from calipers.paper.report.markdown import markdown
from calipers.paper.report.page import page
from calipers.paper.runs import ROWS, RunFile, latest
from calipers.paper.summary import Summary
from calipers.paper.systems import SYSTEMS
from paper_rows import row, some

ODD: list[Any] = [
    None,
    True,
    -1,
    1 << 60,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "unheard of",
    [],
    [[]],
    [None],
    ["x"],
    {},
    {"n_triplets": None},
    {"triplets": [1], "loss": [], "updates": [1]},
    {"classes": [1], "before": [[1]], "after": [[1, 2]]},
]


def written(folder: Path, rows: list[Any]) -> RunFile:
    (folder / ROWS).write_text("".join(json.dumps(one) + "\n" for one in rows))
    return RunFile(folder / ROWS)


def test_rows_as_they_are_written_pass(tmp_path: Path) -> None:
    forms.check(written(tmp_path, some()), "abc")


@pytest.mark.parametrize(
    ("part", "value", "told"),
    [
        ("method", "sdg", f"one of {', '.join(SYSTEMS)}, *, or one of the parameter study, got "
         "'sdg'"),
        ("training", {"triplets": [1], "loss": []}, "an object with lists triplets and loss, or "
         "null, got {'triplets': [1], 'loss': []}"),
        ("trained_on", "all", "a count, or null, got 'all'"),
        ("error", "6 %", "a number up to 1e+15, or null, got '6 %'"),
        ("curve", {"triplets": [1]}, "an object with lists triplets, loss and updates of one length"
         ", or null, got {'triplets': [1]}"),
    ],
)  # fmt: skip
def test_a_part_that_is_something_else(
    part: str, value: Any, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, [row("iris", "sgd"), {**row("iris", "as-sgd"), part: value}])
    assert main(["paper", "--report-only", "--output", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"calipers: {str(file.path)!r}, line 2: {part!r} must be {told}: mend the line or remove "
        "it.\n"
    )
    assert not (tmp_path / "report.html").exists()


def test_rows_of_another_identity_are_not_looked_at(tmp_path: Path) -> None:
    file = written(tmp_path, [row("iris", "sdg", identity="old"), row("iris", "sgd")])
    forms.check(file, "abc")


def test_a_run_looks_before_it_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["paper", "--datasets", "iris", "--methods", "euclidean", "--quiet"]
    words += ["--triplets", "300", "--output", str(tmp_path)]
    assert main(words) == 0
    kept = RunFile(tmp_path / ROWS).read()[0]
    written(tmp_path, [{**kept, "data": 3, "run": 5}])
    monkeypatch.setattr("calipers.paper.paper.run", lambda *_, **__: pytest.fail("it ran"))
    assert main(words) == 2
    assert "line 1: 'data' must be an object with counts" in capsys.readouterr().err


@pytest.mark.parametrize("part", [*forms.FORMS, "dataset", "files"])
def test_any_part_replaced_gives_a_report_or_a_sentence(part: str, tmp_path: Path) -> None:
    for value in ODD:
        rows = [{**row("semeion", "as-sgd", run), part: value} for run in (0, 1)]
        file = written(tmp_path, rows)
        found = latest(file.read())
        try:
            forms.check(file, "abc")
        except FileError:
            continue
        if found:
            summary = Summary(found)
            assert page(summary).rstrip().endswith("</html>")
            assert markdown(summary)


def test_half_characters_are_no_row(tmp_path: Path) -> None:
    file = written(tmp_path, [row("\ud800", "sgd"), row("iris", "sgd")])
    assert [one["dataset"] for one in file.read()] == ["iris"]
    assert file.n_dropped == 1
