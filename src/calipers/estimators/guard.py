"""Whether learning helps: rows that were held out are asked.

On few rows, or where labels are mostly noise, a learned metric may be worse than none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.coordinates import VOTES, Coordinates, mistaken
from calipers.estimators.defaults import CHEAP
from calipers.triplets import Rows, RowsInMemory, n_usable, nearest_same_and_other, usable
from calipers.votes import winners

FEWEST_ROWS = 20  # fewer say too little
FEW_ROWS, FEW_ROWS_WIDE = 1000, 300  # so many are always asked (beyond CHEAP features),
DOUBTFUL, DOUBTFUL_WIDE = 1 / 9, 1 / 4  # more only if such a share is mistaken to begin with
WIDE = 128  # (beyond so many features),
OF_OTHERS = 2  # or so many times that share of the rows that are not of the largest class
MOST_ROWS = 3000  # of more rows, these are taken evenly
ENOUGH = 600  # rows that were asked
N_FOLDS = 3
N_NEAREST = 15  # rows that are looked at around one that is asked; the nearest count most

SURE = 5.0  # standard errors by which a metric must lead none, by both answers together


class Answers(NamedTuple):
    """What each row that is asked says of a metric."""

    strangers: FloatArray  # share of its nearest rows that are of another class
    mistaken: npt.NDArray[np.bool_]  # whether it is taken for another by `VOTES` of them


class Learner(Protocol):
    """Learns metrics, with a number as its seed."""

    def __call__(self, X: FloatArray, y: IndexArray, seed: int) -> Sequence[FloatArray]:
        """Maps of rows; none if it was interrupted."""
        ...


def is_asked(n_rows: int, n_features: int, doubt: float, *, others: float = 1.0) -> bool:
    """Whether to hold rows out, where a share of them is mistaken before anything is learned.

    The share of others, that are not of the largest class, is what could be mistaken at all: where
    they are few, few mistakes are many.

    >>> [is_asked(n, 16, doubt=0.2) for n in (19, 500, 5000)]
    [False, True, True]
    >>> is_asked(5000, 16, doubt=0.09), is_asked(5000, 256, doubt=0.2)
    (False, False)
    >>> is_asked(5000, 16, doubt=0.09, others=0.2)
    True
    """
    few = FEW_ROWS if n_features <= CHEAP else FEW_ROWS_WIDE
    doubtful = DOUBTFUL if n_features <= WIDE else DOUBTFUL_WIDE
    doubtful *= min(1.0, OF_OTHERS * others)
    return n_rows >= FEWEST_ROWS and (n_rows <= few or doubt >= doubtful)


def doubt_about(rows: Rows, coordinates: Coordinates) -> float:
    """Share of some rows that are mistaken in these coordinates, among each other."""
    numbers = _some(rows)
    labels = np.unique(rows.labels_of(numbers), return_inverse=True)[1]
    some = RowsInMemory(coordinates.of(rows.take(numbers).astype(np.float64)), labels)
    anchors = usable(some, np.arange(n_usable(some)))
    if len(some.class_sizes) < 2 or not len(anchors):
        return 1.0
    return float(mistaken(some, anchors).mean())


def lead(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> float:
    """By how many standard errors of the difference one has fewer; 0 if they are the same.

    >>> few, many = np.arange(100) < 10, np.arange(100) < 14
    >>> lead(few, many), lead(many, few), lead(few, few)
    (2.0, -2.0, 0.0)
    """
    differences = other.astype(np.float64) - one
    standard_error = np.sqrt(np.sum(differences**2))
    return float(differences.sum() / standard_error) if standard_error else 0.0


def is_better(learned: Answers, given: Answers) -> bool:
    """Whether a metric is clearly better than none, or both are the same to all rows.

    The rows around those asked say more; the votes of three are what counts in the end, and say
    something else where classes are of unlike sizes.
    """
    by_votes = lead(learned.mistaken, given.mistaken)
    is_sure = lead(learned.strangers, given.strangers) + by_votes >= SURE
    return by_votes >= 0.0 and (is_sure or np.array_equal(learned.strangers, given.strangers))


def some_of(rows: Rows) -> tuple[FloatArray, IndexArray]:
    """Rows to learn from and to ask, and their labels; of small classes none might stay."""
    numbers = _some(rows)
    labels = rows.labels_of(numbers)
    kept = np.bincount(labels)[labels] >= N_FOLDS
    return rows.take(numbers[kept]).astype(np.float64), labels[kept]


def held_out(learn: Learner, X: FloatArray, labels: IndexArray) -> list[Answers] | None:
    """What rows say as they are given, and under metrics learned from the others.

    None where the rows cannot say: they are too few, such that nothing can be learned from a part
    of them, or nobody waits for it.
    """
    if len(X) < FEWEST_ROWS:
        return None
    folds = _dealt(labels)
    answers: list[list[Answers]] = []
    for fold in range(min(N_FOLDS, -(-N_FOLDS * ENOUGH // len(X)))):
        asked = folds == fold
        try:
            maps = learn(X[~asked], labels[~asked], fold)
        except ValueError:
            return None
        if not maps:
            return None
        answers.append([_answers(X @ L.T, labels, asked) for L in (np.eye(X.shape[1]), *maps)])
    return [
        Answers(*map(np.concatenate, zip(*of_one, strict=True)))
        for of_one in zip(*answers, strict=True)
    ]


def _some(rows: Rows) -> IndexArray:
    """Numbers of rows, evenly over all: they may be in order of class."""
    n = rows.shape[0]
    return np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(np.intp)


def _answers(X: FloatArray, labels: IndexArray, asked: npt.NDArray[np.bool_]) -> Answers:
    """Of those that are not asked around each one that is; the r-th nearest counts 1/r."""
    anchors = np.flatnonzero(asked)
    sides = asked.astype(np.intp)
    n_nearest = min(N_NEAREST, len(X) - len(anchors))
    _, near = nearest_same_and_other(X, sides, anchors, n_same=0, n_other=n_nearest)
    weights = 1.0 / np.arange(1.0, n_nearest + 1.0)
    strangers = (labels[near] != labels[anchors, None]) @ (weights / weights.sum())
    return Answers(strangers, winners(labels[near[:, :VOTES]]) != labels[anchors])


def _dealt(labels: IndexArray) -> npt.NDArray[np.intp]:
    """Folds to which the rows of every class are dealt in turn.

    >>> _dealt(np.array([0, 0, 1, 0, 0, 1]))
    array([0, 1, 0, 2, 0, 1])
    """
    order = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[order], labels[order])
    folds = np.empty(len(labels), dtype=np.intp)
    folds[order] = (np.arange(len(labels)) - first) % N_FOLDS
    return folds
