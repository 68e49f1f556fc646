"""``calipers evaluate``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import MetricCV
from commands import FEW, SPECIES, X, run, write_blobs, write_csv

ASKED = ["evaluate", "iris.csv", "--label", "species", "--folds", "3", "--quiet", *FEW]


@pytest.mark.usefixtures("folder")
def test_the_verdict_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    run(*ASKED, "--json")
    output = capsys.readouterr()
    assert output.err == ""
    found = json.loads(output.out)
    assert found["verdict"].startswith("Learned distance: ")
    learned, raw, standardised = found["distances"]
    for row in (learned, raw, standardised):
        assert 0 < row["knn_error"] < 0.1
        for score in ("precision_at_k", "recall_at_k", "mean_average_precision", "ndcg"):
            assert 0 < row[score] <= 1
    for row, compared in zip((raw, standardised), found["compared"], strict=True):
        assert row["distance"] == compared["other"]
        gained = (compared["n_better"] - compared["n_worse"]) / 150
        assert gained == pytest.approx(row["knn_error"] - learned["knn_error"])
    assert sum(found["importances"].values()) == pytest.approx(1)
    assert found["left_out"] == ["note (the same text in each row)"]
    run(*ASKED, "--neighbors", "1")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Learned distance: ")
    assert max(map(len, lines[2:])) <= 80
    assert any("1-NN error %" in line for line in lines)


@pytest.mark.usefixtures("folder")
def test_the_picture_draws_the_fold_and_the_errors_of_its_titles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr("calipers.cli.evaluate.write_picture", lambda *given: drawn.append(given))
    run(*ASKED, "-o", "p.png")
    figure, _ = drawn[0]
    assert "The 50 samples of the first fold" in figure.get_suptitle()
    for panel in figure.axes:
        rings = len(panel.collections[-1].get_offsets())
        assert f"{100 * rings / 50:.1f} % error" in panel.get_title("left")


@pytest.mark.usefixtures("folder")
def test_a_page_with_names_from_a_foreign_table() -> None:
    script = "<script>alert('$1')</script>"
    write_csv(Path("a.csv"), X, [f"a{script}", "b$", "c", "d"], [f"{s}{script}" for s in SPECIES])
    run("evaluate", "a.csv", *ASKED[2:], "--html", "p.html")
    page = Path("p.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    for part in ("Learned distance: ", "Errors of each class", "Confusions, raw", "changed sides"):
        assert part in page
    assert "http" not in page


@pytest.mark.usefixtures("folder")
def test_a_page_counts_the_rows_of_the_file_also_those_without_a_label() -> None:
    loud = np.column_stack([X[:, 2:], 50 * np.random.default_rng(0).normal(size=len(X))])
    for name, above in (("whole.csv", 0), ("gaps.csv", 10)):
        labels = ["" for _ in range(above)] + list(SPECIES)
        write_csv(Path(name), np.vstack([loud[:above], loud]), ["a", "b", "c"], labels)
        ask = ["evaluate", name, "--label", "species", "--learner", "scaled", "--quiet"]
        run(*ask, "--html", f"{name}.html")
    rows, shifted = (
        [int(row) for row in re.findall(r"\(row (\d+)\)", Path(f"{name}.html").read_text())]
        for name in ("whole.csv", "gaps.csv")
    )
    assert rows
    assert [row + 10 for row in rows] == shifted


@pytest.mark.usefixtures("folder")
def test_what_the_folds_selected_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_blobs(Path("blobs.npz"))
    asked = ["evaluate", "blobs.npz", "--folds", "2", "--quiet"]
    run(*asked)
    shown = " ".join(capsys.readouterr().out.split())
    assert "standardised 0.0 %: the same as both. Against raw: better on 0" in shown
    assert "Nothing tried beats the Euclidean distance: " in shown
    names = iter(["scaled", "euclidean", "scaled"])

    def select(metric: Any, X: Any, y: Any) -> Any:
        metric.components_, metric.n_features_in_ = np.eye(X.shape[1]), X.shape[1]
        metric.chosen_, metric.reason_, metric.feature_scale_ = next(names), "", None
        return metric

    monkeypatch.setattr(MetricCV, "fit", select)
    run(*asked[:2], "--folds", "3", "--quiet")
    assert "Chosen: scaled in 2, euclidean in 1 of 3 folds.\n" in capsys.readouterr().out
