"""The methods by which people fit a learner: each checks its input and gives it to ``_learn``.

A learner takes one of these classes for every kind of input that it learns from, and has one
method of its own, ``_learn(given)``: `Given` holds what was passed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks

from calipers.data.samples import relative_weights
from calipers.data.triplets import check_pairs, check_triplets
from calipers.estimators.inputs import (
    Given,
    counted_part,
    given_labeled,
    given_unlabeled,
    with_weights,
)
from calipers.metric.init import evenly_spaced

Fit = TypeVar("Fit", bound=Callable[..., Any])


def checking(method: Fit) -> Fit:
    """Check parameters first, as scikit-learn does; type checkers still know the types."""
    return cast(Fit, _fit_context(prefer_skip_nested_validation=True)(method))


def fitting(method: Fit) -> Fit:
    """Check parameters first, and call callbacks."""
    return checking(cast(Fit, with_callbacks(method)))


MOST_MEASURED = 10_000
"""Samples at most, evenly spaced, whose standard deviations become ``feature_scale_``."""


def learned(estimator: Any, given: Given) -> None:
    """Let a learner learn, and keep the spread of its features: it says what the metric weighs."""
    estimator._learn(given)
    measured = evenly_spaced(given.samples.shape[0], MOST_MEASURED)
    some, weights = given.samples.take(measured), relative_weights(given.samples, measured)
    low, high = (limit.astype(np.float64) for limit in (some.min(axis=0), some.max(axis=0)))
    largest = np.maximum(high, -low)
    exponent = np.frexp(largest)[1] - 1  # squares of large numbers would overflow
    unit = np.ldexp(1.0, np.clip(exponent, -1000, 1000))
    centered = some / unit - np.average(some / unit, axis=0, weights=weights)
    estimator.feature_scale_ = unit * np.sqrt(np.average(centered**2, axis=0, weights=weights))


class FromSamples:
    """``fit`` of a learner that needs no labels."""

    _learn: Callable[[Given], None]

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
            learned(self, counted_part(with_weights(self, given, sample_weight)))
        return self


class FromLabels:
    """``fit`` of a learner from labels."""

    classes_: npt.NDArray[Any]
    _learn: Callable[[Given], None]

    @fitting
    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        client: Any = None,
    ) -> Self:
        """Learn from labels.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        y : array-like or Dask collection of shape (n_samples,)
            Class of each sample, numbers or strings; the targets of `MLKR` are numbers.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts; 0 leaves it out. By default each counts once. A learner
            that draws triplets draws anchors as often.
        client : distributed.Client, optional
            Client for Dask collections. By default the current one, or a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with given_labeled(self, X, y, client=client) as everything:
            given = counted_part(with_weights(self, everything, sample_weight))
            self.classes_ = given.classes
            learned(self, given)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        return tags


class FromTriplets:
    """``fit_triplets`` of a learner from triplets."""

    _learn: Callable[[Given], None]

    @fitting
    def fit_triplets(
        self, X: npt.ArrayLike, triplets: npt.ArrayLike, *, client: Any = None
    ) -> Self:
        """Learn from your own triplets, in the order given.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        triplets : array-like of shape (n_triplets, 3)
            Indices (anchor, positive, negative): the anchor should be closer to the positive.
        client : distributed.Client, optional
            Client for Dask collections. By default the current one, or a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with given_unlabeled(self, X, client=client) as given:
            checked = check_triplets(triplets, given.samples.shape[0])
            learned(self, given._replace(triplets=checked))
        return self


class FromPairs:
    """``fit_pairs`` of a learner from pairs."""

    _learn: Callable[[Given], None]

    @fitting
    def fit_pairs(
        self, X: npt.ArrayLike, pairs: npt.ArrayLike, y: npt.ArrayLike, *, client: Any = None
    ) -> Self:
        """Learn from your own pairs, in the order given.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        pairs : array-like of shape (n_pairs, 2)
            Indices of the two samples of each pair.
        y : array-like of shape (n_pairs,)
            +1 for pairs that should be near, -1 for pairs that should be far.
        client : distributed.Client, optional
            Client for Dask collections. By default the current one, or a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with given_unlabeled(self, X, client=client) as given:
            checked = check_pairs(pairs, y, given.samples.shape[0])
            learned(self, given._replace(pairs=checked))
        return self
