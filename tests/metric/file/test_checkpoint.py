"""States of a fit: what is written is read, and every change is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import FileError
from calipers.metric.file.checkpoint import State, read_states, write_states
from metric_files import joined, parts, sealed, small_file

STATES = [
    State({"M": np.eye(2), "tally": np.arange(3, dtype=np.uint8)}, {"n": 3, "streams": [2**127]}),
    State({"M": np.full((2, 2), np.inf)}, {"n": 1, "identity": "ä"}),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_states(tmp_path / "state", STATES)
    return tmp_path / "state"


def told(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        read_states(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_states_come_back(path: Path) -> None:
    again = read_states(path)
    assert [state.facts for state in again] == [state.facts for state in STATES]
    for state, expected in zip(again, STATES, strict=True):
        assert state.arrays.keys() == expected.arrays.keys()
        for name, array in expected.arrays.items():
            np.testing.assert_array_equal(state.arrays[name], array, strict=True)


def test_no_file_is_no_state(tmp_path: Path) -> None:
    assert read_states(tmp_path / "none") == []


def test_a_round_that_begins_as_another_does(tmp_path: Path) -> None:
    states = [State({"M": np.array([float(number)])}, {}) for number in range(12)]
    write_states(tmp_path / "state", states)
    assert [float(state.arrays["M"][0]) for state in read_states(tmp_path / "state")] == [
        float(number) for number in range(12)
    ]


def test_every_flipped_bit_is_told(path: Path) -> None:
    data = path.read_bytes()
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        assert told(path).startswith(f"{str(path)!r} is not a whole checkpoint (")


def test_another_fact_dtype_or_shape_is_told(path: Path) -> None:
    data = path.read_bytes()
    outer, body = parts(data)
    for entry, value in (("dtype", "I64"), ("shape", [4])):
        changed = {**outer, "0.M": {**outer["0.M"], entry: value}}
        path.write_bytes(joined(changed, body))
        assert "(its bytes do not have the checksum in its header)" in told(path)
    path.write_bytes(data.replace(b'\\"n\\": 3', b'\\"n\\": 4'))
    assert told(path) == (
        f"{str(path)!r} is not a whole checkpoint (its bytes do not have the checksum in its "
        "header): remove it to start anew, or name another."
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"format": 1, "rounds": []}', "it is of another format"),
        ("[]", "it is of another format"),
        ('{"format": 2, "rounds": 3}', "it has no list of rounds"),
        ('{"format": 2, "rounds": [3]}', "it has no list of rounds"),
        ("{", "Expecting"),
    ],
)
def test_texts_that_are_none_of_ours(text: Any, expected: str, path: Path) -> None:
    outer, body = parts(path.read_bytes())
    outer["__metadata__"]["calipers-checkpoint"] = text
    path.write_bytes(sealed(outer, body))
    assert expected in told(path)


def test_a_metric_is_no_checkpoint(tmp_path: Path) -> None:
    assert "is not a whole checkpoint (it is another file)" in told(small_file(tmp_path))
