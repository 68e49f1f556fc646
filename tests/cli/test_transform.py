"""``calipers transform``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from commands import FEATURES, SPECIES, X, quick_fit, refused, run, write_csv
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
