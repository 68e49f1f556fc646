"""What held-out samples say about distances: predictions, scores, and a verdict in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from calipers.arrays import IndexArray

    Transform = Callable[[Any], Any]

DISTANCES = ("learned", "raw", "standardised")
MOST_QUERIES = 2000
"""Held-out samples of a fold that are retrieval queries at most; more change the means little."""
SCORES = {
    "precision_at_k": "precision@k %",
    "recall_at_k": "recall@k %",
    "mean_average_precision": "MAP %",
    "ndcg": "nDCG %",
}
SIGNIFICANT = 0.05
_OF_BOTH = {  # the worst first
    "worse than": "worse than both",
    "better than": "better than both",
    "the same as": "the same as both",
    "no clear difference from": "no clear difference",
}


@dataclass(frozen=True)
class Fold:
    """Samples to learn from, samples held out, and where both are in the whole data."""

    X_train: npt.NDArray[Any]
    y_train: npt.NDArray[Any]
    X_test: npt.NDArray[Any]
    y_test: npt.NDArray[Any]
    train: IndexArray
    test: IndexArray
    names: list[str] | None = None


@dataclass(frozen=True)
class Held:
    """Held-out samples under one distance.

    Attributes
    ----------
    predicted : ndarray of shape (n_samples,)
        The class that the neighbours vote for.
    neighbors : ndarray of shape (n_samples, n_neighbors)
        Their indices in the whole data.
    scores : dict of str to float
        Retrieval scores.
    """

    predicted: npt.NDArray[Any]
    neighbors: IndexArray
    scores: dict[str, float]


@dataclass(frozen=True)
class Compared:
    """The learned distance beside another one, sample by sample."""

    other: str
    n_better: int
    n_worse: int
    p_value: float


@dataclass
class Verdict:
    """All held-out samples under every distance, fold by fold."""

    folds: list[Fold]
    n_neighbors: int
    held: list[dict[str, Held]] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)  # by a selection, fold by fold
    reason: str = ""  # of the last selection
    notes: dict[str, None] = field(default_factory=dict)
    shares: list[dict[str, float]] = field(default_factory=list)

    def add(self, fold: Fold, transforms: dict[str, Transform], k: int) -> None:
        """Score the held-out samples of a fold; their neighbours are among its other samples."""
        self.held.append(
            {
                name: _held(fold, transform, self.n_neighbors, k)
                for name, transform in transforms.items()
            }
        )

    def wrong(self, distance: str) -> npt.NDArray[Any]:
        """Return whether each held-out sample is misclassified, fold after fold."""
        import numpy as np

        parts = zip(self.folds, self.held, strict=False)
        return np.concatenate([held[distance].predicted != fold.y_test for fold, held in parts])

    def error(self, distance: str) -> float:
        """Return the share of misclassified samples, in per cent."""
        return 100 * float(self.wrong(distance).mean())

    def typical(self) -> int:
        """Return the fold whose errors are nearest to those of all folds together."""

        def how_far(number: int) -> float:
            fold, held = self.folds[number], self.held[number]
            errors = {name: 100 * (held[name].predicted != fold.y_test).mean() for name in held}
            return sum(abs(float(error) - self.error(name)) for name, error in errors.items())

        return min(range(len(self.held)), key=how_far)

    def score(self, distance: str, name: str) -> tuple[float, float]:
        """Return the mean of a retrieval score over the folds and its standard error."""
        from calipers.evaluation.scores import mean_error

        return mean_error([100 * held[distance].scores[name] for held in self.held])

    def compared(self, other: str) -> Compared:
        """Count the samples that only one of two distances gets right."""
        from calipers.evaluation.scores import sign_test

        change = self.wrong(other).astype(int) - self.wrong("learned").astype(int)
        return Compared(other, int((change > 0).sum()), int((change < 0).sum()), sign_test(change))

    def importances(self) -> dict[str, float]:
        """Return the mean share of each feature in squared distances, the largest first."""
        total: Counter[str] = Counter()
        for shares in self.shares:
            total.update(shares)
        return {name: value / len(self.shares) for name, value in total.most_common()}

    def sentences(self) -> list[str]:
        """Say what came out, the verdict first."""
        raw, scaled = self.compared("raw"), self.compared("standardised")
        errors = [f"{self.error(name):.1f} %" for name in DISTANCES]
        return [
            f"Learned distance: {errors[0]} error, raw {errors[1]}, standardised {errors[2]}: "
            f"{_conclusion([raw, scaled])}",
            f"Against raw: {_told(raw)}. Against standardised: {_told(scaled)}.",
        ]

    def selection(self) -> str:
        """Say what was chosen in the folds; empty where nothing was."""
        often = Counter(self.chosen).most_common()
        if len(often) < 2:
            return self.reason
        told = ", ".join(f"{name} in {n}" for name, n in often)
        return f"Chosen: {told} of {len(self.chosen)} folds."


def _held(fold: Fold, transform: Transform, n_neighbors: int, k: int) -> Held:
    from dataclasses import asdict

    import numpy as np

    from calipers.data.neighbors.vote import vote
    from calipers.evaluation import nearest_samples, retrieval_scores
    from calipers.metric.init import evenly_spaced

    known, new = transform(fold.X_train), transform(fold.X_test)
    nearest = nearest_samples(known, new, n_neighbors=n_neighbors)
    classes, codes = np.unique(fold.y_train, return_inverse=True)
    queries = evenly_spaced(len(new), MOST_QUERIES)
    found = asdict(
        retrieval_scores(
            known,
            new[queries],
            labels=fold.y_train,
            query_labels=fold.y_test[queries],
            k=min(k, len(known)),
        )
    )
    scores = {name: found[name] for name in SCORES}
    return Held(classes[vote(codes[nearest])], fold.train[nearest], scores)


def _conclusion(compared: list[Compared]) -> str:
    """Judge by sign tests; a difference that could be chance is called so."""
    found = {each.other: _relation(each) for each in compared}
    if len({*found.values()}) == 1:
        return f"{_OF_BOTH[next(iter(found.values()))]}."
    worst_first = sorted(found, key=lambda other: [*_OF_BOTH].index(found[other]))
    return ", ".join(f"{found[other]} {other}" for other in worst_first) + "."


def _relation(compared: Compared) -> str:
    if not compared.n_better and not compared.n_worse:
        return "the same as"
    if compared.p_value >= SIGNIFICANT:
        return "no clear difference from"
    return "better than" if compared.n_better > compared.n_worse else "worse than"


def _told(compared: Compared) -> str:
    if not compared.n_better and not compared.n_worse:
        return "the same on every sample"
    p = "p < 0.001" if compared.p_value < 0.001 else f"p = {compared.p_value:.2g}"
    samples = "sample" if compared.n_better == 1 else "samples"
    return (
        f"better on {compared.n_better:,} {samples}, worse on {compared.n_worse:,} (sign test {p})"
    )
