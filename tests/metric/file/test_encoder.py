"""How columns became features: what is read is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import FileError, load
from calipers.metric.file import write
from calipers.metric.file.encoder import encoder_problem
from metric_files import ENCODER, small_contents, small_file, with_header


def column(**changes: Any) -> dict[str, Any]:
    return {"name": "a", "type": "number", "fill": None, "categories": None} | changes


COLUMNS = [
    column(fill=3),
    column(name="b", type="category", categories=["x", 1, True, None, 1.5], fill="other"),
    column(name="c", type="boolean", fill=False),
    column(name="d", type="date", fill="2020-01-01"),
    column(name="e", type="date", fill=0.5),
]


def test_columns_of_every_type_come_back(tmp_path: Path) -> None:
    assert encoder_problem(COLUMNS) is None
    nine = {"components": np.ones((1, 9)), "feature_scale": None, "similarity": None}
    write(small_contents(encoder=COLUMNS, feature_names=None, arrays=nine), tmp_path / "m")
    assert load(tmp_path / "m").encoder_ == COLUMNS


@pytest.mark.parametrize(
    ("encoder", "expected"),
    [
        ([], "its encoder is not a list of columns"),
        ({}, "its encoder is not a list of columns"),
        (3, "its encoder is not a list of columns"),
        ([3], "column 0 of its encoder does not have categories, fill, name, type"),
        ([{"name": "a"}], "column 0 of its encoder does not have"),
        ([column(more=1)], "column 0 of its encoder does not have"),
        ([column(name=3)], "column 0 of its encoder has no name"),
        ([column(name="\ud800")], "column 0 of its encoder has no name"),
        ([column(type="text")], "column 'a' of its encoder is of type 'text', not number, "),
        ([column(type=["number"])], "column 'a' of its encoder is of type"),
        ([column(categories=["x"])], "column 'a' of its encoder is of type 'number' and has cat"),
        ([column(type="category")], "column 'a' of its encoder has no list of distinct categ"),
        ([column(type="category", categories=[])], "has no list of distinct categories"),
        ([column(type="category", categories=["x", "x"])], "has no list of distinct categories"),
        ([column(type="category", categories=[["x"]])], "has no list of distinct categories"),
        ([column(fill="x")], "column 'a' of its encoder has a fill value that is no number"),
        ([column(fill=True)], "has a fill value that is no number"),
        ([column(type="boolean", fill=1)], "has a fill value that is no boolean"),
        ([column(type="date", fill=True)], "has a fill value that is no date"),
        ([column(type="category", categories=["x"], fill={})], "a fill value that is no category"),
        ([column(), column()], "its encoder has two columns of one name"),
    ],
    ids=str,
)
def test_what_is_no_encoder_is_told(encoder: Any, expected: str, tmp_path: Path) -> None:
    path = small_file(tmp_path)
    path.write_bytes(with_header(path.read_bytes(), encoder=encoder))
    with pytest.raises(FileError) as caught:
        load(path)
    told = str(caught.value)
    assert expected in told
    assert "\n" not in told
    assert told.endswith("save the metric again, or copy the file anew.")
    with pytest.raises(FileError, match="cannot be saved"):
        write(small_contents(encoder=encoder), tmp_path / "m")


def test_a_file_needs_no_encoder(tmp_path: Path) -> None:
    assert load(small_file(tmp_path)).encoder_ == ENCODER
    write(small_contents(encoder=None), tmp_path / "m")
    assert load(tmp_path / "m").encoder_ is None
