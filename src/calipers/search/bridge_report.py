"""What a bridge keeps of the old model's recall, in words and numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

from calipers.arrays import FloatArray
from calipers.evaluation.scores import mean_error


class Share(NamedTuple):
    """A mean over texts, and its 95 % interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, shares: FloatArray) -> Self:
        """Return the mean and the interval by its standard error, within 0 and 1.

        >>> import numpy as np
        >>> Share.of(np.array([0.5, 0.5]))
        Share(mean=0.5, low=0.5, high=0.5)
        """
        mean, error = mean_error(shares)
        return cls(mean, max(0.0, mean - 1.96 * error), min(1.0, mean + 1.96 * error))


@dataclass(frozen=True)
class CandidateScore:
    """A way to make the map, and its recall on the texts that were held out to choose."""

    method: str
    alpha: float | None
    rank: int | None
    recall: float

    @property
    def name(self) -> str:
        """The method with its numbers.

        >>> CandidateScore("low-rank", 0.1, 48, 0.7).name
        'low-rank, alpha=0.1, rank=48'
        """
        numbers = {"alpha": self.alpha, "rank": self.rank}
        given = [f"{name}={value:g}" for name, value in numbers.items() if value is not None]
        return ", ".join([self.method, *given])


@dataclass(frozen=True)
class BridgeReport:
    """The share of the old model's recall that a bridge keeps; ``print`` shows it.

    Attributes
    ----------
    recall : dict of int to Share
        Share of the old model's first 1, 10 and 100 documents that are among the bridge's first 1,
        10 and 100, on texts that were held out from learning and from choosing.
    chosen : CandidateScore
        The candidate that was chosen.
    candidates : tuple of CandidateScore
        All of them, in the order in which they were tried.
    n_held_out : int
        Number of texts that `recall` is a mean over.
    n_documents : int
        Number of documents that were searched.
    """

    recall: dict[int, Share]
    chosen: CandidateScore
    candidates: tuple[CandidateScore, ...]
    n_held_out: int
    n_documents: int

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        return {
            **asdict(self),
            "recall": {str(cut): share._asdict() for cut, share in self.recall.items()},
            "candidates": [asdict(candidate) for candidate in self.candidates],
        }

    def __str__(self) -> str:
        kept = self.recall[10]
        lines = [
            f"The bridge keeps {kept.mean:.1%} of the old model's recall at 10 (95 % interval "
            f"{kept.low:.1%} to {kept.high:.1%}).",
            f"Measured with {self.n_held_out:,} held-out texts among {self.n_documents:,} "
            f"documents; chosen: {self.chosen.name}.",
            "",
            f"{'':34}{'mean':>8}{'95 % interval':>20}",
        ]
        for cut, share in self.recall.items():
            interval = f"{share.low:.1%} to {share.high:.1%}"
            lines.append(f"{f'recall kept at {cut}':34}{share.mean:8.1%}{interval:>20}")
        lines += ["", f"{'candidate':34}{'recall at 10, to choose':>28}"]
        lines += [f"{score.name:34}{score.recall:28.1%}" for score in self.candidates]
        return "\n".join(lines)
