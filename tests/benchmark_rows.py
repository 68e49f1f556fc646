"""Run a command of the benchmarks and look at its rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.__main__ import main
from benchmarks.rows import Row


def run(command: str, tmp_path: Path, *words: str) -> list[Row]:
    """Run a command and hold that what it returns is what it wrote."""
    file = tmp_path / "rows.jsonl"
    rows = main([command, "--rows", str(file), *words])
    stored = [json.loads(line) for line in file.read_text().splitlines()]
    assert [{**row, **facts} for row, facts in zip(rows, stored, strict=True)] == stored
    assert not [row for row in rows if "skipped" in row]
    return rows


def finite(row: Row, *keys: str) -> bool:
    values: list[Any] = [row[key] for key in keys]
    return bool(np.all(np.isfinite(values)) and min(values) >= 0)
