"""What classifiers of pairs and of triplets share: their input and their metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted

from calipers.arrays import FloatArray, refuse_kinds


class TupleClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of tuples of samples, given as samples or as indices of `preprocessor`."""

    _size: ClassVar[int]
    _words: ClassVar[str]
    metric: Any
    preprocessor: Any
    metric_: Any

    def transform(self, X: npt.ArrayLike) -> Any:
        """Map samples, or indices of `preprocessor`, to images whose distances are the metric's."""
        check_is_fitted(self)
        if self.preprocessor is not None and np.ndim(X) == 1:
            X = check_array(X, ensure_2d=False, dtype=None, input_name="X")
            X = self._looked_up(np.asarray(X), "indices")
        return self.metric_.transform(X)

    def pair_distance(self, pairs: npt.ArrayLike) -> FloatArray:
        """Return the distance within each pair, of samples or of indices of `preprocessor`."""
        check_is_fitted(self)
        return np.asarray(self.metric_.pair_distance(self._samples(pairs, 2, "pairs")))

    def pair_score(self, pairs: npt.ArrayLike) -> FloatArray:
        """Return the metric's score of each pair: higher for closer samples."""
        check_is_fitted(self)
        return np.asarray(self.metric_.pair_score(self._samples(pairs, 2, "pairs")))

    def get_metric(self) -> Callable[..., float]:
        """Return the metric as a function of two samples."""
        check_is_fitted(self)
        return cast(Callable[..., float], self.metric_.get_metric())

    def get_mahalanobis_matrix(self) -> FloatArray:
        """Return the metric's matrix M."""
        check_is_fitted(self)
        return np.asarray(self.metric_.get_mahalanobis_matrix())

    def _samples(
        self, tuples: npt.ArrayLike, size: int | None = None, words: str | None = None
    ) -> FloatArray:
        """Check tuples, given as samples or as indices of `preprocessor`."""
        size, words, owner = size or self._size, words or self._words, type(self).__name__
        refuse_kinds(tuples, words)
        given = check_array(tuples, allow_nd=True, dtype=None, input_name=words)
        if given.ndim == 2 and given.shape[1] == size:
            return self._looked_up(given, words)
        if given.ndim != 3 or given.shape[1] != size:
            raise ValueError(
                f"{owner} needs {words} of shape (n, {size}, n_features), got {given.shape}: stack "
                "their samples, e.g. by np.stack([A, B], axis=1), or pass indices of preprocessor."
            )
        return np.asarray(given, dtype=np.float64)

    def _looked_up(self, tuples: npt.NDArray[Any], words: str) -> FloatArray:
        """The samples that `preprocessor` has, or makes, for indices or names."""
        owner, source = type(self).__name__, self.preprocessor
        if source is None:
            raise ValueError(
                f"{owner} got {words} of indices and no array that they index: pass "
                f"{owner}(metric, preprocessor=X), or X[{words}]."
            )
        if callable(source):
            return _made_by(source, tuples, owner)
        if isinstance(source, Mapping):
            raise TypeError(
                f"{owner} needs an array or a function for preprocessor, got a "
                f"{type(source).__name__}: pass a function that looks samples up, e.g. "
                "lambda names: numpy.array([table[name] for name in names])."
            )
        refuse_kinds(source, "preprocessor")
        samples = check_array(source, dtype=np.float64, input_name="preprocessor")
        if tuples.dtype.kind == "O" and all(map(_is_whole, tuples.flat)):
            tuples = np.array(tuples.tolist())
        is_mixed = tuples.dtype.kind == "O"
        values = np.unique(tuples.astype(str) if is_mixed else tuples).tolist()
        if tuples.dtype.kind not in "iu" or not 0 <= values[0] <= values[-1] < len(samples):
            raise ValueError(
                f"{owner} got {words} from {values[0]} to {values[-1]} for the {len(samples)} "
                f"samples of preprocessor: pass indices, whole numbers from 0 to "
                f"{len(samples) - 1}."
            )
        return np.asarray(samples[tuples])

    def _fit_metric(self, method: str, tuples: FloatArray, *labels: Any) -> Any:
        """A clone of the metric, fitted to tuples by its ``method``, or to their samples alone."""
        X = tuples.reshape(-1, tuples.shape[2])
        if not hasattr(self.metric, "fit"):
            return self.metric  # it was loaded from a file
        metric = clone(self.metric)
        if hasattr(metric, method):
            indices = np.arange(len(X)).reshape(len(tuples), self._size)
            return getattr(metric, method)(X, indices, *labels)
        if get_tags(metric).target_tags.required:
            raise TypeError(
                f"{type(self).__name__} needs a metric that learns from {self._words}, but "
                f"{type(metric).__name__} has no {method}: choose one that has, e.g. "
                f"{'GMML' if self._size == 2 else 'TripletSGD'}, or a metric from a file."
            )
        return metric.fit(X)

    def _distances(self, tuples: FloatArray, one: int, other: int, metric: Any) -> FloatArray:
        return np.asarray(metric.pair_distance(tuples[:, [one, other]]))

    @property
    def n_features_in_(self) -> int:
        """Number of features of a sample."""
        check_is_fitted(self)
        return int(self.metric_.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _made_by(function: Callable[..., Any], tuples: npt.NDArray[Any], owner: str) -> FloatArray:
    """The samples that a function makes for indices or names."""
    made = function(tuples.ravel())
    refuse_kinds(made, "preprocessor(names)")
    shape = np.shape(made)
    if len(shape) != 2 or shape[0] != tuples.size:
        raise ValueError(
            f"{owner} needs a preprocessor that returns a sample for each of the {tuples.size} "
            f"names that it gets, of shape ({tuples.size}, n_features), got {shape}."
        )
    samples = check_array(made, dtype=np.float64, input_name="preprocessor(names)")
    return np.asarray(samples).reshape(*tuples.shape, -1)
