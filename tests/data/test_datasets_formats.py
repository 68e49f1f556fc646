"""Packings and texts of the public homes, sound and malformed."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_matrix

from calipers.paper.datasets import DatasetError
from calipers.paper.datasets.formats import libsvm, matlab, uci
from calipers.paper.datasets.formats.lines import MalformedError
from calipers.paper.datasets.formats.unpack import opened
from unix_compress import compress

PLAIN = b"plain content\n" * 50


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("x.data", PLAIN),
        ("x.data.Z", compress(PLAIN)),
        ("x.data.gz", gzip.compress(PLAIN, mtime=0)),
        ("x.data.bz2", bz2.compress(PLAIN)),
        ("some.zip", zipped(x_data=PLAIN, x_data_Z=b"not read")),
        ("some.zip", zipped(x_names=b"", x_data_Z=compress(PLAIN))),
        ("some.zip", zipped(**{"folder/x_data": PLAIN})),
    ],
)
def test_every_packing_is_undone(tmp_path: Path, name: str, packed: bytes) -> None:
    (tmp_path / name).write_bytes(packed)
    with opened(tmp_path / name, "x.data") as stream:
        assert stream.read() == PLAIN
    (tmp_path / "part").write_bytes(packed)
    with opened(tmp_path / "part", "x.data", served=name) as stream:
        assert stream.read() == PLAIN


@pytest.mark.parametrize(
    ("name", "packed", "reason"),
    [
        ("x.data.Z", PLAIN, "it does not begin as a file of compress does"),
        ("x.data.gz", PLAIN, "Not a gzipped file (b'pl')"),
        ("x.data.gz", gzip.compress(PLAIN, mtime=0)[:-9], "Compressed file ended before"),
        ("x.data.bz2", PLAIN, "Invalid data stream"),
        ("x.data.bz2", bz2.compress(PLAIN)[:-1], "Compressed file ended before"),
        ("some.zip", PLAIN, "File is not a zip file"),
        ("some.zip", zipped(x_names=b"", y_data=b""), "the archive holds x.names, y.data"),
        ("some.zip", zipped(x_data=PLAIN).replace(b"plain", b"plane"), "Bad CRC-32 for file"),
    ],
)
def test_a_damaged_file_gets_one_sentence(
    tmp_path: Path, name: str, packed: bytes, reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(packed)
    with pytest.raises(DatasetError) as caught, opened(path, "x.data") as stream:
        stream.read()
    text = str(caught.value)
    assert text.startswith(f"x.data cannot be read from {str(path)!r} ({reason}")
    assert text.endswith("): delete that file and load the data set again.")


def semeion_line(digit: int, pixel: str = "1.0000") -> str:
    return " ".join([pixel, "0.0000"] * 128 + [str(int(k == digit)) for k in range(10)]) + " "


def connect4_line(outcome: str, first: str = "x") -> str:
    return ",".join([first, "o"] + ["b"] * 40 + [outcome])


def test_semeion() -> None:
    X, y = uci.semeion(f"{semeion_line(3)}\r\n{semeion_line(0)}\r\n")
    np.testing.assert_array_equal(X, np.tile([1.0, 0.0], (2, 128)))
    np.testing.assert_array_equal(y, [3, 0])


def test_letter() -> None:
    X, y = uci.letter("T," + ",".join(map(str, range(16))) + "\nA" + ",2" * 16 + "\n")
    np.testing.assert_array_equal(X, [np.arange(16), np.full(16, 2)])
    np.testing.assert_array_equal(y, [19, 0])


def test_connect4() -> None:
    lines = [connect4_line(outcome) for outcome in ("win", "draw", "loss")]
    X, y = uci.connect4("\n".join(lines))
    np.testing.assert_array_equal(X, [[3, 2] + [1] * 40] * 3)
    np.testing.assert_array_equal(y, [2, 0, 1])


def test_class_last() -> None:
    X, y = uci.class_last("-0.4394, 0.0000, 1.\n1.0000, -1.0000, 26.\n", n_features=2)
    np.testing.assert_array_equal(X, [[-0.4394, 0], [1, -1]])
    np.testing.assert_array_equal(y, [1, 26])
    assert [X.dtype.name, y.dtype.name] == ["float64", "int64"]


pairs = partial(uci.class_last, n_features=2)


@pytest.mark.parametrize(
    ("parse", "text", "line", "reason"),
    [
        (pairs, "1,2,3\n\n4,5\n", 3, "3 values are expected, got 2"),
        (pairs, "1,2,3\n4,x,5\n", 2, "'x' is not a number"),
        (pairs, "1,2,3\n4,nan,5\n", 2, "'nan' is not a number"),
        (pairs, "1,2\n4,5\n", 1, "3 values are expected, got 2"),
        (uci.letter, "A" + ",1" * 16 + "\nB,1", 2, "17 values are expected, got 2"),
        (uci.letter, "A" + ",1" * 16 + "\n\na" + ",1" * 16, 3, "'a' is not one of A to Z"),
        (uci.letter, "A" + ",1" * 15 + ",?", 1, "'?' is not a number"),
        (uci.connect4, connect4_line("lost"), 1, "'lost' is not one of draw, loss, win"),
        (uci.connect4, connect4_line("win", "z"), 1, "'z' is not one of b, o, x"),
        (uci.semeion, semeion_line(3, "one"), 1, "'one' is not a number"),
        (
            uci.semeion,
            f"{semeion_line(3)}\n{semeion_line(10)}",
            2,
            "one of the last ten values must be 1 and the others 0",
        ),
        (uci.letter, "\n \n", 0, "there are no lines"),
        (pairs, "", 0, "there are no lines"),
    ],
)
def test_malformed_texts_are_blamed_by_line(
    parse: Callable[[str], object], text: str, line: int, reason: str
) -> None:
    with pytest.raises(MalformedError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.reason) == (line, reason)


def sparse(text: str) -> tuple[object, object]:
    @contextmanager
    def reopen() -> Iterator[IO[bytes]]:
        yield io.BytesIO(text.encode())

    X, y = libsvm.sparse_rows(reopen, n_features=4)
    return X.toarray().tolist(), y.tolist()


def test_libsvm() -> None:
    assert sparse("3 1:0.5 4:-1\n1 2:7 \n2\n") == (
        [[0.5, 0, 0, -1], [0, 7, 0, 0], [0, 0, 0, 0]],
        [3, 1, 2],
    )


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("1 1:2\nx 1:2\n", 2, "'x' is not the number of a class"),
        ("1 1:2\n\n1 1:y\n", 3, "'1:y' is not of the form column:value"),
        ("1 1:2\n1 12\n", 2, "'12' is not of the form column:value"),
        ("1 1:2\n1 1:nan\n", 2, "'1:nan' is not of the form column:value"),
        ("1 5:1\n", 1, "columns must rise from 1 to at most 4, got 5"),
        ("1 0:1\n", 1, "columns must rise from 1 to at most 4, got 0"),
        ("1 2:1 1:1\n", 1, "columns must rise from 1 to at most 4, got 1"),
    ],
)
def test_malformed_sparse_texts_are_blamed_by_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(MalformedError) as caught:
        sparse(text)
    assert (caught.value.line, caught.value.reason) == (line, reason)


def matlab_file(**variables: object) -> io.BytesIO:
    stored = io.BytesIO()
    savemat(stored, variables)
    return io.BytesIO(stored.getvalue())


def test_matlab() -> None:
    dense = np.array([[0, 2, 0], [1, 0, 5]])
    X, y = matlab.counts(matlab_file(fea=csc_matrix(dense.astype(float)), gnd=[[4], [9]]))
    np.testing.assert_array_equal(X.toarray(), dense)
    np.testing.assert_array_equal(y, [4, 9])


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (io.BytesIO(b"no such thing" * 20), "it is no MATLAB file (Unknown mat file type"),
        (io.BytesIO(b""), "it is no MATLAB file ("),
        (matlab_file(fea=np.eye(2)), "it has no variable 'gnd'"),
        (matlab_file(fea=np.eye(2), gnd=[1, 2, 3]), "it has 2 documents and 3 classes"),
    ],
)
def test_malformed_matlab_files(stream: io.BytesIO, reason: str) -> None:
    with pytest.raises(MalformedError) as caught:
        matlab.counts(stream)
    assert caught.value.reason.startswith(reason)
