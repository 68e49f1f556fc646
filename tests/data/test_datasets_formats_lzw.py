"""The decoder of compress: against an encoder, against gzip, and on damaged bytes."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.paper.datasets.formats.lzw import BrokenCodesError, decompress
from unix_compress import compress

STORED = bytes.fromhex("1f9d90 62c2b8111806444037 640c0a243307")
"""Thirteen codes of nine bits for "banana band bands", which gzip reads as that."""

TEXTS = st.one_of(
    st.binary(max_size=2000),
    st.text(alphabet="ab", max_size=3000).map(str.encode),
    st.integers(0, 2**32 - 1).map(
        lambda seed: np.random.default_rng(seed).integers(0, 7, 6000).astype(np.uint8).tobytes()
    ),
)


@given(
    data=TEXTS,
    limit=st.integers(9, 16),
    block=st.booleans(),
    clear_every=st.none() | st.integers(1, 900),
)
def test_what_was_packed_comes_out(
    data: bytes, limit: int, block: bool, clear_every: int | None
) -> None:
    packed = compress(data, limit=limit, block=block, clear_every=clear_every)
    assert decompress(packed) == data


def samples() -> list[bytes]:
    """Files that grow through every width, fill the table, and are cleared."""
    rng = np.random.default_rng(0)
    varied = rng.integers(0, 256, 150_000).astype(np.uint8).tobytes()
    dull = rng.integers(0, 3, 50_000).astype(np.uint8).tobytes()
    return [
        compress(b""),
        compress(b"a" * 10_000),
        compress(varied),
        compress(varied, limit=12, clear_every=5_003),
        compress(dull, clear_every=777),
        compress(dull, limit=9),
        compress(dull, limit=10, block=False),
    ]


@pytest.mark.skipif(shutil.which("gzip") is None, reason="there is no gzip to compare with")
@pytest.mark.parametrize("number", range(7))
def test_gzip_reads_the_same(number: int) -> None:
    packed = samples()[number]
    theirs = subprocess.run(["gzip", "-dc"], input=packed, capture_output=True, check=True)
    assert decompress(packed) == theirs.stdout


@pytest.mark.skipif(shutil.which("compress") is None, reason="the program compress is not here")
def test_what_the_program_compress_packed_comes_out() -> None:
    data = np.random.default_rng(1).integers(0, 9, 400_000).astype(np.uint8).tobytes()
    packed = subprocess.run(["compress", "-c"], input=data, capture_output=True, check=True)
    assert decompress(packed.stdout) == data


def test_a_stored_file_comes_out() -> None:
    assert decompress(STORED) == b"banana band bands"


@pytest.mark.parametrize(
    ("packed", "reason"),
    [
        (b"", "it does not begin as a file of compress does"),
        (b"PK\x03\x04", "it does not begin as a file of compress does"),
        (b"\x1f\x9d\x88", "its header 0x88 is none of compress"),
        (b"\x1f\x9d\xf0", "its header 0xf0 is none of compress"),
        (b"\x1f\x9d\x90\xff\xff", "code 511 before byte 12 has no meaning yet"),
    ],
)
def test_damaged_bytes_are_refused(packed: bytes, reason: str) -> None:
    with pytest.raises(BrokenCodesError) as caught:
        decompress(packed)
    assert str(caught.value) == reason
