"""``calipers evaluate``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import MetricCV
from calipers.cli.verdict import DISTANCES, Fold, Held, Verdict
from calipers.evaluation import retrieval_scores
from commands import FEW, SPECIES, X, refused, run, write_blobs, write_csv

ASKED = ["evaluate", "iris.csv", "--label", "species", "--folds", "3", *FEW]


@pytest.mark.usefixtures("folder")
def test_the_verdict_comes_first_and_nothing_wraps_at_80_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(*ASKED, "--json", "--quiet")
    output = capsys.readouterr()
    assert output.err == ""
    found = json.loads(output.out)
    learned, raw, standardised = found["distances"]
    assert [row["distance"] for row in found["distances"]] == [*DISTANCES]
    for row in found["distances"]:
        assert 0 < row["knn_error"] < 0.1
        for score in ("precision_at_k", "recall_at_k", "mean_average_precision", "ndcg"):
            assert 0 < row[score] <= 1
    for row, other in ((raw, "raw"), (standardised, "standardised")):
        (compared,) = (c for c in found["compared"] if c["other"] == other)
        gained = (compared["n_better"] - compared["n_worse"]) / 150
        assert gained == pytest.approx(row["knn_error"] - learned["knn_error"])
    assert sum(found["importances"].values()) == pytest.approx(1)
    assert found["left_out"] == ["note (the same text in each row)"]
    run(*ASKED, "--neighbors", "1", "--at", "5")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Learned distance: ")
    assert max(map(len, lines)) <= 80
    assert any("1-NN error %" in line for line in lines)
    assert any("precision@5 %" in line for line in lines)


def test_the_words_of_a_verdict_follow_the_sign_tests() -> None:
    y = np.repeat(["a", "b"], 20)
    place = np.arange(40)
    fold = Fold(np.zeros((1, 1)), y[:1], np.zeros((40, 1)), y, place[:1], place)

    def told(**n_wrong: int) -> str:
        verdict = Verdict([fold], 1)
        predicted = {name: np.where(place < n, "?", y) for name, n in n_wrong.items()}
        verdict.held = [{n: Held(p, place[:, None], {}) for n, p in predicted.items()}]
        return " ".join(verdict.sentences())

    both = told(learned=0, raw=20, standardised=10)
    assert both.startswith("Learned distance: 0.0 % error, raw 50.0 %, standardised 25.0 %: better")
    assert "better than both. Against raw: better on 20 samples, worse on 0 (sign test p < " in both
    assert "better than raw, no clear difference from st" in told(learned=8, raw=20, standardised=9)
    assert "no clear difference. " in told(learned=8, raw=9, standardised=9)
    assert "worse than raw, no clear difference from standardised." in told(
        learned=20, raw=5, standardised=19
    )
    same = told(learned=8, raw=8, standardised=30)
    assert "better than standardised, the same as raw. Against raw: the same on every " in same


@pytest.mark.usefixtures("folder")
def test_the_picture_draws_the_fold_and_the_errors_of_its_titles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr("calipers.cli.evaluate.write_picture", lambda *given: drawn.append(given))
    run(*ASKED, "--quiet", "-o", "p.png")
    figure, _ = drawn[0]
    assert "50 samples of fold " in figure.get_suptitle()
    for panel in figure.axes:
        rings = len(panel.collections[-1].get_offsets())
        assert f"{100 * rings / 50:.1f} % error" in panel.get_title("left")


@pytest.mark.usefixtures("folder")
def test_a_page_with_names_from_a_foreign_table() -> None:
    script = "<script>alert(1)</script>"
    write_csv(Path("a.csv"), X, [f"a{script}", "b", "c", "d"], [f"{s}{script}" for s in SPECIES])
    asked = ["evaluate", "a.csv", "--label", "species", "--folds", "3", "--quiet", *FEW]
    run(*asked, "--html", "p.html")
    page = Path("p.html").read_text()
    assert script not in page
    assert "&lt;script&gt;" in page
    for part in ("Learned distance: ", "Errors of each class", "Confusions, raw", "changed sides"):
        assert part in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.usefixtures("folder")
def test_a_page_needs_the_name_of_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--html needs the name of a file" in refused(capsys, *ASKED, "--html", "-")
    assert not Path("-").exists()


@pytest.mark.usefixtures("folder")
def test_retrieval_scores_of_some_samples_are_of_all_classes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[str]] = []

    def spy(*samples: Any, query_labels: Any, **how: Any) -> Any:
        seen.append(set(query_labels.tolist()))
        return retrieval_scores(*samples, query_labels=query_labels, **how)

    for module in ("verdict", "evaluate"):
        monkeypatch.setattr(f"calipers.cli.{module}.MOST_QUERIES", 6)
    monkeypatch.setattr("calipers.evaluation.retrieval_scores", spy)
    run(*ASKED, "--quiet")
    expected = "Retrieval scores are of 18 of the 150 samples, at most 6\nof each fold"
    assert expected in capsys.readouterr().out
    assert seen == 9 * [set(SPECIES)]  # the file is sorted by species


@pytest.mark.usefixtures("folder")
def test_too_many_neighbours_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    told = refused(capsys, *ASKED, "--quiet", "--neighbors", "500")
    assert told == "--neighbors 500 is more than the 100 samples that a fold learns from: lower it."


@pytest.mark.usefixtures("folder")
def test_what_the_folds_selected_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_blobs(Path("blobs.npz"))
    asked = ["evaluate", "blobs.npz", "--folds", "2", "--quiet"]
    run(*asked)
    shown = " ".join(capsys.readouterr().out.split())
    assert "standardised 0.0 %: the same as both. Against raw: the same on" in shown
    assert "Nothing tried beats the Euclidean distance: " in shown
    run(*asked, "--json")
    assert json.loads(capsys.readouterr().out)["chosen"] == ["euclidean", "euclidean"]
    names = iter(["scaled", "euclidean", "scaled"])

    def select(metric: Any, X: Any, y: Any) -> Any:
        metric.components_, metric.n_features_in_ = np.eye(X.shape[1]), X.shape[1]
        metric.chosen_, metric.reason_ = next(names), ""
        return metric

    monkeypatch.setattr(MetricCV, "fit", select)
    run(*asked[:2], "--folds", "3", "--quiet")
    assert "Chosen: scaled in 2, euclidean in 1 of 3 folds.\n" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_labels_that_are_all_different(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{i}.5,name {i}" for i in range(20)]
    Path("names.csv").write_text("\n".join(["size,who", *rows]))
    told = refused(capsys, "evaluate", "names.csv", "--label", "who")
    assert "a different label in every row: name a column of classes with --label." in told


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
