"""Euclidean: no learning, the distance that all learned ones are compared with."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from calipers import validation
from calipers.coordinates import Coordinates
from calipers.metric import MahalanobisMixin
from calipers.validation import given_unlabeled


class Euclidean(MahalanobisMixin):
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
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had string column names.

    Examples
    --------
    >>> import numpy as np
    >>> from calipers import Euclidean
    >>> metric = Euclidean().fit(np.array([[0.0, 0.0], [3.0, 4.0]])).get_metric()
    >>> metric([0.0, 0.0], [3.0, 4.0])
    5.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: object = None, *, client: Any = None) -> Self:
        """Check X, and find its principal axes if `n_components` asks for them.

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
            if self.n_components is None:
                self.components_ = np.eye(d)
            else:
                coordinates, samples = Coordinates.of("identity", given.samples)
                eye = np.eye(samples.shape[1])
                self.components_ = coordinates.components(eye, 1.0, samples, self.n_components)
        self.n_updates_ = 0
        return self
