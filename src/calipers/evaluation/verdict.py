"""What held-out samples say about a learned distance beside others: errors, and a verdict in words.

Each sample is held out once. `Verdict.add` takes the samples of a fold under every distance; what
learned is of no matter here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

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
_OF_BOTH = {  # the worst first
    "worse than": "worse than both",
    "better than": "better than both",
    "the same as": "the same as both",
    "no clear difference from": "no clear difference",
}


@dataclass(frozen=True)
class Compared:
    """The learned distance beside another one, sample by sample."""

    other: str
    n_better: int
    n_worse: int
    p_value: float

    def relation(self) -> str:
        """Judge by the sign test; a difference that could be chance is called so."""
        if not self.n_better and not self.n_worse:
            return "the same as"
        if self.p_value >= _SIGNIFICANT:
            return "no clear difference from"
        return "better than" if self.n_better > self.n_worse else "worse than"

    def __str__(self) -> str:
        if not self.n_better and not self.n_worse:
            return "the same on every sample"
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.2g}"
        samples = "sample" if self.n_better == 1 else "samples"
        return f"better on {self.n_better:,} {samples}, worse on {self.n_worse:,} (sign test {p})"


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
    classes : ndarray
        The labels, sorted.
    """

    def __init__(self, y: npt.NDArray[Any], fold_of: IndexArray, *, n_neighbors: int = 3) -> None:
        self.y, self.fold_of, self.n_neighbors = y, fold_of, n_neighbors
        self.n_folds = int(fold_of.max()) + 1
        self.n_queries = 0
        self.classes, self._codes = np.unique(y, return_inverse=True)
        shape = (len(y), n_neighbors)
        self.neighbors = {name: np.empty(shape, dtype=np.intp) for name in DISTANCES}
        self._voted = {name: np.empty(len(y), dtype=np.intp) for name in DISTANCES}
        self.wrong = {name: np.empty(len(y), dtype=bool) for name in DISTANCES}
        self._scores: dict[str, list[dict[str, float]]] = {name: [] for name in DISTANCES}

    def add(self, fold: int, images: Mapping[str, tuple[FloatArray, FloatArray]]) -> None:
        """Score a fold: under each distance its other samples, and those that it holds out."""
        held_out, others = (
            np.flatnonzero(self.fold_of == fold),
            np.flatnonzero(self.fold_of != fold),
        )
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

    def errors(self, some: npt.NDArray[np.bool_] | slice = slice(None)) -> dict[str, float]:
        """Return the share of misclassified samples under each distance, of all or of some."""
        return {name: float(wrong[some].mean()) for name, wrong in self.wrong.items()}

    def score(self, distance: str, name: str) -> tuple[float, float]:
        """Return the mean of a retrieval score over the folds and its standard error."""
        return mean_error([scores[name] for scores in self._scores[distance]])

    def compared(self, other: str) -> Compared:
        """Count the samples that only one of two distances gets right."""
        change = self.wrong[other].astype(int) - self.wrong["learned"].astype(int)
        return Compared(other, int((change > 0).sum()), int((change < 0).sum()), sign_test(change))

    def typical_fold(self) -> int:
        """Return the fold whose errors are nearest to those of all folds together."""
        errors = self.errors()

        def how_far(fold: int) -> float:
            of_fold = self.errors(self.fold_of == fold)
            return sum(abs(of_fold[name] - errors[name]) for name in DISTANCES)

        return min(range(self.n_folds), key=how_far)

    def sentences(self) -> list[str]:
        """Say what came out, the verdict first."""
        both = [self.compared(other) for other in DISTANCES[1:]]
        learned, raw, scaled = (f"{100 * error:.1f} %" for error in self.errors().values())
        return [
            f"Learned distance: {learned} error, raw {raw}, standardised {scaled}: "
            f"{_conclusion(both)}",
            " ".join(f"Against {each.other}: {each}." for each in both),
        ]

    def sections(self, row: Callable[[int], int]) -> dict[str, str]:
        """Return tables for a page by their headings; ``row`` says what a sample is called."""
        by_class = [
            [label, f"{own.sum():,}", *(f"{100 * error:.1f} %" for error in errors.values())]
            for label in self.classes
            for own in [self.y == label]
            for errors in [self.errors(own)]
        ]
        return {
            "Errors of each class": table(["class", "samples", *DISTANCES], by_class),
            "Confusions, raw": self._confusions("raw"),
            "Confusions, learned": self._confusions("learned"),
            "Samples that changed sides": self._changed(row),
        }

    def _confusions(self, distance: str) -> str:
        """How often samples of a class (row) are taken for one of a class (column)."""
        n_classes = len(self.classes)
        counts = np.zeros((n_classes, n_classes), dtype=np.intp)
        np.add.at(counts, (self._codes, self._voted[distance]), 1)
        shown = range(min(n_classes, ROWS_SHOWN))
        headings = ["true class", *(f"as {self.classes[i]}" for i in shown)]
        rows = [[self.classes[i], *counts[i, : len(shown)]] for i in range(n_classes)]
        return table(headings, rows)

    def _changed(self, row: Callable[[int], int]) -> str:
        """Samples that only one of the raw and the learned distance gets right."""
        raw, learned = self.wrong["raw"], self.wrong["learned"]
        rows = [
            [
                f"row {row(i)}",
                self.y[i],
                told,
                *(
                    ", ".join(f"{self.y[j]} (row {row(j)})" for j in self.neighbors[name][i])
                    for name in ("raw", "learned")
                ),
            ]
            for change, told in ((raw & ~learned, "now right"), (learned & ~raw, "now wrong"))
            for i in np.flatnonzero(change).tolist()
        ]
        if not rows:
            return paragraph("None: the raw and the learned distance misclassify the same samples.")
        return table(["sample", "class", "", "nearest, raw", "nearest, learned"], rows)


def _conclusion(both: list[Compared]) -> str:
    found = {each.other: each.relation() for each in both}
    if len({*found.values()}) == 1:
        return f"{_OF_BOTH[both[0].relation()]}."
    worst_first = sorted(found, key=lambda other: [*_OF_BOTH].index(found[other]))
    return ", ".join(f"{found[other]} {other}" for other in worst_first) + "."
