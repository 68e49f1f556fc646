"""Discriminant: the Euclidean distance of linear discriminants."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.arrays import FloatArray
from calipers.estimators.checks import AT_LEAST_ONE
from calipers.estimators.closed_forms import MomentsLearner, Scatters


class Discriminant(MomentsLearner):
    """Distance of linear discriminants: the axes along which class means differ most.

    The samples are whitened by the (shrunk) covariance within classes, then projected onto the
    span of the class means: Fisher's discriminant analysis as a metric.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of ``components_``, at most one fewer than classes; None keeps all of these. After
        `partial_fit` it is fitted once the batches have had enough classes.

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
    >>> from calipers import Discriminant
    >>> X, y = load_wine(return_X_y=True)
    >>> Discriminant().fit(X, y).transform(X).shape
    (178, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [AT_LEAST_ONE, None],
    }

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _so_far(self, scatters: Scatters) -> FloatArray | None:
        enough = scatters.n_classes > (self.n_components or 1)
        return self._components(scatters) if enough else None

    def _formula(self, scatters: Scatters) -> FloatArray:
        most = min(scatters.n_classes - 1, len(scatters.unit))
        if most < (self.n_components or 1):
            raise ValueError(
                f"{type(self).__name__} has at most {most} components for {scatters.n_classes} "
                f"classes, got n_components={self.n_components}: ask for fewer, or None for all."
            )
        white = scatters.shrunk(scatters.within, scatters.n_similar).power(-0.5)
        between = white @ (scatters.covariance - scatters.within) @ white
        inside = slice(None if scatters.basis is None else -1)  # class means may be equal, too
        axes = np.linalg.eigh(between[inside, inside])[1][:, ::-1][:, :most]
        return np.asarray(axes.T @ white[inside])
