"""How well a metric does on held-out examples: an error for each of them, the lower the better."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors.search import nearest_same_and_other

N_NEAREST = 15


def impostor_share(
    Z: FloatArray, labels: IndexArray, is_held_out: npt.NDArray[np.bool_]
) -> FloatArray:
    """Share of impostors among the nearest training samples of each held-out sample.

    Of the 15 nearest the r-th counts 1 / r, so that the very nearest decide. ``Z`` holds the
    images of training and held-out samples under the metric.

    >>> Z, labels = np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1])
    >>> impostor_share(Z, labels, np.array([True, False, False])).round(3)
    array([0.333])
    """
    anchors = np.flatnonzero(is_held_out)
    n_nearest = min(N_NEAREST, len(Z) - len(anchors))
    _, near = nearest_same_and_other(
        Z, is_held_out.astype(np.intp), anchors, n_same=0, n_other=n_nearest
    )
    weights = 1.0 / np.arange(1.0, n_nearest + 1.0)
    is_impostor = labels[near] != labels[anchors, None]
    return np.asarray(is_impostor @ (weights / weights.sum()))


def violations(Z: FloatArray, triplets: IndexArray) -> FloatArray:
    """Whether each triplet is violated: 1 if the negative is nearer, 1/2 if both are as near.

    >>> violations(np.array([[0.0], [1.0], [3.0]]), np.array([[0, 1, 2], [1, 2, 0]]))
    array([0., 1.])
    """
    anchors, positives, negatives = (Z[column] for column in triplets.T)
    to_positive = np.sum((anchors - positives) ** 2, axis=1)
    to_negative = np.sum((anchors - negatives) ** 2, axis=1)
    return np.where(to_positive == to_negative, 0.5, (to_positive > to_negative) * 1.0)


def violations_by_anchor(Z: FloatArray, triplets: IndexArray) -> FloatArray:
    """Share of each anchor's triplets that are violated: those of one anchor are alike.

    >>> Z = np.array([[0.0], [1.0], [3.0]])
    >>> violations_by_anchor(Z, np.array([[0, 1, 2], [1, 2, 0], [1, 0, 2]]))
    array([0. , 0.5])
    """
    _, anchor, sizes = np.unique(triplets[:, 0], return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(anchor, weights=violations(Z, triplets)) / sizes)


def misrankings(Z: FloatArray, pairs: IndexArray) -> FloatArray:
    """Share of the pairs of the other sign that each pair is ranked wrongly against.

    The mean over the pairs of one sign is 1 - AUC.

    >>> misrankings(np.array([[0.0], [1.0], [3.0]]), np.array([[0, 1, 1], [0, 2, -1]]))
    array([0., 0.])
    """
    signs = pairs[:, 2]
    squared = np.sum((Z[pairs[:, 0]] - Z[pairs[:, 1]]) ** 2, axis=1)
    errors = np.empty(len(pairs))
    for sign in (1, -1):
        mine, others = signs == sign, np.sort(sign * squared[signs == -sign])
        below = np.searchsorted(others, sign * squared[mine], side="left")
        up_to = np.searchsorted(others, sign * squared[mine], side="right")
        errors[mine] = (below + up_to) / (2.0 * max(1, len(others)))
    return errors


def mean_error(
    errors: FloatArray,
    groups: npt.NDArray[Any] | None = None,
    weights: FloatArray | None = None,
) -> tuple[float, float]:
    """Mean of errors, or of differences of errors, and its standard error.

    With groups, the signs of pairs, each group's mean is 1 - AUC and their variances add up
    (DeLong et al. 1988). With weights both are those of a weighted mean.

    >>> mean_error(np.array([0.0, 1.0, 0.0, 1.0]))
    (0.5, 0.28867513459481287)
    """
    if weights is not None:
        mean, n = float(np.average(errors, weights=weights)), len(errors)
        if n < 2:
            return mean, np.inf
        shares = weights / weights.sum()
        return mean, float(np.sqrt(n / (n - 1) * np.sum((shares * (errors - mean)) ** 2)))
    kinds = np.zeros(len(errors)) if groups is None else groups
    parts = [errors[kinds == kind] for kind in np.unique(kinds)]
    variance = sum(part.var(ddof=1) / len(part) if len(part) > 1 else np.inf for part in parts)
    mean = float(np.mean([part.mean() for part in parts]))
    return mean, float(np.sqrt(variance))
