"""``calipers fit`` on large files, and interrupted."""

from __future__ import annotations

import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from calipers import load
from calipers.cli.main import main
from calipers.data import memmap
from calipers.data.samples import DiskSamples
from calipers.solvers.sgd import SGDSolver

pa = pytest.importorskip("pyarrow", reason="needs the extra tables")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra tables")

X, Y = load_iris(return_X_y=True)
FEW = ("--learner", "triplet-sgd", "--method", "mini-sgd", "--triplets", "500", "--quiet")
LOUD = FEW[:-1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", X)
    np.save("y.npy", Y)
    np.save("both.npy", np.column_stack([X, Y]))
    parquet.write_table(table_of(), "iris.parquet")
    return tmp_path


@pytest.fixture
def all_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read by blocks of 16 rows, and never as a whole."""
    monkeypatch.setattr(memmap, "LARGEST_READ", 0)
    monkeypatch.setattr(memmap, "BLOCK_ELEMENTS", 64)


@pytest.mark.usefixtures("folder", "all_is_large")
@pytest.mark.parametrize("file", ["iris.parquet", "both.npy"])
def test_large_tables_come_from_standard_input(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["--label", "5", "--format", file.rpartition(".")[2], "--learner", "scaled", "--quiet"]
    assert main(["fit", file, *words, "-o", "named"]) == 0
    with Path(file).open("rb") as stream:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
        assert main(["fit", "-", *words, "-o", "given"]) == 0
    np.testing.assert_array_equal(load("given").components_, load("named").components_)


@pytest.mark.usefixtures("folder", "all_is_large")
def test_late_errors_name_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = bytearray(Path("iris.parquet").read_bytes())
    damaged[4 : len(damaged) // 4] = b"\xff" * (len(damaged) // 4 - 4)
    Path("damaged.parquet").write_bytes(damaged)
    for label in ("1", "5"):
        words = ["--label", label, "--format", "parquet", "--learner", "scaled", "-o", "m"]
        with Path("damaged.parquet").open("rb") as stream:
            monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
            assert main(["fit", "-", *words]) == 2
        told = capsys.readouterr().err
        assert "Cannot read 'standard input' as Parquet" in told
        assert "data.parquet" not in told


@pytest.mark.usefixtures("all_is_large")
@pytest.mark.parametrize(
    "words",
    [
        ["X.npy", "--label", "y.npy"],
        ["both.npy", "--label", "-1"],
        ["both.npy", "--label", "5", "--standardize"],
        ["both.npy", "--label", "5", "--ignore", "2"],
        ["iris.parquet", "--label", "species", "--ignore", "note"],
        [
            "iris.parquet",
            "--label",
            "5",
            "--ignore",
            "note",
            "--ignore",
            "a",
            "--standardize",
        ],
    ],
)
def test_large_files_give_the_metric_of_small_ones(
    folder: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    true = DiskSamples.nearest

    def spy(self: DiskSamples, *arguments: Any, **sizes: Any) -> Any:
        seen.append(type(self))
        return true(self, *arguments, **sizes)

    monkeypatch.setattr(DiskSamples, "nearest", spy)
    assert main(["fit", *words, "-o", "large", *FEW]) == 0
    assert seen or "2" in words  # columns that are not side by side are copied
    with monkeypatch.context() as patched:
        patched.setattr(memmap, "LARGEST_READ", 2**27)
        assert main(["fit", *words, "-o", "small", *FEW]) == 0
    large, small = load("large"), load("small")
    np.testing.assert_allclose(large.components_, small.components_, rtol=1e-9, atol=1e-12)
    assert large.classes_.tolist() == small.classes_.tolist()
    assert large.label_ == small.label_


@pytest.mark.usefixtures("all_is_large")
def test_gaps_of_large_parquet_files_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = table_of()
    holes = table["b"].to_numpy().copy()
    holes[77] = np.nan
    parquet.write_table(table.set_column(1, "b", pa.array(holes)), "holes.parquet")
    assert main(["fit", "holes.parquet", "--label", "species", *FEW]) == 2
    assert "holes.parquet has no value in row 78 in the column 'b'" in capsys.readouterr().err
    parquet.write_table(
        table.set_column(4, "species", pa.array([None, "y", *["x"] * 148])), "unlabelled.parquet"
    )
    assert main(["fit", "unlabelled.parquet", "--label", "species", *FEW]) == 2
    assert "There is no label in row 1: fill or remove such rows first" in capsys.readouterr().err
    Path("damaged.parquet").write_bytes(Path("iris.parquet").read_bytes()[:-300])
    assert main(["fit", "damaged.parquet", "--label", "species", *FEW]) == 2
    assert "Cannot read 'damaged.parquet' as Parquet" in capsys.readouterr().err


def table_of() -> Any:
    species = np.array(["setosa", "versicolor", "virginica"])[Y]
    columns = {name: X[:, i] for i, name in enumerate("abcd")}
    return pa.table({**columns, "species": species, "note": species})


def interrupt_after(n_portions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C come while a solver learns from a portion."""
    true, left = SGDSolver.advance, [n_portions]

    def advance(self: SGDSolver, *arguments: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            signal.raise_signal(signal.SIGINT)
        return true(self, *arguments)

    monkeypatch.setattr(SGDSolver, "advance", advance)


def test_ctrl_c_leaves_the_metric_so_far(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", "X.npy", "--label", "y.npy", "-o", "whole", *FEW]) == 0
    words = ["fit", "X.npy", "--label", "y.npy", "-o", "m"]
    with monkeypatch.context() as patched:
        interrupt_after(30, patched)
        assert main([*words, *LOUD]) == 130
    assert "interrupted after 30 of" in capsys.readouterr().err
    assert load("m").facts_["n_iter_"] < load("whole").facts_["n_iter_"]


@pytest.mark.usefixtures("folder")
def test_ctrl_c_while_a_learner_is_selected_keeps_the_best_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patched:
        interrupt_after(3, patched)
        assert main(["fit", "X.npy", "--label", "y.npy", "-o", "m"]) == 130
    output = capsys.readouterr()
    assert "interrupted" in output.err
    assert load("m").facts_["interrupted_"] is True
    assert output.out.startswith(load("m").facts_["reason_"])


def test_ctrl_c_ends_commands_of_many_fits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(3, monkeypatch)
    assert main(["evaluate", "X.npy", "--label", "y.npy", *FEW]) == 130
