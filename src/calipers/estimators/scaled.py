"""Scaled: the Euclidean distance of features divided by their standard deviations."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from calipers import validation
from calipers.coordinates import Coordinates
from calipers.init import scaled
from calipers.metric import MahalanobisMixin
from calipers.validation import given_unlabeled


class Scaled(MahalanobisMixin):
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
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had string column names.

    Examples
    --------
    >>> import numpy as np
    >>> from calipers import Scaled
    >>> Scaled().fit(np.array([[0.0, 0.0], [2.0, 400.0]])).components_
    array([[1.   , 0.   ],
           [0.   , 0.005]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: object = None, *, client: Any = None) -> Self:
        """Find the standard deviations of the features.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        y : object, default=None
            Ignored.
        client : distributed.Client, optional
            Of the cluster, for Dask collections; else the current one, else a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with given_unlabeled(self, X, client=client) as given:
            d = given.samples.shape[1]
            validation.check_components(type(self).__name__, self.n_components, d)
            validation.check_range(given.samples)
            if self.n_components is None:
                self.components_ = scaled(given.samples).then(np.eye(d))
            else:
                coordinates, samples = Coordinates.of("scaled", given.samples)
                eye = np.eye(samples.shape[1])
                self.components_ = coordinates.components(eye, 1.0, samples, self.n_components)
        self.n_updates_ = 0
        return self
