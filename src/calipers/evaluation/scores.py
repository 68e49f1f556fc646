"""How well a metric does on held-out examples, and whether two metrics differ.

Each example has an error, the lower the better; their mean has a standard error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors import nearest_same_and_other

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


def violations_by_anchor(Z: FloatArray, triplets: IndexArray) -> FloatArray:
    """Share of each anchor's triplets that are violated: those of one anchor are alike.

    A triplet whose negative is as near as its positive counts one half.

    >>> Z = np.array([[0.0], [1.0], [3.0]])
    >>> violations_by_anchor(Z, np.array([[0, 1, 2], [1, 2, 0], [1, 0, 2]]))
    array([0. , 0.5])
    """
    anchors, positives, negatives = (Z[column] for column in triplets.T)
    to_positive = np.sum((anchors - positives) ** 2, axis=1)
    to_negative = np.sum((anchors - negatives) ** 2, axis=1)
    violated = (1.0 + np.sign(to_positive - to_negative)) / 2.0
    _, anchor, sizes = np.unique(triplets[:, 0], return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(anchor, weights=violated) / sizes)


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
    errors: npt.ArrayLike,
    groups: npt.NDArray[Any] | None = None,
    weights: FloatArray | None = None,
) -> tuple[float, float]:
    """Mean of errors, or of differences of errors, and its standard error.

    The latter is infinite for a single error. With groups, the signs of pairs, each group's mean is
    1 - AUC and their variances add up (DeLong et al. 1988). With weights both are those of a
    weighted mean.

    >>> mean_error(np.array([0.0, 1.0, 0.0, 1.0]))
    (0.5, 0.28867513459481287)
    """
    values = np.asarray(errors, dtype=np.float64)
    kinds = np.zeros(len(values)) if groups is None else groups
    counts = np.ones(len(values)) if weights is None else weights
    means, variance = [], 0.0
    for kind in np.unique(kinds):
        part, shares = values[kinds == kind], counts[kinds == kind]
        shares, n = shares / shares.sum(), len(part)
        means.append(shares @ part)
        squares = float(np.sum((shares * (part - means[-1])) ** 2))
        variance += n / (n - 1) * squares if n > 1 else np.inf
    return float(np.mean(means)), float(np.sqrt(variance))


def sign_test(differences: npt.ArrayLike) -> float:
    """Return the two-sided p-value of the sign test; it leaves out differences of 0.

    Under the null hypothesis each difference is as often above 0 as below it.

    Examples
    --------
    >>> sign_test([0.3, 0.1, 0.4, -0.2, 0.6, 0.0])
    0.375
    >>> sign_test([0.0, 0.0])
    1.0
    """
    values = np.asarray(differences, dtype=np.float64)
    n_above, n_below = int(np.sum(values > 0)), int(np.sum(values < 0))
    n = n_above + n_below
    return float(binomtest(n_above, n).pvalue) if n else 1.0
