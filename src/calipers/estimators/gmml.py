"""GMML: the geometric mean of what is near and what is far."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from calipers.arrays import FloatArray
from calipers.estimators.base import FromPairs
from calipers.estimators.checks import AT_LEAST_ONE
from calipers.estimators.closed_forms import MomentsLearner, Scatters, geometric_mean


class GMML(FromPairs, MomentsLearner):
    """Geometric mean metric learning: a formula of two matrices.

    Implements Zadeh, Hosseini and Sra, "Geometric Mean Metric Learning" (2016). With S and D the
    mean outer products of the differences of similar and of dissimilar pairs::

        M = S^-1/2 (S^1/2 D S^1/2)^t S^-1/2

    From labels, pairs are all pairs of samples. Unlike in the paper, S and D are those of features
    divided by their standard deviation, and shrunk toward a multiple of the identity (Chen et al.
    2010). In these units, and of these S and D, M for t = 1/2 minimises tr(MS) + tr(inv(M) D):
    small distances of similar pairs, large ones of dissimilar pairs. In other units, such as those
    of X, the formula gives another metric. `components_` is for X as it is.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of ``components_``; None keeps as many as there are features.
    t : float, default=0.5
        Place between the inverse of S (0) and D (1).

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    n_updates_ : int
        0: nothing is learned by steps.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from calipers import GMML
    >>> X, y = load_wine(return_X_y=True)
    >>> whole = GMML().fit(X, y)
    >>> parts = GMML().partial_fit(X[:99], y[:99]).partial_fit(X[99:], y[99:])
    >>> bool(abs(whole.components_ - parts.components_).max() < 1e-9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [AT_LEAST_ONE, None],
        "t": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(self, n_components: int | None = None, *, t: float = 0.5) -> None:
        self.n_components = n_components
        self.t = t

    def _formula(self, scatters: Scatters) -> FloatArray:
        if not scatters.dissimilar.any():  # a stream of one class so far
            return np.eye(len(scatters.covariance))
        return geometric_mean(*scatters.spectra, float(self.t))
