"""``calipers evaluate``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import MetricCV
from calipers.evaluation import retrieval_scores
from commands import FEW, SPECIES, X, run, write_blobs, write_csv


@pytest.mark.usefixtures("folder")
def test_evaluate(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["evaluate", "iris.csv", "--label", "species", "--folds", "3", *FEW]
    run(*asked, "--json", "--quiet", "-o", "p.png")
    output = capsys.readouterr()
    assert output.err == ""
    before, after = json.loads(output.out)
    assert (before["distance"], after["distance"]) == ("before", "after")
    for row in (before, after):
        assert 0 < row["knn_error"] < 0.1
        for score in ("precision_at_k", "recall_at_k", "mean_average_precision", "ndcg"):
            assert 0 < row[score] <= 1
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")
    run(*asked, "--neighbors", "1", "--at", "5")
    output = capsys.readouterr()
    assert "1-NN error %" in output.out
    assert "precision@5 %" in output.out
    assert f"{100 * before['ndcg']:.2f} ±" in output.out


@pytest.mark.usefixtures("folder")
def test_evaluate_says_when_retrieval_is_of_some_samples_and_takes_them_of_all_classes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[str]] = []

    def spy(*samples: Any, query_labels: Any, **how: Any) -> Any:
        seen.append(set(query_labels.tolist()))
        return retrieval_scores(*samples, query_labels=query_labels, **how)

    monkeypatch.setattr("calipers.cli.evaluate.MOST_QUERIES", 6)
    monkeypatch.setattr("calipers.evaluation.retrieval_scores", spy)
    asked = ["evaluate", "iris.csv", "--label", "species", "--folds", "3", *FEW]
    run(*asked, "--quiet")
    expected = "Retrieval scores are of 18 of the 150 samples, at most 6 of each fold"
    assert expected in capsys.readouterr().out
    assert seen == 6 * [set(SPECIES)]  # the file is sorted by species
    run(*asked, "--quiet", "--json")
    assert [row["n_queries"] for row in json.loads(capsys.readouterr().out)] == [18, 18]


@pytest.mark.usefixtures("folder")
def test_evaluate_standardised_compares_like_with_like(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_csv(Path("units.csv"), X * [1000.0, 1.0, 1.0, 1.0])
    asked = ["--label", "species", "--standardize", "--json", "--quiet", *FEW]
    rows = []
    for name in ("iris.csv", "units.csv"):
        run("evaluate", name, *asked)
        rows.append(json.loads(capsys.readouterr().out))
    np.testing.assert_allclose(rows[0][0]["ndcg"], rows[1][0]["ndcg"], rtol=1e-6)


@pytest.mark.usefixtures("folder")
def test_what_the_folds_selected_is_said_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_blobs(Path("blobs.npz"))
    asked = ["evaluate", "blobs.npz", "--folds", "2", "--quiet"]
    run(*asked)
    shown = capsys.readouterr().out
    assert shown.startswith("Nothing tried beats the Euclidean distance: ")
    assert "3-NN error after minus before: +0.00 ± 0.00 points (mean and standard" in shown
    run(*asked, "--json")
    before, after = json.loads(capsys.readouterr().out)
    assert after["chosen"] == ["euclidean", "euclidean"]
    assert "chosen" not in before
    names = iter(["scaled", "euclidean", "scaled"])

    def select(metric: Any, X: Any, y: Any) -> Any:
        metric.components_, metric.n_features_in_ = np.eye(X.shape[1]), X.shape[1]
        metric.chosen_, metric.reason_ = next(names), ""
        return metric

    monkeypatch.setattr(MetricCV, "fit", select)
    run(*asked[:2], "--folds", "3", "--quiet")
    expected = "Chosen: scaled in 2, euclidean in 1 of 3 folds.\n"
    assert capsys.readouterr().out.startswith(expected)
