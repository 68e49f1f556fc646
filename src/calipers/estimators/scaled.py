"""Scaled: the Euclidean distance of features divided by their standard deviations."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from calipers import validation
from calipers.arrays import FloatArray
from calipers.closed_forms import FromMoments, Scatters, root_or_one
from calipers.fitting import fitting, learned
from calipers.inputs import Given, given_unlabeled, weighted_part
from calipers.metric import MahalanobisMixin
from calipers.moments import variances_of
from calipers.validation import AT_LEAST_ONE


class Scaled(FromMoments, MahalanobisMixin):
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

    @fitting
    def fit(
        self,
        X: npt.ArrayLike,
        y: object = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        client: Any = None,
    ) -> Self:
        """Learn from samples alone.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        y : object, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts; 0 leaves it out. By default each counts once.
        client : distributed.Client, optional
            Client for Dask collections. By default the current one, or a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with given_unlabeled(self, X, client=client) as given:
            learned(self, weighted_part(self, given, sample_weight))
        return self

    def _learn(self, given: Given) -> None:
        if self.n_components is not None:
            super()._learn(given)
            return
        validation.check_closed_form(self, given)
        self._divide_by(root_or_one(variances_of(given.samples, given.weights)))

    def _formula(self, scatters: Scatters) -> FloatArray:
        return np.eye(len(scatters.covariance))

    def _set(self, scatters: Scatters) -> None:
        if self.n_components is None:
            self._divide_by(scatters.unit)
        else:
            super()._set(scatters)

    def _divide_by(self, unit: FloatArray) -> None:
        self.components_ = np.diag(1.0 / unit)
        self.n_updates_ = 0
