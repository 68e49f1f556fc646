"""Paired comparisons: two metrics scored on the same samples, folds or data sets."""

from __future__ import annotations

from math import comb, inf, sqrt

import numpy as np
import numpy.typing as npt


def mean_and_error(differences: npt.ArrayLike) -> tuple[float, float]:
    """Return the mean of paired differences and its standard error.

    Parameters
    ----------
    differences : array-like of shape (n,)
        Score of one minus score of the other, pair by pair; at least one.

    Returns
    -------
    mean, standard_error : float
        The standard error is ``s / sqrt(n)``, s with n - 1 degrees of freedom; infinite for a
        single difference.

    Examples
    --------
    >>> mean_and_error([1.0, 2.0, 3.0, 2.0])
    (2.0, 0.408248290463863)
    """
    values = np.asarray(differences, dtype=np.float64)
    n = len(values)
    if not n:
        raise ValueError("differences must hold at least one paired difference, got none.")
    return float(values.mean()), float(values.std(ddof=1)) / sqrt(n) if n > 1 else inf


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
    n_extreme = sum(comb(n, i) for i in range(min(n_above, n_below) + 1))
    return float(min(1.0, 2 * n_extreme / 2**n))
