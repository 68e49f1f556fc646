"""Few components of ours beside those of others."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import components
from benchmarks.__main__ import main
from benchmarks.rows import Row

from benchmark_rows import finite, run

pytestmark = pytest.mark.usefixtures("no_data_folder")


def test_every_learner_has_as_many_components(tmp_path: Path) -> None:
    words = ["--only", "wine", "--seeds", "0", "1"]
    rows = run("components", tmp_path, *words)
    assert [(row["n_components"], row["learner"]) for row in rows[:6]] == [
        *((2, learner) for learner in ("TripletSGD", "LDA", "PCA")),
        *((3, learner) for learner in ("TripletSGD", "LDA", "PCA")),
    ]
    assert (rows[6]["learner"], rows[6]["n_components"]) == ("NCA", 2)
    assert all(finite(row, "error", "seconds") for row in rows)
    file = str(tmp_path / "rows.jsonl")
    assert main(["components", "--rows", file, *words]) == []


def test_means_are_of_the_same_training_parts() -> None:
    def row(seed: int, n_train: int, learner: str, error: float) -> Row:
        place = {"data": "a", "seed": seed, "n_train": n_train, "n_components": 2}
        return {**place, "learner": learner, "error": error}

    rows = [row(seed, 100, "TripletSGD", 10.0 + seed) for seed in range(3)]
    rows += [row(seed, 100, "PCA", 8.0) for seed in range(2)]
    rows += [row(0, 50, "TripletSGD", 20.0), row(0, 50, "NCA", 30.0)]
    pca, nca = components.means(rows)
    assert (pca["peer"], pca["n_runs"], pca["value"], pca["change"]) == ("PCA", 2, 10.5, 2.5)
    assert (pca["standard_error"], pca["holds"]) == (0.5, False)
    assert (nca["peer"], nca["n_train"], nca["change"], nca["holds"]) == ("NCA", 50, -10.0, True)
