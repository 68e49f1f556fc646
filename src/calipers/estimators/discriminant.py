"""Discriminant: the Euclidean distance of linear discriminants."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from calipers import validation
from calipers.coordinates import Coordinates
from calipers.init import MOMENT_SAMPLES, discriminant_axes, evenly_spaced
from calipers.metric import MahalanobisMixin
from calipers.validation import given_labeled


class Discriminant(MahalanobisMixin):
    """Distance of linear discriminants: the axes along which class means differ most.

    The samples are whitened by the (shrunk) covariance within classes, then projected onto the
    span of the class means: Fisher's discriminant analysis as a metric.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of ``components_``, at most one fewer than classes; None keeps all of these.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    n_updates_ : int
        0: nothing is learned by steps.
    classes_ : ndarray of shape (n_classes,)
        Labels seen by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from calipers import Discriminant
    >>> X, y = load_wine(return_X_y=True)
    >>> Discriminant().fit(X, y).transform(X).shape
    (178, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, *, client: Any = None) -> Self:
        """Find the discriminants.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        y : array-like or Dask collection of shape (n_samples,)
            Class of each sample; numbers or strings.
        client : distributed.Client, optional
            Of the cluster, for Dask collections; else the current one, else a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with given_labeled(self, X, y, client=client) as given:
            owner, samples = type(self).__name__, given.samples
            validation.check_components(owner, self.n_components, samples.shape[1])
            validation.check_range(samples)
            validation.check_classes(owner, given.classes, samples.class_sizes)
            most = min(len(given.classes) - 1, samples.shape[1])
            if self.n_components is not None and self.n_components > most:
                raise ValueError(
                    f"{owner} has at most {most} components for {len(given.classes)} classes, got "
                    f"n_components={self.n_components}: ask for fewer, or None for all."
                )
            self.classes_ = given.classes
            coordinates, white = Coordinates.of("within-class", samples)
            indices = evenly_spaced(white.shape[0], MOMENT_SAMPLES)
            X = white.take(indices).astype(np.float64)
            axes = discriminant_axes(X, white.labels_of(indices))
            components = coordinates.low_rank_components(axes, white)
            self.components_ = components[: self.n_components]
        self.n_updates_ = 0
        return self
