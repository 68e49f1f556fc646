"""A file gives back what was saved, of whatever kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calipers import FileError, QueryMap, SavedMetric, load
from calipers.loading import load_metric
from metric_files import small_file


def test_every_kind_is_read_as_what_it_is(tmp_path: Path) -> None:
    assert isinstance(load(small_file(tmp_path)), SavedMetric)
    for kind in ("adapter", "bridge"):
        saved = QueryMap(np.eye(2), kind=kind)
        saved.save(tmp_path / kind)
        assert load(tmp_path / kind) == saved


def test_a_map_of_queries_is_no_metric(tmp_path: Path) -> None:
    path = tmp_path / "bridge"
    QueryMap(np.eye(2), kind="bridge").save(path)
    assert isinstance(load_metric(small_file(tmp_path)), SavedMetric)
    with pytest.raises(FileError) as caught:
        load_metric(path)
    assert str(caught.value) == (
        f"{str(path)!r} is a saved bridge, not a metric: give a file that 'calipers fit' wrote."
    )
