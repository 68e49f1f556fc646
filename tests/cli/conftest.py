"""What tests of commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import write_csv


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the data, in which commands run."""
    monkeypatch.chdir(tmp_path)
    write_csv(Path("iris.csv"))
    return tmp_path
