"""Scaled: the Euclidean distance of features divided by their standard deviations."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers import validation
from calipers.coordinates import initial_components
from calipers.fitting import FromSamples
from calipers.init import scaled
from calipers.inputs import Given
from calipers.metric import MahalanobisMixin
from calipers.validation import AT_LEAST_ONE


class Scaled(FromSamples, MahalanobisMixin):
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

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _learn(self, given: Given) -> None:
        validation.check_closed_form(self, given)
        if self.n_components is None:
            self.components_ = scaled(given.samples).then(np.eye(given.samples.shape[1]))
        else:
            self.components_ = initial_components("scaled", given.samples, self.n_components)
        self.n_updates_ = 0
