"""LFDA: local Fisher discriminant analysis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.data.samples import MemorySamples, in_memory
from calipers.estimators import validation
from calipers.estimators.closed_forms import Scatters
from calipers.estimators.fitting import FromLabels
from calipers.estimators.inputs import Given
from calipers.estimators.local_scatters import local_discriminants, local_scatters
from calipers.estimators.validation import AT_LEAST_ONE
from calipers.metric.init import std_or_one
from calipers.metric.mahalanobis import MahalanobisMixin
from calipers.metric.moments import moments_of


class LFDA(FromLabels, MahalanobisMixin):
    """Local Fisher discriminant analysis: discriminants of classes that have several clusters.

    Implements Sugiyama, "Dimensionality Reduction of Multimodal Labeled Data by Local Fisher
    Discriminant Analysis" (2007). Within a class, samples that are far apart need not come near:
    pairs count by an affinity that falls with their distance. Rows of L are the directions with
    the largest ratio of the scatter between classes to that within, times the root of the ratio;
    unlike `Discriminant` it has as many as features. Features are scaled first. Time grows with the
    square of the number of samples of a class, memory with the number.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of ``components_``; None keeps as many as there are features.
    n_neighbors : int, default=7
        The affinity of a sample falls on the scale of its distance to the so many-th nearest of
        its class.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    n_updates_ : int
        0: nothing is learned by steps.
    classes_ : ndarray of shape (n_classes,)
        Labels seen by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from calipers import LFDA
    >>> X, y = load_wine(return_X_y=True)
    >>> LFDA(n_components=2).fit(X, y).transform(X).shape
    (178, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [AT_LEAST_ONE, None],
        "n_neighbors": [AT_LEAST_ONE],
    }

    def __init__(self, n_components: int | None = None, *, n_neighbors: int = 7) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors

    def _learn(self, given: Given) -> None:
        validation.check_closed_form(self, given)
        dense = in_memory(given.samples)
        unit = std_or_one(dense.X.astype(np.float64), dense.weights)
        samples = MemorySamples(dense.X / unit, dense.labels, dense.weights)
        moments = moments_of(samples)
        within, between = local_scatters(samples, moments, int(self.n_neighbors))
        local = Scatters.of_labels(moments, np.ones_like(unit))._replace(
            within=within, dissimilar=between, unit=unit
        )
        local = local.in_span()
        rank = int(self.n_components or len(local.within))
        L = local_discriminants(local.within, local.dissimilar, rank)
        self.components_ = local.components(L, self.n_components)
        self.n_updates_ = 0
