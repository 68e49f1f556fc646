"""Euclidean: no learning, the distance that all learned ones are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context

from calipers.estimators import inputs
from calipers.metric import MahalanobisMixin


class Euclidean(MahalanobisMixin):
    """The Euclidean distance with the methods of a learned one: M = I.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The identity.
    n_updates_ : int
        0: nothing is learned.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had string column names.

    Examples
    --------
    >>> import numpy as np
    >>> from calipers.estimators.euclidean import Euclidean
    >>> metric = Euclidean().fit(np.array([[0.0, 0.0], [3.0, 4.0]])).get_metric()
    >>> metric([0.0, 0.0], [3.0, 4.0])
    5.0
    """

    _parameter_constraints: dict[str, list[Any]] = {}  # noqa: RUF012  as scikit-learn has it

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: object = None) -> Euclidean:
        """Check X and learn how many features it has.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : object, default=None
            Ignored.

        Returns
        -------
        Euclidean
            The fitted estimator.
        """
        rows = inputs.dense_rows(self, X)
        self.components_ = np.eye(rows.shape[1])
        self.n_updates_ = 0
        return self
