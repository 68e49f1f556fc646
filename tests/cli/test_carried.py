"""``calipers transform`` carries what is no feature to its output, as it was."""

from __future__ import annotations

import csv
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers.data import memmap
from commands import X, run

pa = pytest.importorskip("pyarrow", reason="needs calipers[tables]")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs calipers[tables]")
openpyxl = pytest.importorskip("openpyxl", reason="needs calipers[tables]")

N = 30
KIND = ["ab"[i % 2] for i in range(N)]


@pytest.fixture(autouse=True)
def learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A metric of the columns u and v, with the label kind, in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{u},{v},{k}" for (u, v, *_), k in zip(X.tolist(), KIND, strict=False)]
    Path("a.csv").write_text("\n".join(["u,v,kind", *rows]))
    run("fit", "a.csv", "--label", "kind", "--learner", "scaled", "-o", "m", "--quiet")


def write_csv(**columns: list[str]) -> None:
    features = {"u": X[:N, 0].tolist(), "v": X[:N, 1].tolist(), "kind": KIND}
    with Path("b.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*columns, *features])
        writer.writerows(zip(*columns.values(), *features.values(), strict=True))


def write_parquet(**columns: Any) -> None:
    features = {"u": X[:N, 0], "v": X[:N, 1], "kind": KIND}
    parquet.write_table(pa.table({**columns, **features}), "b.parquet")


def carried_to_csv(source: str, *options: str) -> dict[str, list[str]]:
    run("transform", "m", source, "-o", "c.csv", "--quiet", *options)
    with Path("c.csv").open(newline="") as stream:
        head, *rows = csv.reader(stream)
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


def carried_to_parquet(source: str) -> Any:
    run("transform", "m", source, "-o", "c.parquet", "--quiet")
    return parquet.read_table("c.parquet")


@pytest.mark.parametrize(
    "cells",
    [
        ["-0.25", "1.0", "+2"],
        ["-0,25", "-1.200,50", ""],
        ["1.0", "2.0", "3.0"],
        ["007", "-8", ""],
        ["-$5", "-5 %", "+49 170"],
    ],
)
def test_numbers_of_a_csv_are_as_they_were_written(cells: list[str]) -> None:
    write_csv(more=cells * 10)
    assert carried_to_csv("b.csv")["more"] == cells * 10


def test_texts_that_a_spreadsheet_would_run_are_made_harmless() -> None:
    write_csv(more=["=1+1", "-1+1", "@a", "+cmd|' /C'!A0", "-"] * 6)
    harmless = ["'=1+1", "'-1+1", "'@a", "'+cmd|' /C'!A0", "'-"]
    assert carried_to_csv("b.csv")["more"] == harmless * 6


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["-3", "", "5"], [-3, None, 5]),
        (["-3", "N/A", "0.5"], ["-3", "N/A", "0.5"]),
        (["-0.25", "1", ""], [-0.25, 1.0, None]),
        (["1.0", "2.0", "3.0"], [1.0, 2.0, 3.0]),
        (["007", "8", "9"], ["007", "8", "9"]),
        (["1.10", "1.9", "2"], ["1.10", "1.9", "2"]),
        (["9" * 30, "1", "2"], ["9" * 30, "1", "2"]),
        (["", "NA", ""], [None, "NA", None]),
    ],
)
def test_numbers_of_a_csv_are_numbers_in_parquet_where_no_character_is_lost(
    cells: list[str], expected: list[Any]
) -> None:
    write_csv(more=cells * 10)
    found = carried_to_parquet("b.csv")["more"].to_pylist()
    assert found == expected * 10
    assert [type(cell) for cell in found[:3]] == [type(cell) for cell in expected]


def test_numbers_of_parquet_are_the_same_numbers() -> None:
    given = {
        "lon": pa.array([-0.25, None, 1.0] * 10),
        "n": pa.array([-1, 2, 3] * 10),
        "gaps": pa.array([-1, None, 3] * 10),
    }
    write_parquet(**given)
    assert carried_to_parquet("b.parquet").select([*given]) == pa.table(given)
    found = carried_to_csv("b.parquet")
    assert found["lon"] == ["-0.25", "", "1.0"] * 10
    assert found["n"] == ["-1", "2", "3"] * 10
    assert found["gaps"] == ["-1", "", "3"] * 10


@pytest.mark.parametrize("size", ["small", "large"])
def test_a_large_parquet_file_is_carried_like_a_small_one(
    size: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_parquet(id=[f"n{i}" for i in range(N)], lon=-X[:N, 2], tags=[["a"]] * N)
    if size == "large":
        monkeypatch.setattr(memmap, "LARGEST_READ", 8 * N * 3)
    capsys.readouterr()
    run("transform", "m", "b.parquet", "-o", "c.parquet")
    found = parquet.read_table("c.parquet")
    assert found.column_names == ["id", "lon", "kind", "scaled0", "scaled1"]
    assert found["id"].to_pylist() == [f"n{i}" for i in range(N)]
    np.testing.assert_array_equal(found["lon"], -X[:N, 2])
    assert found["kind"].to_pylist() == KIND
    assert "Not carried to the output: tags (type list<" in capsys.readouterr().err


def test_of_a_larger_file_named_columns_are_carried_and_others_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_parquet(id=range(N), lon=-X[:N, 2])
    monkeypatch.setattr(memmap, "LARGEST_READ", 0)
    capsys.readouterr()
    run("transform", "m", "b.parquet", "-o", "c.csv", "--ignore", "lon")
    told = "Not carried to the output: id (the file is large; --ignore id carries it)."
    assert told in capsys.readouterr().err
    head = Path("c.csv").read_text().splitlines()[0]
    assert head == "lon,kind,scaled0,scaled1"
    run("transform", "m", "b.parquet", "-o", "c.npy")
    told = capsys.readouterr().err
    assert "An .npy file holds no labels and IDs" in told
    assert "Not carried" not in told


def test_lists_that_are_not_carried_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"tags": ["a"] * (i % 3), "place": [0.5, i], "u": u, "v": v}
        for i, (u, v, *_) in enumerate(X[:N].tolist())
    ]
    Path("b.jsonl").write_text("\n".join(map(json.dumps, rows)))
    capsys.readouterr()
    run("transform", "m", "b.jsonl", "-o", "c.csv")
    told = (
        "Not carried to the output: tags (lists, of 0 in row 1 and of 1 in row 2), place (vectors)."
    )
    assert told in capsys.readouterr().err


def test_labels_of_some_samples_of_an_array_are_carried() -> None:
    labels = np.where(np.arange(N) % 3, np.arange(N) % 2, np.nan)
    np.savez("b.npz", X=X[:N, :2], y=labels)
    expected = [str(i % 2) if i % 3 else "" for i in range(N)]
    assert carried_to_csv("b.npz", "--label", "y")["label"] == expected


TYPED: dict[str, list[Any]] = {
    "when": [datetime(2024, 5, 1, 12, 30), datetime(2024, 5, 2), None] * 10,
    "member": [True, False, None] * 10,
    "n": [1, 2, None] * 10,
    "mark": ["=1+1", "007", None] * 10,
}


def carried_to_xlsx(source: str) -> dict[str, list[Any]]:
    run("transform", "m", source, "-o", "c.xlsx", "--quiet")
    head, *rows = openpyxl.load_workbook("c.xlsx").active.iter_rows(values_only=True)
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


def test_dates_and_booleans_stay_what_they_are() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([*TYPED, "u", "v", "kind"])
    for i, row in enumerate(zip(*TYPED.values(), strict=True)):
        sheet.append([*row, *X[i, :2].tolist(), KIND[i]])
        sheet.cell(i + 2, 4).data_type = "s"  # no formula
    book.save("b.xlsx")
    write_parquet(**TYPED)
    harmless = TYPED | {"mark": ["'=1+1", "007", None] * 10}
    for source in ("b.xlsx", "b.parquet"):
        found = carried_to_parquet(source)
        assert {name: found[name].to_pylist() for name in TYPED} == TYPED
        assert found.schema.field("member").type == pa.bool_()
        sheet = carried_to_xlsx(source)
        assert {name: sheet[name] for name in TYPED} == harmless
        assert sheet["kind"] == KIND
        np.testing.assert_allclose(sheet["scaled0"], found["scaled0"].to_numpy())


def test_cells_of_several_types_are_texts_in_parquet() -> None:
    rows = [{"u": u, "v": v, "mixed": [1, "a", True][i % 3]} for i, (u, v) in enumerate(X[:N, :2])]
    Path("b.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert carried_to_parquet("b.jsonl")["mixed"].to_pylist() == ["1", "a", "True"] * 10


def test_times_of_a_zone_are_texts_in_a_sheet() -> None:
    moment = datetime(2024, 5, 1, 12, 30, tzinfo=UTC)
    write_parquet(when=[moment] * N)
    assert carried_to_parquet("b.parquet")["when"].to_pylist() == [moment] * N
    assert carried_to_xlsx("b.parquet")["when"] == [str(moment)] * N


def test_capitals_of_the_columns_make_no_difference() -> None:
    rows = [f"{v},{u}" for u, v in X[:N, :2].tolist()]
    Path("b.csv").write_text("\n".join(["V,U ", *rows]))
    run("transform", "m", "b.csv", "-o", "upper.npy")
    run("transform", "m", "a.csv", "-o", "lower.npy")
    np.testing.assert_array_equal(np.load("upper.npy"), np.load("lower.npy")[:N])


def test_what_excel_has_no_room_for_is_text_in_a_sheet() -> None:
    days = [date(1899, 12, 31), date(1900, 3, 1), None] * 10
    write_parquet(big=[10**15 + 1, 7, None] * 10, fits=[10**15 - 1] * N, day=days)
    found = carried_to_xlsx("b.parquet")
    assert found["big"] == ["1000000000000001", "7", None] * 10
    assert found["fits"] == [10**15 - 1] * N
    assert found["day"] == ["1899-12-31", datetime(1900, 3, 1), None] * 10
    write_csv(id=["1234567890123456789", "7"] * 15, code=["1", "NA"] * 15)
    found = carried_to_xlsx("b.csv")
    assert found["id"] == ["1234567890123456789", "7"] * 15
    assert found["code"] == ["1", "NA"] * 15


def test_a_text_too_long_for_a_sheet_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(note=["a" * 32_767] * N)
    assert carried_to_xlsx("b.csv")["note"] == ["a" * 32_767] * N
    write_csv(note=["a", "a" * 32_768] * 15)
    run("transform", "m", "b.csv", "-o", "d.xlsx", "--quiet", code=2)
    told = "at most 32,767 characters, and one of the column 'note' has 32,768: write .csv"
    assert told in " ".join(capsys.readouterr().err.split())
    assert not Path("d.xlsx").exists()
