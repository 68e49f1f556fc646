"""Columns of text files that are read in several blocks of rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import FileError
from calipers.data.tables import ReadOptions, making, read, text


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are of four cells, and a column may have three different texts."""
    monkeypatch.setattr(text, "_CELLS", 4)
    monkeypatch.setattr(making, "MOST_DISTINCT", 3)


def write_vectors(folder: Path, vectors: list[object]) -> Path:
    path = folder / "a.csv"
    rows = [f'"{json.dumps(vector)}",{"ab"[i % 2]}' for i, vector in enumerate(vectors)]
    path.write_text("\n".join(["v,y", *rows]))
    return path


def test_vectors_as_texts_are_kept_however_many_there_are(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(21, 3))
    path = write_vectors(tmp_path, vectors.tolist())
    np.testing.assert_array_equal(read(path).choose(label="y").X, vectors)


@pytest.mark.parametrize("odd", [[1.0], None, "a", 5])
def test_one_vector_that_is_none_makes_a_column_of_texts(odd: object, tmp_path: Path) -> None:
    path = write_vectors(tmp_path, [[0.5, float(i)] for i in range(9)] + [odd])
    column = read(path).columns[0]
    assert column.is_lost  # more different texts than are kept


def test_rows_of_long_texts_come_in_small_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "_CELLS", 1 << 18)
    monkeypatch.setattr(text, "_CHARACTERS", 100)
    sizes = set()
    true = making.ColumnMaker.add

    def spy(self: Any, cells: Any, n_before: int) -> None:
        sizes.add(len(cells))
        true(self, cells, n_before)

    monkeypatch.setattr(making.ColumnMaker, "add", spy)
    path = write_vectors(tmp_path, [[0.25] * 10] * 9)  # 60 characters each
    assert read(path).columns[0].values.shape == (9, 10)
    assert sizes == {1}


def test_texts_after_a_block_of_infinite_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["u,v", *["inf,1"] * 4, *["high,2"] * 4]))
    assert read(path).columns[0].values.tolist() == ["inf"] * 4 + ["high"] * 4


def test_a_long_label_is_told_by_its_row_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"u,y\n1,\n2,\n3,{'x' * 300}\n4,b\n")
    with pytest.raises(FileError, match="300 characters in row 3 of the column 'y'"):
        read(path, ReadOptions(label="y")).choose(label="y")
