"""What a file is by its first bytes."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from calipers import Euclidean, FileError, load
from calipers.data.files.signatures import JSON, N_BYTES, SAFETENSORS, content_of


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"\xef\xbb\xbf \n<!DOCTYPE HTML>", "a web page"),
        (b"<TABLE border=1><tr>", "a web page"),
        (b'\n[ {\n "a": 1}]', JSON),
        (b'{ "a": 1}', JSON),
        (b"[0.5, 1.5]", None),
        (b"width,kind\n1,a\n", None),
        (b"", None),
        (pickle.dumps([1]), "a pickle"),
        (b"\x80\x02\0\0\0\0\0\0{", SAFETENSORS),  # 640 bytes of header, not a pickle
    ],
)
def test_what_a_file_is(start: bytes, what: str | None) -> None:
    assert content_of(start[:N_BYTES]) == what


def test_a_metric_is_no_other_file_and_a_web_page_no_metric(tmp_path: Path) -> None:
    file = tmp_path / "m"
    Euclidean().fit(np.eye(3)).save(file)
    assert content_of(file.read_bytes()[:N_BYTES]) == SAFETENSORS
    file.write_bytes(b"<html>sign in</html>")
    with pytest.raises(FileError, match="is a web page, not a metric"):
        load(file)
