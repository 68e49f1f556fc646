"""The mean of metrics: of several that are right about most, one that is wrong about little.

A metric that was learned from few neighbours follows the rows closely, noise included. One that
was learned from many does so less, and the start not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from calipers.arrays import FloatArray


class Shares(NamedTuple):
    """Of a mean: of the metric learned from few neighbours, of those from many, of the start."""

    few: float = 0.45
    many: float = 0.45
    start: float = 0.1


class Blend(NamedTuple):
    """What a metric that is learned from few neighbours is to be averaged with."""

    covariance: FloatArray  # of the rows: metrics count by the mean square of their distances
    start: FloatArray
    others: Sequence[FloatArray]  # learned from many neighbours
    shares: Shares = Shares()

    def of(self, M: FloatArray) -> FloatArray:
        """The mean, as long as M; M itself where one of them sees no distance at all.

        >>> Blend(np.eye(2), np.eye(2), [np.diag([8.0, 0.0])]).of(np.diag([0.0, 1.0]))
        array([[0.5, 0. ],
               [0. , 0.5]])
        """
        lengths = [
            float(np.sum(other * self.covariance)) for other in (M, self.start, *self.others)
        ]
        if not all(0.0 < length < np.inf for length in lengths):
            return M
        length, of_start, *of_others = lengths
        few, many, start = self.shares
        mean = few / length * M + start / of_start * self.start
        for other, of_other in zip(self.others, of_others, strict=True):
            mean += many / (of_other * len(self.others)) * other
        return np.asarray(length * mean)


def covariance(X: FloatArray) -> FloatArray:
    """Of the columns of X, in units of its largest value: squares of others may overflow."""
    centred = X - X.mean(axis=0)
    centred /= max(float(np.abs(centred).max()), np.finfo(np.float64).tiny)
    return np.asarray(centred.T @ centred / len(X))
