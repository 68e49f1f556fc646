"""What a file is by its first bytes, whatever its name says."""

from __future__ import annotations

N_BYTES = 64
"""Bytes at the beginning of a file that tell what it is."""

SAFETENSORS, JSON, PARQUET = "a safetensors file", "JSON", "a Parquet table"

PARQUET_SIGN = b"PAR1"
"""What a Parquet table begins and ends with; a text may begin so, too."""

_BINARY = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip file"),
    *((b"BZh%d1AY&SY" % level, "a bzip2 file") for level in range(1, 10)),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x93NUMPY", "a NumPy array"),
    *((b"\x80" + bytes([protocol]), "a pickle") for protocol in range(2, 6)),
    (b"%PDF-", "a PDF document"),
    (PARQUET_SIGN, PARQUET),
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls) or one with a password"),
)
_TEXT = (
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<table", "a web page"),
    (b"<?xml", "XML"),
    (b"version https://git-lfs", "a placeholder of Git LFS"),
    (b'{"', JSON),
    (b"[{", JSON),
)


def content_of(start: bytes) -> str | None:
    r"""Return what a file is that begins with these bytes, or None for all other kinds.

    >>> content_of(b"\x1f\x8b\x08"), content_of(b"<HTML>"), content_of(b"size,kind\n")
    ('a gzip file', 'a web page', None)
    """
    if start[8:9] == b"{" and b"\0" in start[:8]:  # whose length may begin as a pickle does
        return SAFETENSORS
    text = b"".join(start.removeprefix(b"\xef\xbb\xbf").lower().split())
    texts = ((b"".join(beginning.split()), what) for beginning, what in _TEXT)
    known = [what for beginning, what in _BINARY if start.startswith(beginning)]
    known += [what for beginning, what in texts if text.startswith(beginning)]
    return known[0] if known else None
