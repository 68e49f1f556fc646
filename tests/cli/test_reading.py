"""Commands on files as people have them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

from calipers import load
from calipers.cli.reading import read_embeddings, read_pairs
from commands import X, refused, run

SCALED = ("--learner", "scaled", "-o", "m")
QUIET = (*SCALED, "--quiet")


def write(name: str, *rows: str) -> None:
    Path(name).write_text("\n".join(rows), encoding="utf-8")


def fit(capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """What ``fit`` remarks about a.csv."""
    capsys.readouterr()
    run("fit", "a.csv", "--label", "kind", *SCALED, *more)
    return capsys.readouterr().err


@pytest.fixture
def customers(folder: Path) -> Path:
    """A table with IDs that have zeros in front, a text of each row, and a row without a label."""
    rows = [
        [f"{i:04d}", row[0], f"remark {i}", row[1], "ab"[i % 2]] for i, row in enumerate(X.tolist())
    ]
    rows[7][-1] = ""
    with Path("a.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["id", "u", "remark", "v", "kind"], *rows])
    return folder


@pytest.mark.usefixtures("customers")
def test_ids_labels_and_texts_are_carried_to_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    told = fit(capsys, "--quiet")
    assert "Left out: 1 row without a label (the first is row 8), id (an ID by its name" in told
    run("transform", "m", "a.csv", "-o", "b.csv", "--quiet")
    with Path("b.csv").open(newline="") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["id", "remark", "kind", "scaled0", "scaled1"]
    assert [row[:3] for row in rows[6:8]] == [["0006", "remark 6", "a"], ["0007", "remark 7", ""]]
    assert len(rows) == len(X)
    run("transform", "m", "a.csv", "--ignore", "kind", "-o", "c.csv", "--quiet")
    assert Path("c.csv").read_text() == Path("b.csv").read_text()


@pytest.mark.parametrize("ending", ["csv", "xlsx", "jsonl", "parquet"])
@pytest.mark.usefixtures("folder")
def test_from_a_file_to_a_metric_and_back(ending: str) -> None:
    cells: dict[str, list[Any]] = {
        "age": [31.5, None, 45.0] * 10,
        "member": [True, False, None] * 10,
        "colour": ["red", None, "blue"] * 10,
        "kind": ["a", "b", "c"] * 10,
    }
    table, path = pd.DataFrame(cells).astype({"member": "boolean"}), f"t.{ending}"
    if ending == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        {"csv": table.to_csv, "xlsx": table.to_excel, "parquet": table.to_parquet}[ending](
            path, index=False
        )
    run("fit", path, "--label", "kind", *QUIET)
    metric = load("m")
    assert metric.feature_names_in_.tolist() == ["age", "member", "colour=blue", "colour=red"]
    run("transform", "m", path, "-o", "images.npy", "--quiet")
    np.testing.assert_allclose(metric.transform(table), np.load("images.npy"), rtol=1e-15)
    encoded = [[31.5, 1, 0, 1], [38.25, 0, 0, 0], [45, 0, 1, 0]]
    np.testing.assert_allclose(np.load("images.npy")[:3], encoded @ metric.components_.T)


@pytest.mark.usefixtures("folder")
def test_the_decimal_sign_is_that_of_the_metric(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.csv", "size;kind", *(f"{i},5;{'ab'[i % 2]}" for i in range(20)))
    assert "'size' ('0,5' is a number with --decimal ,)" in refused(
        capsys, "fit", "a.csv", "--label", "kind", *SCALED
    )
    fit(capsys, "--decimal", ",")
    write("b.csv", "size", '"1,234"')
    run("transform", "m", "b.csv", "--sep", ";", "-o", "c.npy")
    expected = load("m").transform(pd.DataFrame({"size": [1.234]}))
    np.testing.assert_array_equal(np.load("c.npy"), expected)
    write("b.csv", "size", "1.234")
    told = refused(capsys, "transform", "m", "b.csv", "-o", "d.npy")
    assert "has '1.234' in row 1, where a number is needed" in told


@pytest.mark.usefixtures("folder")
def test_measured_numbers_are_no_classes(capsys: pytest.CaptureFixture[str]) -> None:
    samples, y = load_diabetes(return_X_y=True)  # 214 whole numbers in 442 rows
    rows = [f"{a};{b};{t:.0f};{t / 10}" for (a, b), t in zip(samples[:, :2], y, strict=True)]
    Path("a.csv").write_text("\n".join(["a;b;kind;tenths", *rows]).replace(".", ","))
    for command in ("fit", "evaluate"):
        told = refused(capsys, command, "a.csv", "--label", "tenths", "--decimal", ",")
        assert "the labels are 214 different numbers in 442 rows, which is regression" in told
    fit(capsys, "--ignore", "tenths", "--decimal", ",")


@pytest.mark.usefixtures("folder")
def test_labels_are_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "read without labels: name what to predict" in refused(capsys, "evaluate", "iris.csv")


@pytest.mark.usefixtures("folder")
def test_labels_that_differ_in_capitals_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    labels = ["Yes", "yes ", "no", "NO", "No"] * 4
    write("a.csv", "size,kind", *(f"{i % 7}.5,{label}" for i, label in enumerate(labels)))
    assert (
        "Labels that differ in capitals only are different classes: 'NO', 'No', 'no', 'Yes', 'yes'."
        in fit(capsys)
    )


def test_ids_and_weights_of_a_search(tmp_path: Path) -> None:
    write(str(tmp_path / "a.jsonl"), '{"id": "007", "vector": [0.5, 1]}', '{"vector": [1, -2]}')
    vectors, ids = read_embeddings(tmp_path / "a.jsonl")
    np.testing.assert_array_equal(vectors, np.array([[0.5, 1], [1, -2]], dtype=np.float32))
    assert ids == ["007", None]
    write(str(tmp_path / "clicks.csv"), "query,document,weight", "007,1,2", "8,,0.5")
    pairs, weights = read_pairs(tmp_path / "clicks.csv")
    assert pairs.tolist() == [["007", "1"], ["8", None]]
    assert weights is not None
    assert weights.tolist() == [2, 0.5]
