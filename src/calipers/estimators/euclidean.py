"""Euclidean: no learning, the distance that all learned ones are compared with."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.estimators.base import Learned, Learner
from calipers.estimators.checks import AT_LEAST_ONE, Given, check_components
from calipers.metric.coordinates import initial_components


class Euclidean(Learner):
    """The Euclidean distance with the methods of a learned one: M = I.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of ``components_``; None keeps the features as they are, fewer are the
        principal components of X.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The identity, or principal axes.
    n_updates_ : int
        0: nothing is learned by steps.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from calipers import Euclidean
    >>> metric = Euclidean().fit(np.array([[0.0, 0.0], [3.0, 4.0]])).get_metric()
    >>> metric([0.0, 0.0], [3.0, 4.0])
    5.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [AT_LEAST_ONE, None],
    }

    _target = "none"

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _learn(self, given: Given) -> Learned:
        d = given.samples.shape[1]
        check_components(self, d)
        if self.n_components is None:
            return {"components_": np.eye(d)}
        return {"components_": initial_components("identity", given.samples, self.n_components)}
