"""The mean of metrics: of several that are right about most, one that is wrong about little.

A metric that was learned from few neighbours follows the rows closely, noise included. One that
was learned from many does so less; the start, and the spread within classes, do not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from calipers.arrays import FloatArray


class Shares(NamedTuple):
    """Of a mean: what metrics learned from few and from many neighbours count, and two others."""

    few: float = 0.45
    many: float = 0.45
    start: float = 0.1
    classes: float = 0.0  # the inverse of the covariance within classes


MEANS = (Shares(), Shares(few=0.315, many=0.315, start=0.07, classes=0.3))
"""Those that are tried."""


class Blend(NamedTuple):
    """What a metric that is learned from few neighbours is to be averaged with."""

    covariance: FloatArray  # of the rows: metrics count by the mean square of their distances
    share: float  # of the metric itself
    others: Sequence[tuple[float, FloatArray]]  # their shares, and they

    def of(self, M: FloatArray) -> FloatArray:
        """The mean, as long as M; M itself where one of them sees no distance at all.

        >>> Blend(np.eye(2), 0.5, [(0.5, np.diag([8.0, 0.0]))]).of(np.diag([0.0, 1.0]))
        array([[0.5, 0. ],
               [0. , 0.5]])
        """
        length, *of_others = [
            float(np.sum(metric * self.covariance))
            for metric in (M, *(other for _, other in self.others))
        ]
        if not all(0.0 < each < np.inf for each in (length, *of_others)):
            return M
        mean = self.share / length * M
        for (share, other), of_other in zip(self.others, of_others, strict=True):
            mean += share / of_other * other
        return np.asarray(length * mean)


def covariance(X: FloatArray) -> FloatArray:
    """Of the columns of X, in units of its largest value: squares of others may overflow."""
    centred = X - X.mean(axis=0)
    centred /= max(float(np.abs(centred).max()), np.finfo(np.float64).tiny)
    return np.asarray(centred.T @ centred / len(X))
