"""What the benchmarks are made of: clocks, fresh processes, stand-ins, rows and differences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks import fresh, paired, shapes
from benchmarks.rows import Column, Report, read, show

from calipers.paper.datasets import DatasetError
from calipers.paper.published import SIZES

pytestmark = pytest.mark.usefixtures("no_data_folder")


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(fresh.FreshProcessError, match="No such file"):
        fresh.call(folder="nowhere", memmap=False, n_triplets=None)
    with pytest.raises(fresh.FreshProcessError, match="ended after 0 s"):
        fresh.call(seconds=0.01)


@pytest.mark.parametrize("name", shapes.NAMES)
def test_a_stand_in_has_the_shape_and_says_what_it_is(name: str) -> None:
    data = shapes.data_set(name, shrink=20)
    assert data.name == f"{name} stand-in"
    assert data.X.shape == (SIZES[name].n_train // 20, SIZES[name].n_features)
    assert len(np.unique(data.y)) == SIZES[name].n_classes
    triplets = shapes.triplets(data, 50)
    anchors, positives, negatives = data.y[triplets.T]
    np.testing.assert_array_equal(anchors, positives)
    assert np.all(anchors != negatives)


def test_files_are_read_where_there_are_any(tmp_path: Path) -> None:
    X, y = np.arange(32).reshape(16, 2), np.arange(16) % 2
    np.savez(tmp_path / "dna.npz", X_train=X, y_train=y, X_test=X, y_test=y)
    data = shapes.data_set("dna", data_dir=tmp_path)
    assert (data.name, data.shape) == ("dna", "16 x 2")
    assert shapes.data_set("semeion", data_dir=tmp_path).name == "semeion stand-in"
    with pytest.raises(DatasetError, match="does not exist"):
        shapes.data_set("dna", data_dir=tmp_path / "nowhere")


def test_rows_are_stored_before_they_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = {"sizes": [Column("name", "name", width=6), Column("size", "size", ".1f", 6)]}
    report = Report("try", tables, file=tmp_path / "deep" / "try.jsonl")
    report.add("sizes", name="one", size=1.26)
    report.skip("sizes", "too large", name="two")
    table = capsys.readouterr().out
    assert table.splitlines() == [
        "",
        "name     size",
        "one       1.3",
        "two         -  skipped: too large",
    ]
    first, second = read(report.file)
    assert (first["command"], first["size"], second["skipped"]) == ("try", 1.26, "too large")
    known = {"cpu", "cores", "python", "numpy", "scipy", "scikit-learn", "calipers"}
    assert known | {"commit"} <= set(first["machine"])
    show(report.file, tables)
    assert capsys.readouterr().out.endswith(table)


def test_a_mean_over_groups_has_the_standard_error_over_groups() -> None:
    pairs = [("a", 1.0, 0.0), ("a", 3.0, 0.0), ("b", 4.0, 4.0)]
    found = paired.over_groups(pairs)
    assert (found.value, found.baseline, found.change) == (3.0, 2.0, 1.0)
    assert (found.standard_error, found.better, found.worse) == (1.0, 0, 1)


@pytest.mark.parametrize(
    ("values", "is_worse"),
    [([1.0], False), ([1.0, 1.0], True), ([0.0, 0.0], False), ([0.0, 2.0], False), ([3, 4], True)],
)
def test_worse_is_higher_by_two_standard_errors(values: list[float], is_worse: bool) -> None:
    assert paired.difference(values, np.zeros(len(values))).is_worse is is_worse
