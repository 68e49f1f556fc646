"""``calipers transform``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from calipers import load
from commands import FEATURES, FEW, SPECIES, X, Y, quick_fit, refused, run, write_csv
from table_rows import samples_of


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npy", ".npz", ".parquet"])
@pytest.mark.usefixtures("folder")
def test_transform(ending: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    metric = quick_fit()
    shuffled = [2, 0, 3, 1]
    write_csv(Path("new.csv"), X[:, shuffled], [FEATURES[i] for i in shuffled])
    run("transform", "m", "new.csv", "--label", "species", "-o", f"out{ending}", "--quiet")
    expected = X @ metric.components_.T
    if ending == ".npy":
        np.testing.assert_allclose(np.load("out.npy"), expected)
        return
    label = None if ending == ".npz" else "species"
    data = samples_of(Path(f"out{ending}"), label=label)
    np.testing.assert_allclose(data.X, expected)
    assert data.y is not None
    assert data.y.tolist() == SPECIES.tolist()
    if label:
        assert data.names == [f"tripletsgd{i}" for i in range(4)]


def test_transform_without_labels_or_names(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metric = quick_fit()
    np.save("X.npy", X)
    run("transform", "m", "X.npy", "-o", "out.csv", "--json")
    assert json.loads(capsys.readouterr().out) == {
        "file": "out.csv",
        "samples": 150,
        "components": 4,
    }
    written = np.loadtxt("out.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(written, X @ metric.components_.T)
    np.save("X.npy", X[:, :3])
    assert "X.npy has 3 columns beside the label, but the metric was" in refused(
        capsys, "transform", "m", "X.npy", "-o", "new.csv"
    )
    assert not Path("new.csv").exists()


def test_names_that_are_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = np.column_stack([X, Y])
    np.savetxt("pandas.csv", rows, fmt="%.1f", delimiter=",", header="0,1,2,3,4", comments="")
    run("fit", "pandas.csv", "--label", "4", "--header", "0", "-o", "m", "--json", *FEW)
    summary = json.loads(capsys.readouterr().out)
    assert (summary["samples"], summary["features"], summary["classes"]) == (150, 4, 3)
    cells = X[:, [1, 0, 3, 2]].round()
    np.savetxt("two.csv", cells, fmt="%d", delimiter=",", header="1,0,3,2", comments="")
    run("transform", "m", "two.csv", "-o", "out.npy", "--quiet")
    np.testing.assert_allclose(np.load("out.npy"), X.round() @ load("m").components_.T)
    Path("other.csv").write_text("species,0,1,2,weight\na,1,2,3,4\n")
    other = ("transform", "m", "other.csv", "-o", "new.csv", "--quiet")
    assert "the number 0 in its first row" in refused(capsys, *other)
    told = refused(capsys, *other, "--header", "0")
    assert "has no column '3' (a feature of the metric)" in told
    run("transform", "m", "two.csv", "-o", "out.npy", "--quiet", "--header", "none")
    assert len(np.load("out.npy")) == 151
