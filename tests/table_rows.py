"""Tables as samples, for tests of their readers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from calipers import FileError
from calipers.data.encoder import TableEncoder
from calipers.data.tables import ReadOptions, read
from calipers.data.tables.columns import Columns


def samples_of(path: Path, *, label: str | None = None, kind: str | None = None, **how: Any) -> Any:
    """Read a file, choose and encode its columns: X, y, names, label, left_out and notes."""
    table = read(path, ReadOptions(label=label), kind=kind)
    chosen = table.choose(label=label, **how)
    X = chosen.labelled()
    found = SimpleNamespace(X=X, y=chosen.y, label=chosen.label, names=None, notes=[])
    found.left_out = dict(chosen.left_out)
    if isinstance(X, Columns):
        try:
            encoder = TableEncoder(decimal=table.decimal).fit(X)
        except ValueError as wrong:
            raise FileError(f"{path}: {wrong}") from wrong
        found.X, found.notes = encoder.transform(X), encoder.notes_
        found.left_out |= encoder.left_out_
        found.names = encoder.get_feature_names_out().tolist() if chosen.named else None
    return found
