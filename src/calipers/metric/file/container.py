"""A JSON text and named arrays in one safetensors file, under one checksum.

The file's metadata hold two entries: the text under a key of the caller, and ``sha256``. The
checksum is the SHA-256 of all bytes of the file, with its own 64 digits as zeros. It covers names,
dtypes and shapes of the arrays as well as their values and the text.
"""

from __future__ import annotations

import json
import os
import re
import struct
from hashlib import sha256
from typing import IO, Any, TypeAlias

import numpy.typing as npt

from calipers.data.files.errors import reason

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]

_CHECKSUM = "sha256"
_NO_DIGITS = "0" * 64
_DIGITS = re.compile("[0-9a-f]{64}")
_LONGEST_HEAD = 64 << 20
_CHUNK = 1 << 20
_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
_NAME_OF = {dtype: name for name, dtype in _DTYPES.items()}


class DamagedError(Exception):
    """What is wrong with a file, as the end of a sentence."""


class ForeignError(Exception):
    """The file is of another kind; the argument says which."""


def can_hold(array: npt.NDArray[Any]) -> bool:
    """Whether a file has the array's dtype: booleans and real numbers up to 64 bits.

    >>> import numpy as np
    >>> can_hold(np.zeros(2)), can_hold(np.array(["a"]))
    (True, False)
    """
    return array.dtype.newbyteorder("<").str in _NAME_OF


def pack(key: str, text: str, arrays: Arrays) -> bytes:
    """Return the bytes of a file; the same contents give the same bytes.

    The library's own writer orders metadata at random.
    """
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))  # aligned
    head: dict[str, Any] = {"__metadata__": {key: text, _CHECKSUM: _NO_DIGITS}}
    parts, start = [], 0
    for name in order:
        array = arrays[name].astype(arrays[name].dtype.newbyteorder("<"), order="C", copy=False)
        end = start + array.nbytes
        head[name] = {
            "dtype": _NAME_OF[array.dtype.str],
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
        parts.append(array.tobytes())
        start = end
    encoded = json.dumps(head, separators=(",", ":"), allow_nan=False).encode()
    encoded += b" " * (-len(encoded) % 8)
    first = struct.pack("<Q", len(encoded)) + encoded
    digest = sha256(first)
    for part in parts:
        digest.update(part)
    return b"".join([_with_digits(first, _NO_DIGITS, digest.hexdigest()), *parts])


class Reader:
    """A file that is open for reading; its beginning is read at once, its arrays on demand.

    Parameters
    ----------
    stream : binary file
        The file, at its beginning.
    key : str
        Name of the text among the metadata.

    Attributes
    ----------
    text : str
        The text, not yet checked against the checksum.

    Raises
    ------
    DamagedError
        The beginning cannot be read.
    ForeignError
        It is a safetensors file without such a text.
    """

    def __init__(self, stream: IO[bytes], key: str) -> None:
        self._stream = stream
        n_bytes = os.fstat(stream.fileno()).st_size
        prefix = stream.read(8)
        if len(prefix) < 8:
            raise DamagedError(f"it has {n_bytes} bytes")
        (length,) = struct.unpack("<Q", prefix)
        if length > min(n_bytes - 8, _LONGEST_HEAD):
            raise DamagedError("its header ends beyond the file")
        encoded = stream.read(length)
        self._first = prefix + encoded
        try:
            head = json.loads(encoded)
        except (ValueError, RecursionError) as wrong:
            raise DamagedError("its outer header is not JSON") from wrong
        metadata = head.get("__metadata__") if isinstance(head, dict) else None
        if not isinstance(metadata, dict) or not isinstance(metadata.get(key), str):
            raise ForeignError("a safetensors file without a calipers header")
        self.text: str = metadata[key]
        self._digits = metadata.get(_CHECKSUM)

    def arrays(self) -> Arrays:
        """Check all bytes against the checksum, and return the arrays.

        Raises
        ------
        DamagedError
            The checksum is another one, or the arrays are not of a safetensors file.
        """
        self._check()
        self._stream.seek(0)
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            found: Arrays = load(self._stream.read())
        except (SafetensorError, OSError, KeyError, TypeError, ValueError, OverflowError) as wrong:
            raise DamagedError(reason(wrong)) from wrong
        for name, array in found.items():
            if not can_hold(array):
                raise DamagedError(f"{name[:100]!r} is of dtype {array.dtype}")
        return found

    def _check(self) -> None:
        if not isinstance(self._digits, str) or not _DIGITS.fullmatch(self._digits):
            raise DamagedError("its header has no checksum")
        digest = sha256(_with_digits(self._first, self._digits, _NO_DIGITS))
        while chunk := self._stream.read(_CHUNK):
            digest.update(chunk)
        if digest.hexdigest() != self._digits:
            raise DamagedError("its bytes do not have the checksum in its header")


def _with_digits(first: bytes, old: str, new: str) -> bytes:
    """Replace the checksum's digits; within other texts quotes are escaped, so only there."""
    return first.replace(_field(old), _field(new), 1)


def _field(digits: str) -> bytes:
    return f'"{_CHECKSUM}":"{digits}"'.encode()
