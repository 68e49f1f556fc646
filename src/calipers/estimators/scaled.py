"""Scaled: the Euclidean distance of features divided by their standard deviations."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.arrays import FloatArray
from calipers.estimators.base import Learned
from calipers.estimators.checks import AT_LEAST_ONE, Given
from calipers.estimators.closed_forms import MomentsLearner, Scatters, root_or_one
from calipers.metric.moments import squares_of


class Scaled(MomentsLearner):
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
    _target = "none"

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _learn(self, given: Given) -> Learned:
        if self.n_components is not None:
            return super()._learn(given)
        n, _, squares = squares_of(given.samples)
        return {"components_": np.diag(1.0 / root_or_one(squares / n))}

    def _components(self, scatters: Scatters) -> FloatArray:
        if self.n_components is None:
            return np.diag(1.0 / scatters.unit)
        return super()._components(scatters)

    def _formula(self, scatters: Scatters) -> FloatArray:
        return np.eye(len(scatters.covariance))
