"""The demonstration."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from calipers.cli.output import write_picture
from calipers.paper import demo
from calipers.paper.progress import meter
from calipers.paper.tables import demo_table


def test_demo_scores_the_default_learner_first_and_draws_it(tmp_path: Path) -> None:
    with meter(demo.TOTAL_WEIGHT, console=Console(file=io.StringIO())) as bar:
        result = demo.run(bar, seed=1)
    assert [row.method for row in result.rows] == ["cv", "euclidean", *demo.DEMO_METHODS]
    assert all(0 <= row.error < 10 for row in result.rows)
    assert all(row.updates and row.updates > 0 for row in result.rows[2:])
    assert result.rows[0].updates is result.rows[1].updates is None
    figure = demo.picture(result)
    rings = [panel.collections[-1].get_offsets() for panel in figure.axes]
    n_test = len(result.data.y_test)
    for ringed, row in zip(rings, (result.rows[1], result.rows[0]), strict=True):
        assert 100 * len(np.asarray(ringed)) / n_test == pytest.approx(row.error)
    picture = tmp_path / "picture.png"
    write_picture(figure, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [picture]
    console = Console(file=io.StringIO(), width=100)
    console.print(demo_table(result.rows))
    assert isinstance(console.file, io.StringIO)
    assert "ha-sgd" in console.file.getvalue()
