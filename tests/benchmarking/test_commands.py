"""Every command that times ours: its rows hold together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmark_rows import finite, run
from search_log import turned

pytestmark = pytest.mark.usefixtures("no_data_folder")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with two logs of one rotation each; of one, judgements of grade 4 are wrong."""
    judged, graded = turned(120), turned(120, seed=1)
    np.savez(tmp_path / "scifact_train.npz", **judged._asdict())
    wrong = np.column_stack([graded.pairs[:, 0], np.roll(graded.pairs[:, 1], 1)])
    both = graded._replace(pairs=np.vstack([graded.pairs, wrong]))
    np.savez(tmp_path / "cranfield.npz", **both._asdict(), grade=np.repeat([1, 4], 120))
    return tmp_path


def test_search_by_folds(logs: Path) -> None:
    rows = run("search", logs, "folds", "--data-dir", str(logs), "--seeds", "1")
    assert [(row["collection"], row["held_out"]) for row in rows] == [
        (name, part) for name in ("scifact_train", "cranfield") for part in ("queries", "documents")
    ]
    for row in rows:
        assert row["taken"] == 4
        assert 20 < row["gain"] <= 100 - row["base"]
        assert 0 < row["error"] < 10


@pytest.mark.parametrize("what", ["seconds", "memory"])
def test_search_by_size(what: str, tmp_path: Path) -> None:
    (row,) = run("search", tmp_path, what, "--pairs", "80", "--documents", "90", "--d", "8")
    assert (row["pairs"], row["documents"], row["d"]) == (80, 90, 8)
    assert finite(row, "fit_seconds", "query_microseconds", "peak_megabytes")
    assert (row["one_seconds"] is None) == (what == "memory")


def test_speed(tmp_path: Path) -> None:
    words = "--only letter --methods as-sgd hr-sgd --shrink 50 --triplets 300"
    for row in run("speed", tmp_path, *words.split()):
        assert row["same_decisions"] == row["n_iterations"] == row["plain_iterations"]
        assert row["prefix_seconds"] == row["seconds"]
        assert finite(row, "ratio", "times_limit", "projections")


def test_mining(tmp_path: Path) -> None:
    for row in run("mining", tmp_path, "--only", "sensit", "connect4", "--shrink", "200"):
        assert row["equal"]
        assert finite(row, "ratio")


@pytest.mark.slow
def test_sizes(tmp_path: Path) -> None:
    words = ["--only", "0", "--shrink", "20"]
    (row,) = run("sizes", tmp_path, *words)
    assert row["name"] == "500 x 384, embeddings"
    assert finite(row, "seconds", "cpu_seconds", "above_megabytes")
