"""KISSME: the ratio of two likelihoods, as a metric."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.arrays import FloatArray
from calipers.estimators.base import FromPairs
from calipers.estimators.checks import AT_LEAST_ONE
from calipers.estimators.closed_forms import MomentsLearner, Scatters, likelihood_ratio


class KISSME(FromPairs, MomentsLearner):
    """Keep it simple and straightforward: a difference of two inverse matrices.

    Implements Koestinger, Hirzer, Wohlhart, Roth and Bischof, "Large Scale Metric Learning from
    Equivalence Constraints" (2012). With S and D the mean outer products of the differences of
    similar and of dissimilar pairs, M is ``inv(S) - inv(D)``, clipped to the cone: it orders pairs
    by the ratio of their likelihoods under two normal distributions. From labels, pairs are all
    pairs of samples. Unlike in the paper, S and D are those of features divided by their standard
    deviation, and shrunk toward a multiple of the identity (Chen et al. 2010). If no direction
    tells the pairs apart, as may be for random labels, M would be 0 or rounding error; then all
    standardised features count alike, as in `Scaled`.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of ``components_``; None keeps as many as there are features.

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
    >>> from calipers import KISSME
    >>> X, y = load_wine(return_X_y=True)
    >>> KISSME(n_components=2).fit(X, y).transform(X).shape
    (178, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [AT_LEAST_ONE, None],
    }

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _formula(self, scatters: Scatters) -> FloatArray:
        if not scatters.dissimilar.any():  # a stream of one class so far
            return np.eye(len(scatters.covariance))
        return likelihood_ratio(*scatters.spectra)
