"""Commands on files as people have them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

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


@pytest.mark.usefixtures("customers")
def test_small_classes_are_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    labels = ["a", "b"] * 10 + ["rare", "rare", "single"]
    rows = [f"{i},{i * i % 7},{label}" for i, label in enumerate(labels)]
    Path("a.csv").write_text("\n".join(["u,v,y", *rows]))
    run("evaluate", "a.csv", "--label", "y", "--learner", "scaled", "--no-drop-ids")
    told = capsys.readouterr().err
    assert "fewer samples than the 5 folds are not in every fold: rare, single." in told


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
