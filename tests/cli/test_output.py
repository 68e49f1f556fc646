"""How commands show results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from rich.progress import Progress

from calipers import Euclidean, MetricCV, TripletSGD
from calipers.cli.output import Meter, check_picture, write_json, write_picture
from calipers.data.files import FileError
from commands import SPECIES, X


class Broken:
    """A figure whose file cannot be finished."""

    def savefig(self, stream: IO[bytes], *, format: str) -> None:
        stream.write(b"half a pic")
        raise OSError("disk full")


def test_a_picture_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    old = tmp_path / "picture.png"
    old.write_text("old")
    with pytest.raises(FileError, match="disk full"):
        write_picture(Broken(), old)  # type: ignore[arg-type]
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("picture.png", "old")
    ]
    for place in (tmp_path, tmp_path / "nowhere" / "picture.png"):
        with pytest.raises(FileError):
            check_picture(place)


def test_json_has_no_numbers_beyond_float64(capsys: pytest.CaptureFixture[str]) -> None:
    write_json({"a": [1.5, float("inf")], "b": (float("nan"), None)})
    assert json.loads(capsys.readouterr().out) == {"a": [1.5, None], "b": [None, None]}


@pytest.mark.parametrize(
    "learner",
    [
        TripletSGD(n_triplets=50_000),
        MetricCV([("raw", Euclidean()), ("sgd", TripletSGD(n_triplets=20))]),
    ],
    ids=["steps", "fits"],
)
def test_a_bar_reaches_its_end(learner: Any) -> None:
    progress = Progress(disable=True)
    meter = Meter(progress, 2)
    with meter.step("one") as callback:
        learner.set_callbacks(callback).fit(X, SPECIES)
        np.testing.assert_allclose(progress.tasks[0].completed, 1.0)
    assert progress.tasks[0].completed == 1.0
