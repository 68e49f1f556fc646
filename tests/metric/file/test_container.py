"""A text and arrays in one safetensors file, under one checksum."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save

from calipers.metric.file.container import DamagedError, ForeignError, Reader, can_hold, pack
from metric_files import joined, parts, sealed

ARRAYS: dict[str, Any] = {
    "b": np.arange(6.0).reshape(2, 3),
    "a": np.array([1, 2, 3], dtype=np.uint8),
    "empty": np.zeros((0, 3), dtype=np.float32),
    "scalar": np.array(2.5),
    "flags": np.array([True, False]),
    "nan": np.array([np.nan, -0.0]),
}


def unpacked(data: bytes, folder: Path, key: str = "key") -> tuple[str, dict[str, Any]]:
    path = folder / "f"
    path.write_bytes(data)
    with path.open("rb") as stream:
        reader = Reader(stream, key)
        return reader.text, reader.arrays()


def test_what_is_packed_is_read(tmp_path: Path) -> None:
    text, arrays = unpacked(pack("key", '{"ä": "\\"x\\"\0"}', ARRAYS), tmp_path)
    assert text == '{"ä": "\\"x\\"\0"}'
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()


def test_the_library_reads_it_and_numbers_are_aligned(tmp_path: Path) -> None:
    data = pack("key", "text", ARRAYS)
    (tmp_path / "f").write_bytes(data)
    with safe_open(tmp_path / "f", framework="np") as opened:
        assert set(opened.metadata()) == {"key", "sha256"}
        np.testing.assert_array_equal(opened.get_tensor("b"), ARRAYS["b"])
    outer, body = parts(data)
    start = len(data) - len(body)
    for name, array in ARRAYS.items():
        assert (start + outer[name]["data_offsets"][0]) % array.dtype.itemsize == 0


def test_the_same_contents_give_the_same_bytes() -> None:
    backwards = dict(reversed(ARRAYS.items()))
    assert len({pack("key", "text", arrays) for arrays in (ARRAYS, backwards)}) == 1


def test_bytes_are_in_one_order_whatever_the_memory_has(tmp_path: Path) -> None:
    array = np.arange(6.0).reshape(2, 3)
    expected = pack("key", "", {"a": array})
    for same in (np.asfortranarray(array), array.astype(">f8"), array[::-1][::-1]):
        assert pack("key", "", {"a": same}) == expected


def test_a_text_with_a_checksum_in_it_is_only_a_text(tmp_path: Path) -> None:
    text = '{"sha256":"' + "0" * 64 + '"}'
    assert unpacked(pack("key", text, ARRAYS), tmp_path)[0] == text


@pytest.mark.parametrize("digits", [None, 3, "", "\ud800", "0" * 64, "g" * 64, "A" * 64])
def test_another_checksum(digits: Any, tmp_path: Path) -> None:
    outer, body = parts(pack("key", "text", ARRAYS))
    outer["__metadata__"]["sha256"] = digits
    with pytest.raises(DamagedError, match="checksum"):
        unpacked(joined(outer, body), tmp_path)


@pytest.mark.parametrize("metadata", [None, {}, [], {"other": "text"}, {"key": 3}])
def test_files_without_the_text(metadata: Any, tmp_path: Path) -> None:
    outer, body = parts(pack("key", "text", ARRAYS))
    outer["__metadata__"] = metadata
    with pytest.raises(ForeignError, match="a safetensors file without a calipers header"):
        unpacked(joined(outer, body), tmp_path)
    with pytest.raises(ForeignError):
        unpacked(save({"a": np.eye(2)}), tmp_path)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"abc", "it has 3 bytes"),
        (b"\xff" * 8 + b"{}", "its header ends beyond the file"),
        (b"\x03" + bytes(7) + b"{}", "its header ends beyond the file"),
        (b"\x02" + bytes(7) + b"{]", "its outer header is not JSON"),
        ((50_000).to_bytes(8, "little") + b"[" * 50_000, "its outer header is not JSON"),
    ],
)
def test_beginnings_that_are_none(data: bytes, expected: str, tmp_path: Path) -> None:
    with pytest.raises(DamagedError, match=expected):
        unpacked(data, tmp_path)


def test_a_beginning_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calipers.metric.file.container._LONGEST_HEAD", 100)
    with pytest.raises(DamagedError, match="its header ends beyond the file"):
        unpacked(pack("key", "x" * 200, {}), tmp_path)


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "C64", "X", "F16"])
def test_dtypes_that_numpy_has_not_are_told(dtype: str, tmp_path: Path) -> None:
    outer, body = parts(pack("key", "text", {"a": np.ones(3)}))
    outer["a"]["dtype"] = dtype
    with pytest.raises(DamagedError):
        unpacked(sealed(outer, body), tmp_path)


def test_what_a_file_can_hold() -> None:
    assert all(map(can_hold, ARRAYS.values()))
    assert can_hold(np.zeros(2, dtype=">f8"))
    for array in (np.array(["a"]), np.array([1j]), np.array([None]), np.array(0, "M8[s]")):
        assert not can_hold(array)
    if np.dtype(np.longdouble).itemsize > 8:
        assert not can_hold(np.zeros(2, dtype=np.longdouble))
