"""What held-out samples say about a learned distance beside others: errors, and a verdict in words.

Each sample is held out once. `Verdict.add` takes the samples of a fold under every distance; what
learned is of no matter here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import confusion_matrix

from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors import vote
from calipers.evaluation.knn import nearest_samples
from calipers.evaluation.page import ROWS_SHOWN, paragraph, table
from calipers.evaluation.retrieval import retrieval_scores
from calipers.evaluation.scores import mean_error, sign_test
from calipers.metric.init import evenly_spaced

DISTANCES = ("learned", "raw", "standardised")
SCORES = {
    "precision_at_k": "precision@10 %",
    "recall_at_k": "recall@10 %",
    "mean_average_precision": "MAP %",
    "ndcg": "nDCG %",
}
"""Retrieval scores, and how they are called."""

MOST_QUERIES = 2000
"""Held-out samples of a fold that are retrieval queries at most; more change the means little."""

_FIRST_DOCUMENTS = 10  # that count for precision and recall
_SIGNIFICANT = 0.05


class Verdict:
    """All held-out samples under every one of `DISTANCES`.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels.
    fold_of : ndarray of shape (n_samples,)
        Fold in which each sample is held out, from 0.
    n_neighbors : int, default=3
        Neighbours that vote.

    Attributes
    ----------
    wrong : dict of str to ndarray of shape (n_samples,)
        Whether each sample is misclassified, under each distance.
    neighbors : dict of str to ndarray of shape (n_samples, n_neighbors)
        Indices of the neighbours that voted.
    """

    def __init__(self, y: npt.NDArray[Any], fold_of: IndexArray, *, n_neighbors: int = 3) -> None:
        self.y, self.fold_of, self.n_neighbors = y, fold_of, n_neighbors
        self.n_folds = int(fold_of.max()) + 1
        self.n_queries = 0
        self._classes, self._codes = np.unique(y, return_inverse=True)
        shape = (len(y), n_neighbors)
        self.neighbors = {name: np.empty(shape, dtype=np.intp) for name in DISTANCES}
        self._voted = {name: np.empty(len(y), dtype=np.intp) for name in DISTANCES}
        self.wrong = {name: np.empty(len(y), dtype=bool) for name in DISTANCES}
        self._scores: dict[str, list[dict[str, float]]] = {name: [] for name in DISTANCES}

    def add(self, fold: int, images: Mapping[str, tuple[FloatArray, FloatArray]]) -> None:
        """Score a fold: under each distance its other samples, and those that it holds out."""
        is_held_out = self.fold_of == fold
        held_out, others = np.flatnonzero(is_held_out), np.flatnonzero(~is_held_out)
        queries = evenly_spaced(len(held_out), MOST_QUERIES)
        self.n_queries += len(queries)
        for name, (known, new) in images.items():
            nearest = others[nearest_samples(known, new, n_neighbors=self.n_neighbors)]
            self.neighbors[name][held_out] = nearest
            self._voted[name][held_out] = voted = vote(self._codes[nearest])
            self.wrong[name][held_out] = voted != self._codes[held_out]
            scores = retrieval_scores(
                known,
                new[queries],
                labels=self._codes[others],
                query_labels=self._codes[held_out[queries]],
                k=min(_FIRST_DOCUMENTS, len(known)),
            )
            self._scores[name].append(asdict(scores))

    def rows(self) -> list[dict[str, Any]]:
        """Return the k-NN error under each distance, and means of scores with standard errors."""
        rows = []
        for name in DISTANCES:
            row: dict[str, Any] = {"distance": name, "knn_error": float(self.wrong[name].mean())}
            for score in SCORES:
                of_folds = [scores[score] for scores in self._scores[name]]
                row[score], row[f"{score}_standard_error"] = mean_error(of_folds)
            rows.append(row)
        return rows

    def compared(self) -> list[dict[str, Any]]:
        """Judge the learned distance beside each other one by a sign test over the samples."""
        both = []
        for other in DISTANCES[1:]:
            change = self.wrong[other].astype(int) - self.wrong["learned"].astype(int)
            n_better, n_worse = int((change > 0).sum()), int((change < 0).sum())
            p_value = sign_test(change)
            relation = "better than" if n_better > n_worse else "worse than"
            if p_value >= _SIGNIFICANT:  # it could be chance
                relation = "no clear difference from" if n_better + n_worse else "the same as"
            both.append(
                {
                    "other": other,
                    "relation": relation,
                    "n_better": n_better,
                    "n_worse": n_worse,
                    "p_value": p_value,
                }
            )
        return both

    def sentences(self) -> list[str]:
        """Say what came out, the verdict first."""
        learned, raw, scaled = (f"{100 * self.wrong[name].mean():.1f} %" for name in DISTANCES)
        both = self.compared()
        relations = [each["relation"] for each in both]
        conclusion = f"{relations[0]} raw, {relations[1]} standardised"
        if relations[0] == relations[1]:
            conclusion = f"{relations[0]} both"
        counts = []
        for each in both:
            p = "p < 0.001" if each["p_value"] < 0.001 else f"p = {each['p_value']:.2g}"
            counts.append(
                f"Against {each['other']}: better on {each['n_better']:,}, worse on "
                f"{each['n_worse']:,} (sign test {p})."
            )
        return [
            f"Learned distance: {learned} error, raw {raw}, standardised {scaled}: {conclusion}.",
            " ".join(counts),
        ]

    def sections(self, rows: IndexArray) -> dict[str, str]:
        """Return tables for a page by their headings; ``rows`` has the number of each sample."""
        by_class = [
            [
                label,
                f"{own.sum():,}",
                *(f"{100 * self.wrong[n][own].mean():.1f} %" for n in DISTANCES),
            ]
            for label in self._classes
            for own in [self.y == label]
        ]
        return {
            "Errors of each class": table(["class", "samples", *DISTANCES], by_class),
            "Confusions, raw": self._confusions("raw"),
            "Confusions, learned": self._confusions("learned"),
            "Samples that changed sides": self._changed(rows),
        }

    def _confusions(self, distance: str) -> str:
        """How often samples of a class (row) are taken for one of a class (column)."""
        counts = confusion_matrix(self._codes, self._voted[distance])[:, :ROWS_SHOWN].tolist()
        headings = ["true class", *(f"as {label}" for label in self._classes[:ROWS_SHOWN])]
        return table(headings, [[c, *row] for c, row in zip(self._classes, counts, strict=True)])

    def _changed(self, rows: IndexArray) -> str:
        """Samples that only one of the raw and the learned distance gets right."""
        raw, learned = self.wrong["raw"], self.wrong["learned"]
        called = [f"{label} (row {row})" for label, row in zip(self.y, rows, strict=True)]
        changed = [
            [
                called[i],
                told,
                *(", ".join(called[j] for j in self.neighbors[n][i]) for n in ("raw", "learned")),
            ]
            for change, told in ((raw & ~learned, "now right"), (learned & ~raw, "now wrong"))
            for i in np.flatnonzero(change)
        ]
        if not changed:
            return paragraph("None: the raw and the learned distance misclassify the same samples.")
        return table(["sample", "", "nearest, raw", "nearest, learned"], changed)
