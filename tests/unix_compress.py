"""A plain encoder of the Unix program ``compress``, to test the decoder with."""

from __future__ import annotations


class _Writer:
    """Codes in groups of eight; the rest of a group is zero where the width changes."""

    def __init__(self, header: int) -> None:
        self.out = bytearray([0x1F, 0x9D, header])
        self.width = 9
        self._codes: list[int] = []

    def put(self, code: int) -> None:
        self._codes.append(code)
        if len(self._codes) == 8:
            self._flush(self.width)

    def change_width(self, width: int) -> None:
        if self._codes:
            self._flush(self.width)
        self.width = width

    def finish(self) -> bytes:
        self._flush(-(-len(self._codes) * self.width // 8))
        return bytes(self.out)

    def _flush(self, n_bytes: int) -> None:
        bits = sum(code << (place * self.width) for place, code in enumerate(self._codes))
        self.out += bits.to_bytes(n_bytes, "little")
        self._codes = []


def compress(
    data: bytes, *, limit: int = 16, block: bool = True, clear_every: int | None = None
) -> bytes:
    """Pack ``data``; the table is cleared after each ``clear_every`` codes (with ``block``)."""
    writer = _Writer(limit | (0x80 if block else 0))
    n_fixed = 257 if block else 256
    single = {bytes([value]): value for value in range(256)}
    table, n_codes, start = dict(single), 0, 0
    while start < len(data):
        end = start + 1
        while end < len(data) and data[start : end + 1] in table:
            end += 1
        writer.put(table[data[start:end]])
        n_codes += 1
        known_to_reader = n_fixed + n_codes - 1
        if known_to_reader == 1 << writer.width and (writer.width < limit or writer.width == 9):
            writer.change_width(writer.width + 1)
        if n_fixed + len(table) - 256 < 1 << limit:
            table[data[start : end + 1]] = n_fixed + len(table) - 256
        if block and clear_every and n_codes % clear_every == 0:
            writer.put(256)
            writer.change_width(9)
            table, n_codes = dict(single), 0
        start = end
    return writer.finish()
