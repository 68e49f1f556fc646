"""Whether learning helps: rows that were held out are asked.

On few rows, or where labels are mostly noise, a learned metric may be worse than none.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.coordinates import VOTES
from calipers.triplets import Rows, nearest_same_and_other
from calipers.votes import winners

FEWEST_ROWS = 100  # fewer say too little
N_FOLDS = 3


class Learner(Protocol):
    """Learns a metric, with a number as its seed."""

    def __call__(self, X: FloatArray, y: IndexArray, seed: int) -> FloatArray | None:
        """``components_`` of a fit; None if it was interrupted."""
        ...


class Wrong(NamedTuple):
    """Rows that their nearest take for another class."""

    given: int  # as they are
    learned: int  # under metrics learned from the others
    differ: int  # rows that are wrong in one way only

    @property
    def harm(self) -> bool:
        """Whether learning does harm, by more than the standard error of the difference."""
        return bool(self.learned - self.given > np.sqrt(self.differ))


def held_out(learn: Learner, rows: Rows) -> Wrong | None:
    """How many rows are mistaken as they are given, and under a metric learned from the others.

    None where the rows cannot say: they are too few, such that nothing can be learned from a part
    of them, or nobody waits for it.
    """
    labels = rows.labels_of(np.arange(rows.shape[0]))
    some = np.flatnonzero(rows.class_sizes[labels] >= N_FOLDS)  # of smaller classes none might stay
    if len(some) < FEWEST_ROWS:
        return None
    X, labels = rows.take(some).astype(np.float64), labels[some]
    folds = _dealt(labels)
    given, learned = np.zeros((2, len(some)), dtype=np.bool_)
    for fold in range(N_FOLDS):
        asked = folds == fold
        try:
            L = learn(X[~asked], labels[~asked], fold)
        except ValueError:
            return None
        if L is None:
            return None
        given[asked] = _mistaken(X, labels, asked)
        learned[asked] = _mistaken(X @ L.T, labels, asked)
    return Wrong(*(int(wrong.sum()) for wrong in (given, learned, given ^ learned)))


def _mistaken(
    X: FloatArray, labels: IndexArray, asked: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Whether the nearest of those not asked take one that is asked for another class."""
    anchors = np.flatnonzero(asked)
    sides = asked.astype(np.intp)
    _, near = nearest_same_and_other(X, sides, anchors, n_same=0, n_other=VOTES)
    return np.asarray(winners(labels[near]) != labels[anchors])


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
