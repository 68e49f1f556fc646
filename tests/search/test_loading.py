"""A file gives back what was saved, of whatever kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from calipers import QueryMap, SavedMetric, load
from metric_files import small_file


def test_every_kind_is_read_as_what_it_is(tmp_path: Path) -> None:
    assert isinstance(load(small_file(tmp_path)), SavedMetric)
    for kind in ("adapter", "bridge"):
        saved = QueryMap(np.eye(2), kind=kind)
        saved.save(tmp_path / kind)
        assert load(tmp_path / kind) == saved
