"""Decoder for files of the Unix program ``compress`` (.Z), which Python cannot read.

Such a file is a header of three bytes and then code words of 9 to 16 bits, the lowest bit
first. A code stands for a string; after each code one more string gets a code: the string
before, and the first byte of the present one. Codes are written in groups of eight, and
where their width changes the rest of a group is padding.
"""

from __future__ import annotations

_MAGIC = b"\x1f\x9d"
_CLEAR = 256
_FIRST_WIDTH = 9


class BrokenCodesError(ValueError):
    """The bytes are not a whole file of ``compress``."""


def decompress(packed: bytes) -> bytes:
    """Return what ``compress`` packed.

    Raises
    ------
    BrokenCodesError
        The header or a code is impossible.

    Examples
    --------
    >>> decompress(bytes.fromhex("1f9d90 61c40404"))
    b'abab'
    """
    limit, has_clear = _header(packed)
    strings = [bytes([value]) for value in range(256)] + ([b""] if has_clear else [])
    n_fixed = len(strings)
    out: list[bytes] = []
    previous, width, position = b"", _FIRST_WIDTH, 3
    while position < len(packed):
        group = packed[position : position + width]
        position += width
        bits, mask = int.from_bytes(group, "little"), (1 << width) - 1
        for _ in range(8 * len(group) // width):
            code = bits & mask
            bits >>= width
            if code == _CLEAR and has_clear:
                del strings[n_fixed:]
                previous, width = b"", _FIRST_WIDTH
                break
            if code < len(strings):
                string = strings[code]
            elif code == len(strings) and previous:
                string = previous + previous[:1]
            else:
                raise BrokenCodesError(f"code {code} before byte {position} has no meaning yet")
            out.append(string)
            if previous and len(strings) < 1 << limit:
                strings.append(previous + string[:1])
            previous = string
            # Codes of at most 9 bits are written with 10 all the same once 9 are full.
            if len(strings) == 1 << width and (width < limit or width == _FIRST_WIDTH):
                width += 1
                break
    return b"".join(out)


def _header(packed: bytes) -> tuple[int, bool]:
    """Return the largest width of a code, and whether code 256 clears the table."""
    if len(packed) < 3 or packed[:2] != _MAGIC:
        raise BrokenCodesError("it does not begin as a file of compress does")
    limit = packed[2] & 0x1F
    if packed[2] & 0x60 or not _FIRST_WIDTH <= limit <= 16:
        raise BrokenCodesError(f"its header {packed[2]:#04x} is none of compress")
    return limit, bool(packed[2] & 0x80)
