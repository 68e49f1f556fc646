"""The command ``calipers paper``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calipers.cli.main import main
from calipers.paper import runs
from calipers.paper.runs import ROWS, read_rows
from data_folder import FOLDER, needs_data

IRIS = ("--datasets", "iris", "--n-triplets", "300")


def paper(folder: Path, *arguments: str) -> int:
    return main(["paper", "--output", str(folder), *arguments])


def test_tables_a_page_and_where_it_is(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert paper(tmp_path / "new", *IRIS, "--methods", "euclidean", "hr-sgd") == 0
    output = capsys.readouterr()
    assert "Table 2: error of 3-NN" in output.out
    assert "HR-SGD" in output.out
    assert output.err.endswith("report.html\n")
    assert (tmp_path / "new" / "report.html").is_file()


def test_rows_for_a_program_and_nothing_else(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert paper(tmp_path, *IRIS, "--methods", "euclidean", "--json", "--quiet") == 0
    output = capsys.readouterr()
    assert [row["method"] for row in json.loads(output.out)] == ["euclidean"]
    assert output.err == ""


def test_an_interrupt_keeps_what_is_done(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = runs.measure

    def interrupted(system: Any, *rest: Any, **more: Any) -> Any:
        if system.name == "as-sgd":
            raise KeyboardInterrupt
        return measure(system, *rest, **more)

    monkeypatch.setattr(runs, "measure", interrupted)
    assert paper(tmp_path, *IRIS, "--methods", "euclidean", "as-sgd", "--quiet") == 130
    assert capsys.readouterr().err.count("\n") == 1
    assert len(read_rows(tmp_path / ROWS)) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--methods", "sdg"], "Unknown method 'sdg': choose among"),
        (["--datasets", "iriss"], "Unknown data set 'iriss': did you mean 'iris'?"),
        (["--check"], "None of the paper's data sets is here"),
        (["--data-dir", "nowhere"], "The data folder 'nowhere' does not exist"),
    ],
)
def test_mistakes_get_one_sentence(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.delenv("CALIPERS_DATA", raising=False)
    monkeypatch.setenv("CALIPERS_CACHE", str(tmp_path))
    assert paper(tmp_path / "out", *arguments) == 2
    output = capsys.readouterr()
    assert (output.out, output.err.count("\n")) == ("", 1)
    assert said in output.err


@needs_data
def test_a_check_ends_with_its_verdict(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    checked = ("--check", "--datasets", "dna", "--seeds", "1", "--data-dir", str(FOLDER))
    assert paper(tmp_path / "whole", *checked) == 0
    assert "Updates (Table 4)" in capsys.readouterr().out
    assert {row["method"] for row in read_rows(tmp_path / "whole" / ROWS)} == {
        "as-sgd",
        "hr-sgd",
        "hr-sgd-sum",
        "ha-sgd",
    }
    assert paper(tmp_path / "few", *checked, "--n-triplets", "1000") == 1
    assert "NO" in capsys.readouterr().out
