"""Other learners beside ours, by the same splits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks import peers
from benchmarks.__main__ import main
from benchmarks.contestants import CONTESTANTS
from benchmarks.learners import large_margin, lda, nca, splits, triplet_sgd
from benchmarks.learners.fitted import Fitted

from benchmark_rows import finite, run

pytestmark = pytest.mark.usefixtures("no_data_folder")


def test_nca(tmp_path: Path) -> None:
    (row,) = run("nca", tmp_path, "--only", "wine", "--seconds", "60")
    assert row["peer_ended"] == "itself"
    assert finite(row, "ratio", "error", "peer_error", "euclidean_error", "mining_seconds")


def test_nca_is_stopped_at_its_cap() -> None:
    data = splits.split_of("wine", data_dir=None, split=0, standardise=True)
    np.testing.assert_allclose(data.X_train.std(axis=0), 1.0)
    fitted = nca.fit(data.X_train, data.y_train, seed=0, cap=0.0)
    assert (fitted.capped, fitted.n_iterations) == (True, 1)
    assert fitted.transform(data.X_test).shape == data.X_test.shape


def test_peers(tmp_path: Path) -> None:
    words = ["--only", "wine", "--seeds", "0", "--seconds", "60"]
    rows = run("peers", tmp_path, *words, "--peers", "Calipers ha-sgd", "LDA", "Euclidean")
    assert [(row["peer"], row["features"]) for row in rows] == [
        (peer, features)
        for peer in ("Calipers ha-sgd", "Euclidean", "LDA")
        for features in ("raw", "standardised")
    ]
    learned = [row for row in rows if row["peer"] != "Euclidean"]
    assert all(finite(row, "error", "seconds", "megabytes") for row in learned)
    assert {row["ended"] for row in learned} == {"itself"}
    assert (tmp_path / "rows" / "wine.png").stat().st_size > 1000


def test_means_are_over_seeds_and_without_what_was_skipped() -> None:
    row = {
        "data": "a",
        "peer": "b",
        "features": "raw",
        "seconds": 1.0,
        "cpu_seconds": 1.0,
        "megabytes": 2.0,
    }
    (line,) = peers.means(
        [row | {"error": 4.0}, row | {"error": 6.0, "ended": "cap"}, row | {"skipped": "no"}]
    )
    assert (line["n_runs"], line["error"], line["deviation"], line["n_capped"]) == (2, 5.0, 1.0, 1)


def test_a_peer_without_an_environment_is_a_row_with_the_reason(tmp_path: Path) -> None:
    words = ["peers", "--rows", str(tmp_path / "rows.jsonl"), "--only", "wine", "--seeds", "0"]
    foreign = [one.name for one in CONTESTANTS if one.environment]
    rows = main([*words, "--peers", "pylmnn", "torch NCALoss"])
    assert {"pylmnn", "torch NCALoss"} <= set(foreign)
    assert all("--make-environments DIR" in row["skipped"] for row in rows)
    rows = main([*words, "--peers", *foreign, "--environments", str(tmp_path)])
    assert {row["peer"] for row in rows} == set(foreign)
    assert all("no environment" in row["skipped"] for row in rows)


def test_a_peer_that_fails_is_a_row_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = CONTESTANTS[0]._replace(learner="no_such_file")
    monkeypatch.setattr(peers, "CONTESTANTS", (wrong,))
    words = ["peers", "--rows", str(tmp_path / "rows.jsonl"), "--only", "digits", "nothing"]
    failed, unknown = main([*words, "--seeds", "0", "--peers", wrong.name])
    assert "No module named 'benchmarks.learners.no_such_file'" in failed["skipped"]
    assert "Unknown data set" in unknown["skipped"]


def test_the_peers_of_ours_fit() -> None:
    data = splits.rescaled(splits.split_of("wine", data_dir=None, split=0), "min-max")
    assert (data.X_train.min(), data.X_train.max()) == (0.0, 1.0)
    stopped = large_margin.fit(data.X_train, data.y_train, seed=0, cap=0.0)
    assert (stopped.capped, stopped.n_iterations) == (True, 1)
    learned = triplet_sgd.fit(data.X_train, data.y_train, seed=0, cap=0.0, method="ha-sgd")
    assert learned.capped
    assert (learned.n_iterations or 0) < 1000
    assert lda.fit(data.X_train, data.y_train, seed=0, cap=0.0).components.shape == (2, 13)


def test_mapped_samples_have_length_one_where_that_was_learned() -> None:
    fitted = Fitted(2 * np.eye(2), 0.0, None, False, unit_length=True)
    np.testing.assert_allclose(
        fitted.transform(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0.0, 0.0]]
    )


def test_regression(tmp_path: Path) -> None:
    words = ["--only", "diabetes", "friedman3", "--seeds", "0"]
    rows = main(["regression", "--rows", str(tmp_path / "rows.jsonl"), *words])
    names = ("Calipers MLKR", "metric-learn MLKR", "Euclidean")
    assert [row["peer"] for row in rows] == [*names, *names]
    assert rows[1]["skipped"] == "no environment: make one with --make-environments DIR"
    ours, _, euclidean = rows[3:]
    assert finite(ours, "error", "seconds", "cpu_seconds", "megabytes")
    assert ours["error"] < 0.7 * euclidean["error"] < 70.0
