"""WithinClass: the inverse of the covariance within classes."""

from __future__ import annotations

from typing import Any, ClassVar

from calipers.arrays import FloatArray
from calipers.estimators.checks import AT_LEAST_ONE
from calipers.estimators.closed_forms import MomentsLearner, Scatters


class WithinClass(MomentsLearner):
    """Mahalanobis distance of the covariance within classes: M is its inverse.

    Differences that are common within a class count little. The covariance is that of scaled
    features, shrunk toward a multiple of the identity (Chen et al. 2010).

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of ``components_``; None keeps as many as there are features.

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
    >>> from calipers import WithinClass
    >>> X, y = load_wine(return_X_y=True)
    >>> WithinClass(n_components=2).fit(X, y).transform(X).shape
    (178, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [AT_LEAST_ONE, None],
    }

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _formula(self, scatters: Scatters) -> FloatArray:
        return scatters.shrunk(scatters.within, scatters.n_similar).power(-0.5)
