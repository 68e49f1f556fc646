"""Tables as samples, for tests of their reader."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from calipers import FileError, TableEncoder
from calipers.data.frames import Reader
from calipers.data.tables import read_table


def samples_of(path: Path, *, label: str | None = None, ignore: Any = (), **reader: Any) -> Any:
    """Read a file and encode its columns: X, y, names, left_out and notes."""
    table = read_table(path, Reader(**reader), label=label, ignore=ignore)
    rows = table.has_label if label is not None else slice(None)
    found = SimpleNamespace(y=table.y, X=table.X, others=table.others, notes=table.notes)
    found.names, found.left_out = None, {}
    if hasattr(table.X, "columns"):
        encoder = TableEncoder(decimal=reader.get("decimal", "."))
        try:
            found.X = encoder.fit_transform(table.X[rows])
        except ValueError as wrong:
            raise FileError(f"{path}: {wrong}") from wrong
        found.names = encoder.get_feature_names_out().tolist() if table.named else None
        found.notes, found.left_out = table.notes + encoder.notes_, encoder.left_out_
    return found
