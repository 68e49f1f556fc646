"""Queries that belong to no class: rejected where the nearest training sample is far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray
from calipers.evaluation.knn import predicted_right
from calipers.evaluation.nearest import finite_samples, nearest_samples


@dataclass(frozen=True)
class RejectionScores:
    """What rejecting far queries is worth; one value for each rate.

    Attributes
    ----------
    rates : ndarray
        Largest share of the test samples that may be rejected.
    thresholds : ndarray
        A sample is rejected if its nearest training sample is farther away than this.
    accuracy : ndarray
        Share of the accepted test samples whose class is predicted right.
    outside_rejected : ndarray
        Share of the samples of no class that are rejected.
    """

    rates: FloatArray
    thresholds: FloatArray
    accuracy: FloatArray
    outside_rejected: FloatArray


def rejection_scores(
    X_train: npt.ArrayLike,
    y_train: npt.ArrayLike,
    X_test: npt.ArrayLike,
    y_test: npt.ArrayLike,
    X_outside: npt.ArrayLike,
    *,
    rates: Sequence[float] = (0.0, 0.05, 0.1, 0.2),
    n_neighbors: int = 3,
) -> RejectionScores:
    """Score k-NN that rejects samples far from all training samples.

    A rate says how many test samples, all of which belong to a class, may be rejected by mistake.
    The threshold is the smallest distance that keeps to it; samples at equal distances are accepted
    or rejected together.

    Parameters
    ----------
    X_train : array-like of shape (n_train, d)
        Training samples.
    y_train : array-like of shape (n_train,)
        Their labels.
    X_test : array-like of shape (n_test, d)
        Test samples that belong to the classes, at least one.
    y_test : array-like of shape (n_test,)
        Their labels.
    X_outside : array-like of shape (n_outside, d)
        Samples that belong to no class, at least one.
    rates : sequence of float, default=(0.0, 0.05, 0.1, 0.2)
        Shares of the test samples, from 0 to less than 1.
    n_neighbors : int, default=3
        Number of neighbours that vote.

    Returns
    -------
    RejectionScores
        Thresholds and scores.

    Examples
    --------
    The test sample at 6 is far from both classes, and so is what belongs to neither:

    >>> known, new = [[0.0], [10.0]], [[1.0], [9.0], [6.0], [10.5]]
    >>> scores = rejection_scores(
    ...     known, [0, 1], new, [0, 1, 0, 1], [[5.0], [14.0]], rates=[0, 0.25], n_neighbors=1
    ... )
    >>> scores.accuracy, scores.outside_rejected
    (array([0.75, 1.  ]), array([0.5, 1. ]))
    """
    shares = np.asarray(rates, dtype=np.float64)
    if shares.ndim != 1 or not ((shares >= 0) & (shares < 1)).all():
        raise ValueError(f"rates must be shares from 0 to less than 1, got {rates}.")
    right = predicted_right(X_train, y_train, X_test, y_test, n_neighbors=n_neighbors)
    inside = _distances(X_train, X_test, "X_test")
    outside = _distances(X_train, X_outside, "X_outside")
    n_rejected = np.floor(shares * len(inside) + 1e-9).astype(np.intp)  # 0.29 of 100 are 29
    thresholds = np.sort(inside)[-1 - np.minimum(n_rejected, len(inside) - 1)]
    return RejectionScores(
        shares,
        thresholds,
        np.array([right[inside <= threshold].mean() for threshold in thresholds]),
        np.array([np.mean(outside > threshold) for threshold in thresholds]),
    )


def _distances(X_train: npt.ArrayLike, X: npt.ArrayLike, name: str) -> FloatArray:
    """Return the distance of each sample to the nearest training sample."""
    train, samples = finite_samples(X_train, "X_train"), finite_samples(X, name)
    if not len(samples):
        raise ValueError(f"{name} must have at least one sample, got none.")
    (nearest,) = nearest_samples(train, samples, n_neighbors=1).T
    return np.asarray(np.hypot.reduce(samples - train[nearest], axis=1))
