"""Every command that times ours: its rows hold together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks import keel, kinds, startup

from benchmark_rows import finite, run
from data_folder import FOLDER, needs_data
from search_log import turned

pytestmark = pytest.mark.usefixtures("no_data_folder")


def test_embeddings(tmp_path: Path) -> None:
    words = "--dimensions 64 80 --samples 300 --classes 10 --triplets 60000 --components 4"
    rows = run("embeddings", tmp_path, *words.split())
    assert [row["d"] for row in rows] == [64, 80]
    for row in rows:
        assert finite(row, "seconds", "cpu_seconds", "mining_seconds")
        assert row["components"] == 4
        assert 0 < row["before"] < row["after"] <= 1
        assert 0 < row["at_components"] <= 1


def test_closed_forms(tmp_path: Path) -> None:
    words = "--samples 300 --features 6 --classes 3 --only Scaled LFDA GMML"
    rows = run("closed-forms", tmp_path, *words.split())
    assert [row["learner"] for row in rows] == ["Scaled", "GMML", "LFDA"]
    for row in rows:
        assert row["shape"] == "300 x 6"
        assert finite(row, "seconds", "cpu_seconds")


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


def test_search_of_a_collection_of_docstrings(tmp_path: Path) -> None:
    (logs := tmp_path / "logs").mkdir()
    words = ["--package", "sklearn", "--queries", "90", "--documents", "150"]
    (made,) = run("collections", tmp_path, *words, "--folder", str(tmp_path))
    assert (made["queries"], made["documents"], made["d"]) == (90, 150, 128)
    file = str(tmp_path / "sklearn-doc.npz")
    (row,) = run("search", logs, "folds", file, "--seeds", "1", "--held-out", "documents")
    assert row["collection"] == "sklearn-doc"
    assert 20 < row["base"] < 95  # words of a docstring's first lines come again
    with pytest.raises(SystemExit, match="functions at length, fewer than 100: name"):
        run("collections", tmp_path, "--package", "pytest", "--folder", str(tmp_path))


def test_search_by_random_pairs(logs: Path) -> None:
    for row in run("search", logs, "random", "--data-dir", str(logs), "--draws", "2"):
        assert 0 <= row["taken"] < row["draws"] == 2


@pytest.mark.parametrize("what", ["seconds", "memory"])
def test_search_by_size(what: str, tmp_path: Path) -> None:
    (row,) = run("search", tmp_path, what, "--pairs", "80", "--documents", "90", "--d", "8")
    assert (row["pairs"], row["documents"], row["d"]) == (80, 90, 8)
    assert finite(row, "fit_seconds", "query_microseconds", "peak_megabytes")
    assert (row["one_seconds"] is None) == (what == "memory")


def test_kinds(tmp_path: Path) -> None:
    words = ["--only", "100 samples of 2 features", "150 classes of two", "--seeds", "0", "1"]
    few, pairs = run("kinds", tmp_path, *words)
    assert (few["shape"], few["sizes"], few["n_runs"]) == ("100 x 2", "50 to 50", 2)
    assert (pairs["n_classes"], pairs["sizes"]) == (150, "2 to 2")
    for row in (few, pairs):
        assert finite(row, "seconds")
        assert row["change"] == row["default"] - row["euclidean"] < 0.5
    assert pairs["change"] < -10


LONG = ("a million samples", "embeddings of 384 dimensions", "embeddings of 1,536 dimensions")


@pytest.mark.parametrize("kind", [kind for kind in kinds.KINDS if kind not in LONG])
def test_kinds_have_samples_of_every_class_to_learn_from(kind: str) -> None:
    data = kinds.held_out(*kinds.KINDS[kind](3), seed=3)
    np.testing.assert_array_equal(np.unique(data.y_train), np.unique(kinds.KINDS[kind](3)[1]))
    assert np.isfinite(data.X_train).all()
    assert 100 <= len(data.X_test) <= 3000


def test_many_samples_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "MANY_SAMPLES", 99)
    words = ["--only", "100 samples of 2 features", "--learner", "MetricCV"]
    (row,) = run("kinds", tmp_path, *words)
    assert row["n_runs"] == 1


def test_speed(tmp_path: Path) -> None:
    words = "--only letter --methods as-sgd hr-sgd --shrink 50 --triplets 300 --fit-memory none"
    for row in run("speed", tmp_path, *words.split()):
        assert row["same_decisions"] == row["n_iterations"] == row["plain_iterations"]
        assert row["prefix_seconds"] == row["seconds"]
        assert row["average_difference"] < 1e-8
        assert finite(row, "ratio", "times_limit", "megabytes", "projections")


def test_speed_of_a_prefix(tmp_path: Path) -> None:
    words = "--only dna --methods sgd --shrink 4 --triplets 5000 --seconds 0.05"
    (row,) = run("speed", tmp_path, *words.split(), "--fit-memory", "none")
    assert 0 < row["same_decisions"] == row["plain_iterations"] < row["n_iterations"]
    assert row["prefix_seconds"] < row["seconds"]
    assert row["updates"] == 5000 >= row["changes"]
    assert row["average_difference"] is None


def test_growth(tmp_path: Path) -> None:
    words = "--only N b --methods ha-sgd --factors 1 2 --shrink 50"
    rows = run("growth", tmp_path, *words.split())
    assert [(row["N"], row["b"]) for row in rows] == [
        (1000, 10),
        (2000, 10),
        (1000, 10),
        (1000, 20),
    ]
    assert rows[1]["solve_seconds_ratio"] == rows[1]["solve_seconds"] / rows[0]["solve_seconds"]
    assert "solve_seconds_ratio" not in rows[2]


def test_startup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = {"pass": ["-c", "pass"], "pass, calipers": ["-c", "pass"]}
    monkeypatch.setattr(startup, "COMMANDS", quick)
    monkeypatch.setattr(startup, "USERS", {"who calls": None})
    words = "--repeats 1 --methods ha-sgd --features 8"
    iris, *processes, fit = run("startup", tmp_path, *words.split())
    assert finite(iris, "import_seconds", "fit_seconds", "median_seconds", "first_seconds")
    without, added = processes
    assert without["added_seconds"] is None
    assert added["added_seconds"] == added["best_seconds"] - without["best_seconds"]
    assert fit["beyond_seconds"] == fit["first_seconds"] - fit["second_seconds"]


def test_mining(tmp_path: Path) -> None:
    for row in run("mining", tmp_path, "--only", "sensit", "connect4", "--shrink", "200"):
        assert row["equal"]
        assert finite(row, "ratio", "megabytes")


def test_projections(tmp_path: Path) -> None:
    rows = run("projections", tmp_path, "--only", "digits", "--triplets", "200")
    assert [row["projection"] for row in rows] == ["every", "end", "frank-wolfe"]
    assert all(row["updates"] == 20 for row in rows)
    assert all(finite(row, "seconds", "microseconds", "loss", "error") for row in rows)


def test_profile(tmp_path: Path) -> None:
    words = "--only sensit --methods mini-sgd --triplets 300"
    (row,) = run("profile", tmp_path, *words.split())
    assert finite(row, "whole", "margins", "outer", "factorisation", "pair", "eigh")
    assert row["cone"] == row["whole"] - row["margins"] - row["outer"]


@needs_data
def test_readings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--only", "letter", "--methods", "oasis", "--data-dir", str(FOLDER))
    *rows, scaled, integers = run("readings", tmp_path, *words)
    off = {row["reading"]: abs(row["per_cent"]) for row in rows}
    assert off["taken: distance, C = 0.1"] < 3
    assert all(other > 20 for reading, other in off.items() if "taken" not in reading)
    assert scaled["positives"] == scaled["negatives"] == scaled["apart"] == 0.0
    assert 3 < integers["positives"] < 12  # ties that rounding has broken
    assert 3 < integers["negatives"] < 12
    assert integers["apart"] < 1e-14
    assert "|points| of error, mean" in capsys.readouterr().out


def test_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "balanced" / "raw"
    folder.mkdir(parents=True)
    rows = [f"{i / 2}, {['2', '4', '5more'][i % 3]}, {'ab'[i % 2]}, yes" for i in range(8)]
    (folder / "car.dat").write_text("\n".join(rows))
    monkeypatch.setattr(keel, "folder", lambda: tmp_path)
    found = run("columns", tmp_path)
    assert [row["misread"] for row in found] == [1, 0, 0, 0]
    assert [row["read_1"] for row in found] == [100, 100, 0, 0]
    assert {(row["n_texts"], row["n_numbers"]) for row in found} == {(2, 1)}


def test_thresholds(tmp_path: Path) -> None:
    words = ["--only", "wine", "--learners", "GMML", "--seeds", "0", "--pairs", "100"]
    (row,) = run("thresholds", tmp_path, *words, "--half")
    assert finite(row, "best", "lost", "lost_without")
