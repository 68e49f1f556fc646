"""Scaled: the Euclidean distance of features divided by their standard deviations."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.arrays import FloatArray
from calipers.estimators import validation
from calipers.estimators.closed_forms import FromMoments, Scatters, root_or_one
from calipers.estimators.fitting import FromSamples
from calipers.estimators.inputs import Given
from calipers.estimators.validation import AT_LEAST_ONE
from calipers.metric.mahalanobis import MahalanobisMixin
from calipers.metric.moments import StreamedMoments, squares_of


class Scaled(FromSamples, FromMoments, MahalanobisMixin):
    """Standardised Euclidean distance: each feature divided by its standard deviation.

    M is diagonal, and constant features stay as they are.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of ``components_``; None keeps one for each feature, fewer are the principal
        components of the scaled features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        A diagonal, or principal axes of the scaled features.
    n_updates_ : int
        0: nothing is learned by steps.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from calipers import Scaled
    >>> Scaled().fit(np.array([[0.0, 0.0], [2.0, 400.0]])).components_
    array([[1.   , 0.   ],
           [0.   , 0.005]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [AT_LEAST_ONE, None],
    }
    _has_classes = False

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _learn(self, given: Given) -> None:
        if not self._is_diagonal():
            super()._learn(given)
            return
        validation.check_closed_form(self, given)
        n, _, squares = squares_of(given.samples)
        self._divide_by(root_or_one(squares / n))

    def _is_diagonal(self) -> bool:
        return self.n_components is None

    def _set_from(self, stream: StreamedMoments) -> None:
        if self._is_diagonal():
            self._divide_by(root_or_one(stream.variances))
        elif stream.diagonal:
            raise ValueError(
                f"{type(self).__name__} has n_components={self.n_components}, but began its stream "
                "without and kept the variance of each feature only: set n_components before the "
                "first batch."
            )
        else:
            super()._set_from(stream)

    def _formula(self, scatters: Scatters) -> FloatArray:
        return np.eye(len(scatters.covariance))

    def _divide_by(self, unit: FloatArray) -> None:
        self.components_ = np.diag(1.0 / unit)
        self.n_updates_ = 0
