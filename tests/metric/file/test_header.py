"""Headers: other formats are named, and entries of another type are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors

import calipers
from calipers import FileError
from calipers.metric.file import header, write
from metric_files import message, small_contents, small_file, with_header

NESTED: Any = [[[[[[[[[[[[]]]]]]]]]]]]


def test_a_header_is_read_as_it_was_written() -> None:
    contents = small_contents()
    entries = header.entries_of(header.parse(header.to_text(contents)))
    assert type(contents)(arrays=contents.arrays, **entries) == contents


def test_a_file_of_the_future(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    path.write_bytes(with_header(path.read_bytes(), format=3, calipers="9.0", facts="changed"))
    assert message(path) == (
        f"{str(path)!r} was written by calipers 9.0, in a format later than 2, the last that "
        f"calipers {calipers.__version__} reads: upgrade calipers."
    )


def test_a_file_of_the_first_format(tmp_path: Path) -> None:
    """Of which none was released; its checksum was an entry of the header."""
    path = tmp_path / "m"
    text = json.dumps({"format": 1, "calipers": "0.1.0", "learner": "SPML", "sha256": "0" * 64})
    path.write_bytes(save_tensors({"components": np.eye(3)}, metadata={"calipers": text}))
    assert message(path) == (
        f"{str(path)!r} is a metric of format 1, which this version does not read: fit and save "
        "it again."
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"format": ...}, "its header names no format"),
        ({"format": True}, "its header names no format"),
        ({"format": "1"}, "its header names no format"),
        ({"learner": 3}, "'learner' in its header is not a text"),
        ({"kind": "model"}, "'kind' in its header is not one of metric, adapter, bridge"),
        ({"kind": ["metric"]}, "'kind' in its header is not one of metric, adapter, bridge"),
        ({"recipe": "sgd"}, "'recipe' in its header is not an object of JSON values"),
        ({"recipe": ...}, "'recipe' in its header is not an object of JSON values"),
        ({"parameters": [1]}, "'parameters' in its header is not an object of JSON values"),
        ({"parameters": {"a": NESTED}}, "'parameters' in its header is not"),
        ({"resolved": None}, "'resolved' in its header is not an object of JSON values"),
        ({"encoder": ...}, "'encoder' in its header is not a list"),
        ({"facts": {"a": float("nan")}}, "'facts' in its header is not"),
        ({"facts": {"a": [10**400]}}, "'facts' in its header is not"),
        ({"classes": [1 << 64]}, "'classes' in its header is not a list of texts and numbers"),
        ({"classes": "ab"}, "'classes' in its header is not a list of texts and numbers"),
        ({"notes": None}, "'notes' in its header is not a list of texts"),
        ({"feature_names": ["a"]}, "it names 1 features, but has 3"),
    ],
    ids=str,
)
def test_headers_that_do_not_fit(change: dict[str, Any], expected: str, tmp_path: Path) -> None:
    path = small_file(tmp_path)
    path.write_bytes(with_header(path.read_bytes(), **change))
    told = message(path)
    assert f"is not a whole metric file ({expected}" in told
    assert told.endswith("save the metric again, or copy the file anew.")


def test_a_header_that_could_not_be_read_back_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calipers.metric.file.header.LONGEST", 100)
    with pytest.raises(FileError, match="of at most 100 in a file: fit with shorter names"):
        write(small_contents(), tmp_path / "m")


def test_contents_that_json_does_not_have_are_not_written(tmp_path: Path) -> None:
    for change in (
        {"facts": {"a": float("nan")}},
        {"facts": {"a": np.eye(2)}},
        {"learner": "\ud800"},
    ):
        with pytest.raises(FileError, match=r"^The metric cannot be saved \(.*\): correct that"):
            write(small_contents(**change), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
