"""Pairs and triplets as scikit-learn data: classifiers around a metric.

Their X is an array of pairs, of shape (n_pairs, 2, n_features), or of triplets, with 3 for 2; so
that they work in ``cross_val_score`` and ``GridSearchCV``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.base import _fit_context
from sklearn.model_selection import StratifiedKFold
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from calipers.arrays import FloatArray
from calipers.data.files import FileError
from calipers.estimators import thresholds
from calipers.estimators.inputs import checked_labels, refuse_mixed, restored_on_failure
from calipers.estimators.thresholds import STRATEGIES, check_strategy, find_threshold
from calipers.estimators.tuples import TupleClassifier
from calipers.metric.file import read, write
from calipers.metric.saved import SavedMetric, labels_of

_SHARE = Interval(Real, 0, 1, closed="both")
_FACT = "pair_classifier"  # of the metric's file
_KEPT = ("classes_", "threshold_", "sigmoid_")
_SETTINGS = ("strategy", "min_rate", "beta")


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
            Two labels, of which the larger is that of matches: -1 and +1, 0 and 1, False and True;
            of texts it is the last in the alphabet.

        Returns
        -------
        Self
            The fitted classifier.
        """
        with restored_on_failure(self):
            self._learn(self._samples(pairs), y)
        return self

    def _learn(self, samples: FloatArray, y: npt.ArrayLike) -> None:
        """Learn the metric, then the threshold and the sigmoid from pairs held out."""
        check_strategy(self.strategy, self.min_rate, self.beta)
        self.classes_, is_match = self._matches(samples, y)
        signs = np.where(is_match, 1, -1)
        n_folds = min(self.cv, int(np.bincount(is_match).min()))
        if n_folds < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 pairs of each kind, to hold some out, got "
                f"{np.bincount(is_match).tolist()}: pass more pairs."
            )
        self.metric_ = self._fit_metric("fit_pairs", samples, signs)
        held_out = np.asarray(self.metric_.pair_distance(samples))
        if self.metric_ is not self.metric:  # it was learned
            for learned, rest in StratifiedKFold(n_folds).split(samples[:, 0, 0], is_match):
                metric = self._fit_metric("fit_pairs", samples[learned], signs[learned])
                scale = thresholds.relative_scale(self.metric_, metric, samples[learned])
                held_out[rest] = scale * np.asarray(metric.pair_distance(samples[rest]))
        self.sigmoid_ = thresholds.platt(held_out, is_match)
        self.threshold_ = find_threshold(
            held_out, is_match, self.strategy, min_rate=self.min_rate, beta=self.beta
        )

    def _matches(self, pairs: FloatArray, y: npt.ArrayLike) -> tuple[Any, npt.NDArray[np.bool_]]:
        labels = column_or_1d(checked_labels(self, y), warn=True)
        check_consistent_length(pairs, labels)
        refuse_mixed(self, labels)
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write metric, threshold and sigmoid into a file: `PairClassifier.load` reads them.

        For :func:`calipers.load` and the command line the file is that of the metric.

        Parameters
        ----------
        path : path-like
            Name of the file.
        """
        check_is_fitted(self)
        kept = {name: np.asarray(getattr(self, name)).tolist() for name in _KEPT}
        kept |= {"strategy": self.strategy, "beta": float(self.beta)}
        kept["min_rate"] = None if self.min_rate is None else float(self.min_rate)
        if not all(isinstance(label, str | int | float) for label in kept["classes_"]):
            raise FileError(
                f"Labels {self.classes_.tolist()} cannot be saved: fit to texts, numbers or "
                "booleans."
            )
        contents = self.metric_._contents()
        write(replace(contents, facts={**contents.facts, _FACT: kept}), path)

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
        kept: Any = contents.facts.get(_FACT)
        if not isinstance(kept, dict) or kept.keys() != {*_KEPT, *_SETTINGS}:
            raise FileError(
                f"{str(path)!r} holds no threshold: write the file by PairClassifier.save, or read "
                "its metric by calipers.load."
            )
        metric = SavedMetric(contents)
        settings = {name: kept[name] for name in _SETTINGS}
        model = cls(metric, **settings, preprocessor=preprocessor)
        model.metric_, model.classes_ = metric, labels_of(kept["classes_"])
        model.threshold_, model.sigmoid_ = float(kept["threshold_"]), np.array(kept["sigmoid_"])
        return model

    def set_threshold(self, threshold: float) -> Self:
        """Set the largest distance of a match."""
        check_is_fitted(self)
        if not isinstance(threshold, Real) or not abs(threshold) < np.inf:
            raise ValueError(
                f"threshold must be a finite number, got {threshold!r}: pass a distance."
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
        classes, is_match = self._matches(distances, y_valid)
        if classes.tolist() != self.classes_.tolist():
            raise ValueError(
                f"{type(self).__name__} was fitted to the labels {self.classes_.tolist()}, and "
                f"y_valid has {classes.tolist()}: pass the same two."
            )
        self.threshold_ = find_threshold(
            distances, is_match, strategy, min_rate=min_rate, beta=beta
        )
        return self


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
        far, near = (self._distances(samples, 0, other, self.metric_) for other in (2, 1))
        return np.asarray(far - near)

    def predict(self, triplets: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Return +1 for each triplet whose second sample is closer to the anchor, else -1."""
        return np.where(self.decision_function(triplets) > 0.0, 1, -1)

    def score(self, triplets: npt.ArrayLike, y: object = None) -> float:
        """Return the share of triplets whose anchor is closer to the positive."""
        return float(np.mean(self.predict(triplets) == 1))
