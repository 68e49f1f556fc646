"""What candidates are compared by: labels, triplets or pairs, dealt to folds."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import Samples, gathered, weights_of
from calipers.estimators.inputs import Given
from calipers.evaluation import folds, scores
from calipers.metric.init import evenly_spaced


class Task(NamedTuple):
    """Examples of one kind, to be learned from and held out."""

    X: npt.NDArray[Any]
    examples: npt.NDArray[Any]  # labels, triplets, or pairs with their sign
    folds: IndexArray  # of each example
    fit: Callable[..., Any]  # estimator, X, examples, and more of fit's parameters
    errors: Callable[[FloatArray, npt.NDArray[Any], npt.NDArray[np.bool_]], FloatArray]
    groups: npt.NDArray[Any] | None = None
    per_sample: bool = False  # an example is a sample, so that X is divided with them
    weights: FloatArray | None = None  # how often each example counts
    share: str = ""  # of what was given, in words; nothing if that is all

    def validate(self, estimator: Any, fold: int) -> tuple[FloatArray, float, float]:
        """Errors of the examples of a fold under a metric learned from the others; seconds."""
        is_held_out = self.folds == fold
        started = perf_counter()
        X = self.X[~is_held_out] if self.per_sample else self.X
        weights = None if self.weights is None else self.weights[~is_held_out]
        self.fit(estimator, X, self.examples[~is_held_out], **weight_parameter(weights))
        fitted = perf_counter()
        Z = self.X.astype(np.float64, copy=False) @ estimator.components_.T
        errors = self.errors(Z, self.examples, is_held_out)
        return errors, fitted - started, perf_counter() - fitted


def weight_parameter(weights: FloatArray | None) -> dict[str, Any]:
    """The parameter of a learner's ``fit`` for weights, if there are any."""
    return {} if weights is None else {"sample_weight": weights}


def task_of(given: Given, n_folds: int, most: int, rng: np.random.Generator) -> Task:
    """At most so many of what was given, evenly spaced, and how to learn from it."""
    make, kind, n_all = _label_task, "samples", given.samples.shape[0]
    if given.triplets is not None:
        make, kind, n_all = _triplet_task, "triplets", len(given.triplets)
    elif given.pairs is not None:
        make, kind, n_all = _pair_task, "pairs", len(given.pairs)
    task = make(given, n_folds, most, rng)
    if np.bincount(task.folds, minlength=n_folds).min() == 0:
        raise ValueError(
            f"MetricCV(cv={n_folds}) has too few examples ({len(task.folds)}) for so many folds: "
            f"lower cv, or {'raise max_compared' if n_all > most else 'pass more'}."
        )
    share = f" on {len(task.folds):,} of {n_all:,} {kind}" if n_all > most else ""
    return task._replace(share=share)


def _label_task(given: Given, n_folds: int, most: int, rng: np.random.Generator) -> Task:
    indices = _compared(given.samples, n_folds, most)
    labels = np.unique(given.samples.labels_of(indices), return_inverse=True)[1]
    return Task(
        given.samples.take(indices),
        labels,
        folds.folds(labels, None, n_folds, rng),
        fit=lambda estimator, X, y, **more: estimator.fit(X, y, **more),
        errors=scores.impostor_share,
        per_sample=True,
        weights=weights_of(given.samples, indices),
    )


def _compared(samples: Samples, n_folds: int, most: int) -> IndexArray:
    """Indices of about so many samples, evenly spaced; of many small classes, of whole ones.

    Where classes have fewer of these samples than there are folds, samples that are held out would
    have no neighbour of their class.
    """
    n, n_classes = samples.shape[0], len(samples.class_sizes)
    indices, n_whole = evenly_spaced(n, most), most * n_classes // n
    present = np.unique(samples.labels_of(indices))
    if n <= most or n_whole < 2 or len(indices) >= n_folds * len(present):
        return indices
    whole = evenly_spaced(n_classes, n_whole)
    return np.flatnonzero(np.isin(samples.labels_of(np.arange(n)), whole))


def _triplet_task(given: Given, n_folds: int, most: int, rng: np.random.Generator) -> Task:
    """Folds keep the triplets of an anchor together."""

    def fit(estimator: Any, X: Any, triplets: Any, **client: Any) -> Any:
        learn = getattr(estimator, "fit_triplets", None)
        return estimator.fit(X, **client) if learn is None else learn(X, triplets, **client)

    X, some = _some(given, given.triplets, most, n_columns=3)
    return Task(
        X,
        some,
        folds.grouped(some[:, 0], n_folds, rng),
        fit=fit,
        errors=lambda Z, triplets, held: scores.violations_by_anchor(Z, triplets[held]),
    )


def _pair_task(given: Given, n_folds: int, most: int, rng: np.random.Generator) -> Task:
    def fit(estimator: Any, X: Any, pairs: Any, **client: Any) -> Any:
        learn = getattr(estimator, "fit_pairs", None)
        if learn is None:
            return estimator.fit(X, **client)
        return learn(X, pairs[:, :2], pairs[:, 2], **client)

    X, some = _some(given, given.pairs, most, n_columns=2)
    return Task(
        X,
        some,
        folds.folds(some[:, 2], None, n_folds, rng),
        fit=fit,
        errors=lambda Z, pairs, held: scores.misrankings(Z, pairs[held]),
        groups=some[:, 2],
    )


def _some(
    given: Given, examples: Any, most: int, *, n_columns: int
) -> tuple[npt.NDArray[Any], IndexArray]:
    """At most so many examples, evenly spaced, as indices of the samples they need."""
    return gathered(given.samples, examples[evenly_spaced(len(examples), most)], n_columns)
