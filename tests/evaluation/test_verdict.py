"""A learned distance beside others."""

from __future__ import annotations

import re

import numpy as np
import pytest

from calipers.evaluation import knn_predict, retrieval_scores, verdict
from calipers.evaluation.verdict import DISTANCES, Verdict

Y = np.repeat(["a", "b"], 20)


def told(**n_wrong: int) -> str:
    """What is said where so many of forty samples are misclassified."""
    made = Verdict(Y, np.zeros(40, dtype=np.intp))
    made.wrong = {name: np.arange(40) < n_wrong[name] for name in DISTANCES}
    return " ".join(made.sentences())


def test_the_words_follow_the_sign_tests() -> None:
    both = told(learned=0, raw=20, standardised=10)
    assert both.startswith("Learned distance: 0.0 % error, raw 50.0 %, standardised 25.0 %: better")
    assert "better than both. Against raw: better on 20, worse on 0 (sign test p < " in both
    assert "better than raw, no clear difference from st" in told(learned=8, raw=20, standardised=9)
    assert "no clear difference from both. " in told(learned=8, raw=9, standardised=9)
    assert "worse than raw, no clear difference from standardised." in told(
        learned=20, raw=5, standardised=19
    )
    same = told(learned=8, raw=8, standardised=30)
    assert "the same as raw, better than standardised. Against raw: better on 0, worse on 0" in same


def test_each_fold_is_judged_by_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Votes and scores are those of the public functions; queries are of all classes."""
    monkeypatch.setattr(verdict, "MOST_QUERIES", 6)
    rng = np.random.default_rng(0)
    X, fold_of = rng.normal(size=(40, 3)) + (Y == "a")[:, None], np.arange(40) % 2
    made = Verdict(Y, fold_of, n_neighbors=3)
    means = []
    for fold in (0, 1):
        known, new = fold_of != fold, fold_of == fold
        images = {
            name: (X[known] * scale, X[new] * scale) for scale, name in enumerate(DISTANCES, 1)
        }
        made.add(fold, images)
        predicted = knn_predict(X[known], Y[known], X[new])
        assert (made.wrong["raw"][new] == (predicted != Y[new])).all()
        assert (fold_of[made.neighbors["raw"][new]] != fold).all()
        queries = np.linspace(0, 19, 6).astype(int)
        scores = retrieval_scores(
            X[known], X[new][queries], labels=Y[known], query_labels=Y[new][queries]
        )
        means.append(scores.mean_average_precision)
    assert made.n_queries == 12
    for name in DISTANCES:
        (row,) = (row for row in made.rows() if row["distance"] == name)
        assert row["mean_average_precision"] == pytest.approx(np.mean(means))
    cells = re.findall(r"<td>(\d+)</td>", made.sections(np.arange(40))["Confusions, raw"])
    confusions = np.reshape([int(cell) for cell in cells], (2, 2))
    assert confusions.sum(axis=1).tolist() == [20, 20]
    assert 40 - np.trace(confusions) == made.wrong["raw"].sum()
