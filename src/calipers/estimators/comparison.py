"""Candidates compared by cross-validation: their errors, and the simplest of the best."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import Samples, gathered
from calipers.estimators.checks import Given
from calipers.evaluation import scores
from calipers.evaluation.folds import folds, grouped
from calipers.interrupt import InterruptedFitWarning
from calipers.metric.init import evenly_spaced
from calipers.notices import DataWarning

Candidates: TypeAlias = list[tuple[str, Any]]


@dataclass(frozen=True)
class Task:
    """Examples of one kind, to be learned from and held out."""

    kind: str  # "samples", "triplets" or "pairs"
    X: npt.NDArray[Any]
    examples: npt.NDArray[Any]  # labels, triplets, or pairs with their sign
    folds: IndexArray  # of each example
    n_all: int  # examples that were given, of which these are some
    weights: FloatArray | None = None  # how often each sample counts

    def fitted(self, candidate: Any, fold: int) -> Any:
        """The candidate, learned from all folds but one."""
        held, estimator = self.folds == fold, clone(candidate)
        X = self.X[~held] if self.kind == "samples" else self.X
        weights = None if self.weights is None else self.weights[~held]
        learn(estimator, self.kind, X, self.examples[~held], sample_weight=weights)
        return estimator

    def errors(self, estimator: Any, fold: int) -> FloatArray:
        """An error for each example of a fold, or for each anchor of its triplets."""
        held = self.folds == fold
        Z = self.X.astype(np.float64, copy=False) @ estimator.components_.T
        if self.kind == "samples":
            return scores.impostor_share(Z, self.examples, held)
        judge = scores.violations_by_anchor if self.kind == "triplets" else scores.misrankings
        return judge(Z, self.examples[held])

    def mean_error(self, errors: FloatArray, fold: int | None = None) -> tuple[float, float]:
        """Mean and standard error of the errors of a fold, or of all, fold by fold."""
        order = np.argsort(self.folds, kind="stable") if fold is None else self.folds == fold
        signs = self.examples[order, 2] if self.kind == "pairs" else None
        weights = None if self.weights is None else self.weights[order]
        return scores.mean_error(errors, signs, weights)


def learn(estimator: Any, kind: str, X: Any, examples: Any, **more: Any) -> None:
    """Fit by the method for this kind of examples; those that need none are fitted to samples."""
    more = {name: value for name, value in more.items() if value is not None}
    if kind == "samples":
        estimator.fit(X, examples, **more)
    elif kind == "triplets" and hasattr(estimator, "fit_triplets"):
        estimator.fit_triplets(X, examples, **more)
    elif kind == "pairs" and hasattr(estimator, "fit_pairs"):
        estimator.fit_pairs(X, examples[:, :2], examples[:, 2], **more)
    else:
        estimator.fit(X, **more)


def task_of(given: Given, n_folds: int, most: int, rng: np.random.Generator) -> Task:
    """At most so many of what was given, evenly spaced, and the fold of each."""
    samples = given.samples
    if given.triplets is None and given.pairs is None:
        indices = _compared(samples, n_folds, most)
        labels = np.unique(samples.labels_of(indices), return_inverse=True)[1]
        fold_of = folds(labels, None, n_folds, rng)
        weights = None if samples.weights is None else samples.weights[indices]
        return Task("samples", samples.take(indices), labels, fold_of, samples.shape[0], weights)
    all_examples = given.examples
    is_pairs = given.triplets is None
    examples = all_examples[evenly_spaced(len(all_examples), most)]
    X, some = gathered(samples, examples, 2 if is_pairs else 3)
    if is_pairs:
        return Task("pairs", X, some, folds(some[:, 2], None, n_folds, rng), len(all_examples))
    fold_of = grouped(some[:, 0], n_folds, rng)  # the triplets of an anchor stay together
    if len(np.unique(fold_of)) < n_folds:
        raise ValueError(
            f"MetricCV(cv={n_folds}) has triplets of too few anchors for so many folds: lower cv, "
            "or pass more."
        )
    return Task("triplets", X, some, fold_of, len(all_examples))


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


class Comparison:
    """Candidates on folds: errors and seconds by (candidate, fold), as far as it got."""

    def __init__(self, candidates: Candidates, task: Task) -> None:
        self.candidates, self.task = candidates, task
        self.n_folds = int(task.folds.max()) + 1
        self.errors: dict[tuple[int, int], FloatArray] = {}
        self.seconds: dict[tuple[int, int], float] = {}
        self.fitted: dict[int, Any] = {}  # each candidate, as learned for its last fold
        self.failures: dict[str, str] = {}  # why a candidate was not fitted

    def run(self, n_jobs: int | None, after_fit: Callable[[], bool]) -> None:
        """Fit all candidates to all folds, until ``after_fit`` asks to stop."""
        stopped = False

        def validate(place: int, fold: int) -> None:
            if stopped:
                return
            name, candidate = self.candidates[place]
            started = perf_counter()
            try:
                estimator = self.task.fitted(candidate, fold)
            except ValueError as problem:
                self.failures.setdefault(name, str(problem).rstrip("."))
                return
            if not getattr(estimator, "interrupted_", False):
                self.seconds[place, fold] = perf_counter() - started
                self.errors[place, fold] = self.task.errors(estimator, fold)
                self.fitted[place] = estimator

        places = range(len(self.candidates))
        with warnings.catch_warnings():  # the chosen candidate warns again
            for category in (InterruptedFitWarning, ConvergenceWarning, DataWarning):
                warnings.simplefilter("ignore", category)
            jobs = (delayed(validate)(*key) for key in product(places, range(self.n_folds)))
            for _ in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(jobs):
                stopped = stopped or after_fit()

    def choice(self) -> Choice:
        """The first candidate within one standard error of the best, of those that are done."""
        mean_error, errors = self.task.mean_error, {}
        for place in range(len(self.candidates)):
            parts = [part for (at, _), part in sorted(self.errors.items()) if at == place]
            if len(parts) == self.n_folds:
                errors[place] = np.concatenate(parts)
        if not errors:
            problem = next(iter(self.failures.values()), "the comparison was interrupted")
            raise ValueError(f"No candidate of MetricCV could be fitted: {problem}")
        means = {place: mean_error(each)[0] for place, each in errors.items()}
        best = min(means, key=means.__getitem__)
        for place, each in errors.items():
            difference, bound = mean_error(each - errors[best])
            if place == best or difference <= bound:
                break
        names = [name for name, _ in self.candidates]
        error = f"{means[place]:.4g}"
        if place == best:
            why = f"has the lowest validation error, {error}"
            others = sorted((mean, other) for other, mean in means.items() if other != best)
            why += f", next {names[others[0][1]]!r} {others[0][0]:.4g}." if others else "."
        else:
            why = (
                f"has validation error {error}, which exceeds the lowest, {means[best]:.4g} of "
                f"{names[best]!r}, by {difference:.2g}: no more than one standard error "
                f"({bound:.2g})."
            )
        verdict = f"{names[place]!r} was chosen: it"
        if names[place] == "euclidean":
            n, n_all = len(self.task.folds), self.task.n_all
            share = f" on {n:,} of {n_all:,} {self.task.kind}" if n < n_all else ""
            verdict = f"Nothing tried beats the Euclidean distance{share}: 'euclidean'"
        return Choice(place, names[place], f"{verdict} {why}", means)

    def results(self, means: dict[int, float]) -> dict[str, Any]:
        """The table of what was tried, as GridSearchCV has it; scores are minus mean errors."""
        split, seconds = np.full((2, self.n_folds, len(self.candidates)), np.nan)
        for (place, fold), each in self.errors.items():
            split[fold, place] = -self.task.mean_error(each, fold)[0]
            seconds[fold, place] = self.seconds[place, fold]
        mean = np.array([-means.get(place, np.nan) for place in range(len(self.candidates))])
        ranked = np.where(np.isnan(mean), -np.inf, mean)
        names = [name for name, _ in self.candidates]
        return {
            "mean_fit_time": seconds.mean(axis=0),
            "param_candidate": np.ma.MaskedArray(names, mask=False, dtype=object),
            "params": [{"candidate": name} for name in names],
            **{f"split{fold}_test_score": scores for fold, scores in enumerate(split)},
            "mean_test_score": mean,
            "std_test_score": split.std(axis=0),
            "rank_test_score": np.sum(ranked > ranked[:, None], axis=1, dtype=np.int32) + 1,
        }


class Choice(NamedTuple):
    """The chosen candidate: its place, its name and why; mean errors of all by their place."""

    place: int
    name: str
    reason: str
    means: dict[int, float]
