"""The folder with the paper's data, for tests that need it; they are skipped without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("CALIPERS_DATA") or Path(__file__).parents[2] / "shared" / "data")

needs_data = pytest.mark.skipif(
    not (FOLDER / "semeion.npz").is_file(),
    reason="the paper's data are not here: set CALIPERS_DATA to their folder",
)
