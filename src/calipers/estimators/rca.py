"""RCA: the inverse of the covariance within chunklets."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import MemorySamples, Samples
from calipers.estimators.base import FromPairs
from calipers.estimators.checks import AT_LEAST_ONE, Given, check_kinds_of_pairs
from calipers.estimators.closed_forms import (
    MomentsLearner,
    Scatters,
    Spectrum,
    standardised_covariance,
)
from calipers.metric.moments import moments_of


class RCA(FromPairs, MomentsLearner):
    """Relevant component analysis: M is the inverse of the covariance within chunklets.

    Implements Shental, Hertz, Weinshall and Pavel, "Adjustment Learning and Relevant Component
    Analysis" (2002). A chunklet is a set of samples known to be of one class. `fit` takes the
    chunklet of each sample for y, `fit_pairs` connects pairs that should be near and ignores the
    others. Unlike in `WithinClass`, the covariance is not shrunk; its eigenvalues below a millionth
    of the largest are taken for that.

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
    >>> from calipers import RCA
    >>> X, y = load_wine(return_X_y=True)
    >>> RCA().fit_pairs(X, [[0, 1], [1, 2], [80, 81]], [1, 1, 1]).components_.shape
    (13, 13)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [AT_LEAST_ONE, None],
    }

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _formula(self, scatters: Scatters) -> FloatArray:
        return Spectrum.of(scatters.within).power(-0.5)

    def _scatters(self, given: Given) -> Scatters:
        if given.pairs is None:
            return super()._scatters(given)
        check_kinds_of_pairs(self, given, needs_far=False)
        covariance, unit = standardised_covariance(given.samples)
        connected = moments_of(chunklets(given.samples, given.pairs))
        return Scatters.of_labels(connected, unit)._replace(covariance=covariance)


def chunklets(samples: Samples, pairs: IndexArray) -> MemorySamples:
    """Samples that are connected by pairs that should be near: each connected set is a class.

    >>> X = np.arange(5.0)[:, None]
    >>> chunklets(MemorySamples(X), np.array([[0, 2, 1], [2, 4, 1], [1, 3, 1], [0, 1, -1]])).labels
    array([0, 1, 0, 1, 0])
    """
    near = pairs[pairs[:, 2] == 1]
    indices, places = np.unique(near[:, :2], return_inverse=True)
    one, other = places.reshape(-1, 2).T
    graph = coo_array((np.ones(len(near)), (one, other)), shape=(len(indices), len(indices)))
    codes = connected_components(graph, directed=False)[1]
    return MemorySamples(samples.take(indices), codes.astype(np.intp))
