"""Pairs and triplets as scikit-learn data: classifiers around a metric.

Their X is an array of pairs, of shape (n_pairs, 2, n_features), or of triplets, with 3 for 2; so
that they work in ``cross_val_score`` and ``GridSearchCV``.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_array, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from calipers.arrays import FloatArray
from calipers.thresholds import STRATEGIES, check_strategy, find_threshold, platt

_SHARE = Interval(Real, 0, 1, closed="both")


class _TupleClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What classifiers of pairs and of triplets share: their input and their metric."""

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
            made = check_array(source(tuples.ravel()), dtype=np.float64, input_name="preprocessor")
            return np.asarray(made).reshape(*tuples.shape, -1)
        samples = check_array(source, dtype=np.float64, input_name="preprocessor")
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


class PairClassifier(_TupleClassifier):
    """Tell whether two samples match: a metric, a threshold and a probability.

    The metric learns from all pairs. The threshold, and Platt's sigmoid that turns distances into
    probabilities, are fitted to the distances of pairs that were held out.

    Parameters
    ----------
    metric : estimator
        A learner with ``fit_pairs`` (or one that needs samples only), or a metric from a file.
    strategy : str, default="accuracy"
        What the threshold is for:

        - "accuracy": the largest share of right answers;
        - "f_beta": the highest F score, with `beta`;
        - "max_tpr": the largest share of matches found, while at least `min_rate` of the other
          pairs are rejected;
        - "max_tnr": the largest share of other pairs rejected, while at least `min_rate` of the
          matches are found;
        - "precision": the largest share of matches found, while at least `min_rate` of the pairs
          called a match are right;
        - "equal-error-rate": the shares of matches missed and of other pairs accepted are equal.
    min_rate : float or None, default=None
        Share that "max_tpr", "max_tnr" and "precision" need.
    beta : float, default=1.0
        Weight of recall in "f_beta".
    cv : int, default=3
        Folds that pairs are held out in.
    preprocessor : array-like of shape (n_samples, n_features), callable or None, default=None
        Samples, if pairs are indices, of shape (n_pairs, 2); or a function that makes samples of
        an array of indices or names.

    Attributes
    ----------
    metric_ : estimator
        The metric, fitted to all pairs.
    threshold_ : float
        Largest distance of a match.
    classes_ : ndarray of shape (2,)
        Labels; the second is that of matches.
    n_features_in_ : int
        Number of features of a sample.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from calipers import GMML, PairClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> indices = np.random.default_rng(0).integers(150, size=(300, 2))
    >>> match = np.where(y[indices[:, 0]] == y[indices[:, 1]], 1, -1)
    >>> model = PairClassifier(GMML(), strategy="equal-error-rate")
    >>> bool(cross_val_score(model, X[indices], match).mean() > 0.8)
    True
    """

    _size, _words = 2, "pairs"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric": [HasMethods(["pair_distance"])],
        "strategy": [StrOptions(set(STRATEGIES))],
        "min_rate": [_SHARE, None],
        "beta": [Interval(Real, 0, None, closed="left")],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "preprocessor": ["array-like", callable, None],
    }

    def __init__(
        self,
        metric: Any,
        *,
        strategy: str = "accuracy",
        min_rate: float | None = None,
        beta: float = 1.0,
        cv: int = 3,
        preprocessor: npt.ArrayLike | Callable[..., Any] | None = None,
    ) -> None:
        self.metric = metric
        self.strategy = strategy
        self.min_rate = min_rate
        self.beta = beta
        self.cv = cv
        self.preprocessor = preprocessor

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, pairs: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn the metric, the threshold and the probability.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or (n_pairs, 2) with `preprocessor`
            Pairs of samples.
        y : array-like of shape (n_pairs,)
            Two labels, of which the larger is that of matches: -1 and +1, 0 and 1, False and True.

        Returns
        -------
        Self
            The fitted classifier.
        """
        check_strategy(self.strategy, self.min_rate, self.beta)
        samples = self._samples(pairs)
        self.classes_, is_match = self._matches(samples, y)
        signs = np.where(is_match, 1, -1)
        n_folds = min(self.cv, int(np.bincount(is_match).min()))
        if n_folds < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 pairs of each kind, to hold some out, got "
                f"{np.bincount(is_match).tolist()}: pass more pairs."
            )
        held_out = np.empty(len(samples))
        for learned, rest in StratifiedKFold(n_folds).split(samples[:, 0, 0], is_match):
            metric = self._fit_metric("fit_pairs", samples[learned], signs[learned])
            held_out[rest] = self._distances(samples[rest], 0, 1, metric)
        self.metric_ = self._fit_metric("fit_pairs", samples, signs)
        self._sigmoid = platt(held_out, is_match)
        self.threshold_ = find_threshold(
            held_out, is_match, self.strategy, min_rate=self.min_rate, beta=self.beta
        )
        return self

    def _matches(self, samples: FloatArray, y: npt.ArrayLike) -> tuple[Any, npt.NDArray[np.bool_]]:
        labels = column_or_1d(y, warn=True)
        check_consistent_length(samples, labels)
        classes = np.unique(labels)
        if len(classes) != 2:
            raise ValueError(
                f"{type(self).__name__} needs labels of two kinds, e.g. -1 and +1, got "
                f"{len(classes)} ({classes[:5].tolist()}): label pairs that match and pairs that "
                "do not."
            )
        return classes, labels == classes[1]

    def decision_function(self, pairs: npt.ArrayLike) -> FloatArray:
        """Return the threshold minus each pair's distance: positive for a match."""
        distances = self.pair_distance(pairs)
        return np.asarray(self.threshold_ - distances)

    def predict(self, pairs: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the label of each pair: a match if its distance is within the threshold."""
        distances = self.pair_distance(pairs)
        return np.asarray(self.classes_[(distances <= self.threshold_).astype(int)])

    def predict_proba(self, pairs: npt.ArrayLike) -> FloatArray:
        """Return the probability of no match and of a match, of shape (n_pairs, 2)."""
        distances = self.pair_distance(pairs)
        return np.asarray(self._sigmoid.predict_proba(distances[:, None]))

    def set_threshold(self, threshold: float) -> Self:
        """Set the largest distance of a match."""
        check_is_fitted(self)
        if not isinstance(threshold, Real):
            raise ValueError(
                f"threshold must be a real number, got {threshold!r}: pass a distance."
            )
        self.threshold_ = float(threshold)
        return self

    def calibrate_threshold(
        self,
        pairs_valid: npt.ArrayLike,
        y_valid: npt.ArrayLike,
        strategy: str = "accuracy",
        min_rate: float | None = None,
        beta: float = 1.0,
    ) -> Self:
        """Set the threshold by pairs that were not learned from; parameters are those of the class.

        Parameters
        ----------
        pairs_valid, y_valid : array-like
            Pairs and their labels, as in `fit`.
        strategy, min_rate, beta
            As the parameters of the class.

        Returns
        -------
        Self
            The classifier with another threshold.
        """
        distances = self.pair_distance(pairs_valid)
        is_match = column_or_1d(y_valid) == self.classes_[1]
        check_consistent_length(distances, is_match)
        self.threshold_ = find_threshold(
            distances, is_match, strategy, min_rate=min_rate, beta=beta
        )
        return self


class TripletClassifier(_TupleClassifier):
    """Tell which of two samples is closer to an anchor, by a metric learned from triplets.

    Parameters
    ----------
    metric : estimator
        A learner with ``fit_triplets`` (or one that needs samples only), or a metric from a file.
    preprocessor : array-like of shape (n_samples, n_features), callable or None, default=None
        Samples, if triplets are indices, of shape (n_triplets, 3); or a function that makes samples
        of an array of indices or names.

    Attributes
    ----------
    metric_ : estimator
        The metric, fitted to all triplets.
    classes_ : ndarray of shape (2,)
        -1 and +1.
    n_features_in_ : int
        Number of features of a sample.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from calipers import TripletClassifier, TripletSGD
    >>> triplets = np.random.default_rng(0).standard_normal((300, 3, 5))
    >>> triplets[:, 1, 0] = triplets[:, 0, 0]  # only the first feature matters
    >>> model = TripletClassifier(TripletSGD(random_state=0))
    >>> bool(cross_val_score(model, triplets).mean() > 0.9)
    True
    """

    _size, _words = 3, "triplets"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric": [HasMethods(["pair_distance"])],
        "preprocessor": ["array-like", callable, None],
    }

    def __init__(
        self, metric: Any, *, preprocessor: npt.ArrayLike | Callable[..., Any] | None = None
    ) -> None:
        self.metric = metric
        self.preprocessor = preprocessor

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, triplets: npt.ArrayLike, y: object = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        triplets : array-like of shape (n_triplets, 3, n_features), or of indices
            Anchor, positive and negative: the anchor should be closer to the positive.
        y : object, default=None
            Ignored.

        Returns
        -------
        Self
            The fitted classifier.
        """
        self.metric_ = self._fit_metric("fit_triplets", self._samples(triplets))
        self.classes_ = np.array([-1, 1])
        return self

    def decision_function(self, triplets: npt.ArrayLike) -> FloatArray:
        """Return the distance of anchor and third sample minus that of anchor and second."""
        check_is_fitted(self)
        samples = self._samples(triplets)
        far, near = (self._distances(samples, 0, other, self.metric_) for other in (2, 1))
        return np.asarray(far - near)

    def predict(self, triplets: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Return +1 for each triplet whose second sample is closer to the anchor, else -1."""
        return np.where(self.decision_function(triplets) > 0.0, 1, -1)

    def score(self, triplets: npt.ArrayLike, y: object = None) -> float:
        """Return the share of triplets whose anchor is closer to the positive."""
        return float(np.mean(self.predict(triplets) == 1))
