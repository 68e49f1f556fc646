"""Commands on files as people have them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from calipers.cli.encoded import check_labels
from commands import X, refused, run

SCALED = ("--learner", "scaled", "-o", "m", "--quiet")


@pytest.fixture
def customers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table with IDs that have zeros in front, a text of each row, and a row without a label."""
    monkeypatch.chdir(tmp_path)
    rows = [
        [f"{i:04d}", row[0], f"remark {i}", row[1], "ab"[i % 2]] for i, row in enumerate(X.tolist())
    ]
    rows[7][-1] = ""
    with Path("a.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["id", "u", "remark", "v", "kind"], *rows])
    return tmp_path


@pytest.mark.usefixtures("customers")
def test_ids_labels_and_texts_are_carried_to_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    run("fit", "a.csv", "--label", "Kind", *SCALED)
    told = capsys.readouterr().err
    assert "1 row without a label (the first is row 8)" in told
    run("transform", "m", "a.csv", "-o", "b.csv", "--quiet")
    with Path("b.csv").open(newline="") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["id", "remark", "kind", "scaled0", "scaled1"]
    assert [row[:3] for row in rows[6:8]] == [["0006", "remark 6", "a"], ["0007", "remark 7", ""]]
    assert len(rows) == len(X)
    run("transform", "m", "a.csv", "--ignore", "kind", "-o", "c.csv", "--quiet")
    assert Path("c.csv").read_text() == Path("b.csv").read_text()


@pytest.mark.usefixtures("customers")
def test_measured_numbers_are_no_classes(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    np.savetxt("a.csv", rng.normal(size=(30, 2)), delimiter=",", header="a,price", comments="")
    for command in ("fit", "evaluate"):
        told = refused(capsys, command, "a.csv", "--label", "price")
        assert "the labels are 30 different numbers in 30 rows, which is regression" in told
        assert "calipers.MLKR" in told


@pytest.mark.usefixtures("customers")
def test_targets_of_regression_that_repeat_are_no_classes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    X, y = load_diabetes(return_X_y=True)  # 214 whole numbers in 442 rows
    rows = [f"{a};{b};{t:.0f};{t / 10:.1f}" for (a, b), t in zip(X[:, :2], y, strict=True)]
    Path("a.csv").write_text("\n".join(["a;b;whole;tenths", *rows]).replace(".", ","))
    told = refused(capsys, "fit", "a.csv", "--label", "tenths", "--decimal", ",")
    assert "the labels are 214 different numbers in 442 rows, which is regression" in told
    fit = ["fit", "a.csv", "--label", "whole", "--ignore", "tenths", "--decimal", ","]
    run(*fit, "--learner", "scaled", "-o", "m")
    assert "214 different numbers in 442 rows, each a class here" in capsys.readouterr().err


@pytest.mark.usefixtures("customers")
def test_whole_numbers_may_be_classes(capsys: pytest.CaptureFixture[str]) -> None:
    people = [1, 1, 2, 2, 3, 3, 4, 4, 5, 6]
    rows = [f"{x},{y},{who}" for (x, y, *_), who in zip(X.tolist(), people, strict=False)]
    Path("a.csv").write_text("\n".join(["u,v,person", *rows]))
    run("fit", "a.csv", "--label", "person", *SCALED)
    told = "The labels of a.csv are 6 different numbers in 10 rows, each a class here"
    assert told in capsys.readouterr().err


def test_new_tables_may_have_units_where_the_old_one_had(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    units = "weight,height,kind\nkg,cm,\n60.5,170,a\n71,,b\n65,180,a\n80,175,b\n"
    Path("a.csv").write_text(units)
    Path("new.csv").write_text("height,weight\ncm,kg\n170,60\n180,61\n")
    run("fit", "a.csv", "--label", "kind", "--learner", "scaled", "-o", "m", "--quiet")
    for name, n_rows in (("a.csv", 4), ("new.csv", 2)):
        run("transform", "m", name, "-o", "mapped.csv")
        assert f"Mapped {n_rows} samples" in capsys.readouterr().err
    Path("new.csv").write_text("height,weight\n170,kg\n180,61\n")
    assert "'kg' in row 1, where a number is needed" in refused(
        capsys, "transform", "m", "new.csv", "-o", "mapped.csv"
    )


@pytest.mark.parametrize("command", [["fit", "-o", "m"], ["evaluate"]])
@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ("aaaaaa", "a.csv has one class only ('a'): name a column of at least 2 classes with"),
        (
            "abcdef",
            "a.csv has a different label in every row: name a column of classes with --label.",
        ),
    ],
)
def test_labels_of_no_use(
    command: list[str], labels: str, told: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{i % 4}.5,{label}" for i, label in enumerate(labels)]
    Path("a.csv").write_text("\n".join(["size,kind", *rows]))
    assert told in refused(capsys, *command, "a.csv", "--label", "kind")


def test_labels_that_differ_in_capitals_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{i}.5,{label}" for i, label in enumerate(["Yes", "yes ", "no", "NO", "No"] * 4)]
    Path("a.csv").write_text("\n".join(["size,kind", *rows]))
    run("fit", "a.csv", "--label", "kind", "--learner", "scaled", "-o", "m")
    assert (
        "Labels that differ in capitals only are different classes: 'NO', 'No', 'no', 'Yes', 'yes'."
        in capsys.readouterr().err
    )


def test_few_of_many_labels_that_differ_in_capitals_are_told() -> None:
    labels = [f"{kind}{i}" for i in range(30) for kind in ("Kind", "kind", "Straße", "Strasse")]
    (told,) = check_labels(np.array(labels * 2), source="a.csv")
    assert told.endswith(", and 40 more.")
    assert "Stra" not in told


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("row", "told"),
    [
        ([1.0], "lists, of 2 in row 1 and of 1 in row 3"),
        (None, "lists, none in row 3"),
    ],
)
def test_vectors_of_different_lengths_are_found(
    ending: str, row: object, told: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    parquet = pytest.importorskip("pyarrow.parquet")
    vectors = [[1.0, 2.0], [3.0, 4.5], row, [0.5, 0.5]]
    columns = {"id": [7, 3, 9, 1], "vector": vectors, "kind": ["a", "b", "a", "b"]}
    if ending == "parquet":
        parquet.write_table(pa.table(columns), "a.parquet")
    else:
        rows = zip(*columns.values(), strict=True)
        lines = [json.dumps(dict(zip(columns, each, strict=True))) for each in rows]
        Path("a.jsonl").write_text("\n".join(lines))
    arguments = ["fit", f"a.{ending}", "--label", "kind", "--learner", "scaled", "-o", "m"]
    run(*arguments)
    assert f"Left out: vector ({told})" in capsys.readouterr().err
    assert f"'vector' ({told})" in refused(capsys, *arguments, "--ignore", "id")


def test_a_file_of_labels_that_is_not_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save("X.npy", X)
    told = "Cannot read 'y.npy' (No such file or directory): check its name."
    assert refused(capsys, "fit", "X.npy", "--label", "y.npy", "-o", "m") == told


def test_a_row_of_units_is_told_even_if_quiet(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{i}.5,{'ab'[i % 2]}" for i in range(12)]
    Path("a.csv").write_text("\n".join(["size,kind", "cm,", *rows]))
    run("fit", "a.csv", "--label", "kind", *SCALED)
    told = "The row below the names in a.csv is read as units, as in 'cm'; if that is wrong, say "
    assert told + "--header yes.\n" in capsys.readouterr().err


def test_no_row_is_lost_whose_text_was_missing_before(folder: Path) -> None:
    rows = [f"{i}.5,{'ab'[i % 2]}" for i in range(30)]
    Path("a.csv").write_text("\n".join(["size,kind", *rows, "n.d.,a"]))
    run("fit", "a.csv", "--label", "kind", *SCALED)
    Path("b.csv").write_text("size\nn.d.\n1.5\n2.5\n3.5\n")
    run("transform", "m", "b.csv", "-o", "c.csv", "--quiet")
    assert len(Path("c.csv").read_text().splitlines()) == 5
