"""Pairs and triplets as scikit-learn data: classifiers around a metric.

Their X is an array of pairs, of shape (n_pairs, 2, n_features), or of triplets, with 3 for 2; so
that they work in ``cross_val_score`` and ``GridSearchCV``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve, roc_curve
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_array, check_consistent_length, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from calipers.arrays import FloatArray
from calipers.data.files import FileError
from calipers.data.samples import refuse_kinds
from calipers.estimators.checks import checked_labels
from calipers.metric.file import read, write
from calipers.metric.saved import SavedMetric, labels_of
from calipers.notices import DataWarning, warn_user

STRATEGIES = ("accuracy", "precision")
NO_MATCH = -1.0  # a threshold that no distance is within


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
            X = self._looked_up(np.asarray(X))
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
            if self.preprocessor is None:
                raise ValueError(
                    f"{owner} got {words} of indices and no array that they index: pass "
                    f"{owner}(metric, preprocessor=X), or X[{words}]."
                )
            return self._looked_up(given)
        if given.ndim != 3 or given.shape[1] != size:
            raise ValueError(
                f"{owner} needs {words} of shape (n, {size}, n_features), got {given.shape}: stack "
                "their samples, e.g. by np.stack([A, B], axis=1), or pass indices of preprocessor."
            )
        return np.asarray(given, dtype=np.float64)

    def _looked_up(self, indices: npt.NDArray[Any]) -> FloatArray:
        """The samples that `preprocessor` has, or makes, for indices or names."""
        is_function = callable(self.preprocessor)
        made = self.preprocessor(indices.ravel()) if is_function else self.preprocessor
        refuse_kinds(made, "preprocessor")
        samples = np.asarray(check_array(made, dtype=np.float64, input_name="preprocessor"))
        if not is_function:
            if indices.min() < 0:  # NumPy would count from the end
                raise ValueError(f"Indices of preprocessor start at 0, got {indices.min()}.")
            return np.asarray(samples[indices])
        if len(samples) != indices.size:
            raise ValueError(
                f"{type(self).__name__} needs a preprocessor that returns a sample for each of the "
                f"{indices.size} names that it gets, got {len(samples)}."
            )
        return samples.reshape(*indices.shape, -1)

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

    @property
    def n_features_in_(self) -> int:
        """Number of features of a sample."""
        check_is_fitted(self)
        return int(self.metric_.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags


class PairClassifier(TupleClassifier):
    """Tell whether two samples match: a metric, a threshold and a probability.

    The metric learns from all pairs, each of two samples of its own (for chunklets that share
    samples see `RCA.fit_pairs`). The threshold, and Platt's sigmoid that turns distances into
    probabilities, are fitted to the distances of pairs that were held out. The scale of some
    metrics depends on the number of pairs, so the distances of each fold are rescaled: the median
    distance between samples of different pairs becomes that of the final metric.

    Parameters
    ----------
    metric : estimator
        A learner with ``fit_pairs`` (or one that needs samples only), or a metric from a file.
    strategy : {"accuracy", "precision"}, default="accuracy"
        What the threshold is for: "accuracy", the largest share of right answers; "precision", the
        largest share of matches found, while at least `min_rate` of the pairs called a match are
        right.
    min_rate : float, default=0.95
        Share that "precision" asks for.
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
    sigmoid_ : ndarray of shape (2,)
        Slope and intercept: the log-odds of a match are ``slope * distance + intercept``.
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
    >>> bool(cross_val_score(PairClassifier(GMML()), X[indices], match).mean() > 0.8)
    True
    """

    _size, _words = 2, "pairs"
    classes_: npt.NDArray[Any]
    threshold_: float
    sigmoid_: FloatArray
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric": [HasMethods(["pair_distance"])],
        "strategy": [StrOptions(set(STRATEGIES))],
        "min_rate": [Interval(Real, 0, 1, closed="both")],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "preprocessor": ["array-like", callable, None],
    }

    def __init__(
        self,
        metric: Any,
        *,
        strategy: str = "accuracy",
        min_rate: float = 0.95,
        cv: int = 3,
        preprocessor: npt.ArrayLike | Callable[..., Any] | None = None,
    ) -> None:
        self.metric = metric
        self.strategy = strategy
        self.min_rate = min_rate
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
            Two labels, of which the larger is that of matches: -1 and +1, 0 and 1, False and True;
            of texts it is the last in the alphabet.

        Returns
        -------
        Self
            The fitted classifier.
        """
        samples = self._samples(pairs)
        classes, is_match = self._matches(samples, y)
        signs, n_folds = np.where(is_match, 1, -1), min(self.cv, int(np.bincount(is_match).min()))
        if n_folds < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 pairs of each kind, to hold some out, got "
                f"{np.bincount(is_match).tolist()}: pass more pairs."
            )
        final = self._fit_metric("fit_pairs", samples, signs)
        held_out = np.asarray(final.pair_distance(samples))
        if final is not self.metric:  # it was learned
            for learned, rest in StratifiedKFold(n_folds).split(samples[:, 0, 0], is_match):
                metric = self._fit_metric("fit_pairs", samples[learned], signs[learned])
                scale = relative_scale(final, metric, samples[learned])
                held_out[rest] = scale * np.asarray(metric.pair_distance(samples[rest]))
        sigmoid = platt(held_out, is_match)
        threshold = find_threshold(held_out, is_match, self.strategy, self.min_rate)
        self.metric_, self.classes_ = final, classes
        self.threshold_, self.sigmoid_ = threshold, sigmoid
        return self

    def _matches(self, pairs: FloatArray, y: npt.ArrayLike) -> tuple[Any, npt.NDArray[np.bool_]]:
        labels = checked_labels(self, y)
        check_consistent_length(pairs, labels)
        classes = np.unique(labels)
        if len(classes) != 2:
            raise ValueError(
                f"{type(self).__name__} needs labels of two kinds, e.g. -1 and +1, got "
                f"{len(classes)} ({classes[:5].tolist()}): label pairs that match and pairs that "
                "do not."
            )
        return classes, labels == classes[1]

    def decision_function(self, pairs: npt.ArrayLike) -> FloatArray:
        """Return the threshold minus each pair's distance: a match's is not negative."""
        distances = self.pair_distance(pairs)
        return np.asarray(self.threshold_ - distances)

    def predict(self, pairs: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the label of each pair: a match if its distance is within the threshold."""
        distances = self.pair_distance(pairs)
        return np.asarray(self.classes_[(distances <= self.threshold_).astype(int)])

    def predict_proba(self, pairs: npt.ArrayLike) -> FloatArray:
        """Return the probability of no match and of a match, of shape (n_pairs, 2)."""
        distances = self.pair_distance(pairs)
        match = expit(self.sigmoid_[0] * distances + self.sigmoid_[1])
        return np.stack([1.0 - match, match], axis=1)

    def set_threshold(self, threshold: float) -> Self:
        """Set the largest distance of a match."""
        check_is_fitted(self)
        self.threshold_ = float(threshold)
        return self

    def calibrate_threshold(
        self,
        pairs_valid: npt.ArrayLike,
        y_valid: npt.ArrayLike,
        strategy: str = "accuracy",
        min_rate: float = 0.95,
    ) -> Self:
        """Set the threshold by pairs that were not learned from; parameters are those of the class.

        Parameters
        ----------
        pairs_valid, y_valid : array-like
            Pairs and their labels, as in `fit`.
        strategy, min_rate
            As the parameters of the class.

        Returns
        -------
        Self
            The classifier with another threshold.
        """
        distances = self.pair_distance(pairs_valid)
        classes, is_match = self._matches(distances, y_valid)
        if classes.tolist() != self.classes_.tolist():
            raise ValueError(
                f"{type(self).__name__} was fitted to the labels {self.classes_.tolist()}, and "
                f"y_valid has {classes.tolist()}: pass the same two."
            )
        self.threshold_ = find_threshold(distances, is_match, strategy, min_rate)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write metric, threshold and sigmoid into a file: `PairClassifier.load` reads them.

        For :func:`calipers.load` and the command line the file is that of the metric.

        Parameters
        ----------
        path : path-like
            Name of the file.
        """
        check_is_fitted(self)
        kept: dict[str, Any] = {
            "classes": self.classes_.tolist(),
            "threshold": self.threshold_,
            "sigmoid": self.sigmoid_.tolist(),
            "strategy": self.strategy,
            "min_rate": float(self.min_rate),
        }
        if not all(isinstance(label, str | int | float) for label in kept["classes"]):
            raise FileError(f"Labels {kept['classes']} cannot be saved: fit to texts or numbers.")
        contents = self.metric_._contents()
        write(replace(contents, facts={**contents.facts, "pair_classifier": kept}), path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        preprocessor: npt.ArrayLike | Callable[..., Any] | None = None,
    ) -> Self:
        """Return the fitted classifier from a file that `save` wrote.

        Parameters
        ----------
        path : path-like
            Name of the file.
        preprocessor : array-like, callable or None, default=None
            As the parameter of the class, which files do not keep.

        Returns
        -------
        Self
            The classifier, with a metric that learns nothing more.
        """
        contents = read(path)
        metric: Any = SavedMetric(contents)
        try:
            kept: Any = contents.facts["pair_classifier"]
            settings = {name: kept[name] for name in ("strategy", "min_rate")}
            model = cls(metric, **settings, preprocessor=preprocessor)
            model.metric_, model.classes_ = metric, labels_of(kept["classes"])
            model.threshold_ = float(kept["threshold"])
            model.sigmoid_ = np.array(kept["sigmoid"], dtype=np.float64).reshape(2)
        except (KeyError, TypeError, ValueError) as problem:
            raise FileError(
                f"{str(path)!r} holds no threshold: write the file by PairClassifier.save, or read "
                "its metric by calipers.load."
            ) from problem
        return model


def find_threshold(
    distances: FloatArray, is_match: npt.NDArray[np.bool_], strategy: str, min_rate: float
) -> float:
    """The distance up to which pairs are matches; see `PairClassifier` for strategies.

    >>> find_threshold(np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), "accuracy", 0.95)
    1.0
    """
    if strategy == "accuracy":
        fpr, tpr, thresholds = roc_curve(is_match, -distances, drop_intermediate=False)
        n_match = int(is_match.sum())
        worth = n_match * tpr + (len(distances) - n_match) * (1.0 - fpr)
    elif strategy == "precision":
        precision, recall, thresholds = precision_recall_curve(is_match, -distances)
        worth = np.where(precision[:-1] >= min_rate, recall[:-1], -1.0)
        if worth.max() < 0.0:
            warn_user(
                f"No threshold reaches min_rate={min_rate:g}: the highest precision among "
                f"{len(distances)} pairs is {precision[:-1].max():g}. No pair is a match now; "
                "lower min_rate, or choose another strategy.",
                DataWarning,
            )
            return NO_MATCH
    else:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}.")
    found = float(-thresholds[int(np.argmax(worth))])
    return found if np.isfinite(found) else NO_MATCH


def platt(distances: FloatArray, is_match: npt.NDArray[np.bool_]) -> FloatArray:
    """Slope and intercept of the log-odds of a match as a line of the distance (Platt 1999).

    Targets are (n + 1) / (n + 2) and 1 / (n + 2), so that kinds that are apart give a finite slope.
    """
    n_other, n_match = np.bincount(is_match)
    share = np.where(is_match, (n_match + 1) / (n_match + 2), 1 / (n_other + 2))
    middle, unit = float(distances.mean()), float(distances.std()) or 1.0
    sigmoid = LogisticRegression(C=np.inf, max_iter=1000)
    sigmoid.fit(
        np.tile((distances[:, None] - middle) / unit, (2, 1)),
        np.repeat([1, 0], len(distances)),
        sample_weight=np.concatenate([share, 1.0 - share]),
    )
    slope = sigmoid.coef_[0, 0] / unit
    return np.array([slope, sigmoid.intercept_[0] - slope * middle])


def relative_scale(one: Any, other: Any, samples: FloatArray) -> float:
    """Ratio of the median distances between samples of different pairs, of one to the other."""
    others = np.roll(samples[:, 1], len(samples) // 2, axis=0)
    apart = np.stack([samples[:, 0], others], axis=1)
    medians = [float(np.median(metric.pair_distance(apart))) for metric in (one, other)]
    return medians[0] / medians[1] if min(medians) > 0.0 else 1.0


class TripletClassifier(TupleClassifier):
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
        far, near = (self.metric_.pair_distance(samples[:, [0, other]]) for other in (2, 1))
        return np.asarray(far - near)

    def predict(self, triplets: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Return +1 for each triplet whose second sample is closer to the anchor, else -1."""
        return np.where(self.decision_function(triplets) > 0.0, 1, -1)

    def score(self, triplets: npt.ArrayLike, y: object = None) -> float:
        """Return the share of triplets whose anchor is closer to the positive."""
        return float(np.mean(self.predict(triplets) == 1))
