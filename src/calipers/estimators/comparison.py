"""Candidates compared by cross-validation: their errors, and the simplest of the best."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from calipers.arrays import FloatArray
from calipers.estimators.tasks import Task
from calipers.evaluation import scores
from calipers.interrupt import InterruptedFitWarning, interrupt_requested
from calipers.notices import DataWarning

Candidates: TypeAlias = list[tuple[str, Any]]


class Finished(NamedTuple):
    """A candidate on a fold: errors of the held-out examples, seconds to fit and to score."""

    errors: FloatArray
    fit_seconds: float
    score_seconds: float


class Comparison:
    """Fits all candidates to all folds, and says which is the simplest of the best."""

    def __init__(self, candidates: Candidates, task: Task, n_folds: int) -> None:
        self.candidates, self.task, self.n_folds = candidates, task, n_folds
        self.finished: dict[tuple[int, int], Finished] = {}  # by candidate and fold
        self.failures: dict[str, str] = {}  # why a candidate could not be fitted
        self.interrupted = False

    def run(self, tell: Callable[[Any, Callable[[], Any]], Any], n_jobs: int | None) -> None:
        """Fit and score; ``tell`` runs a fit as a task that callbacks are told of."""
        todo = [
            (place, fold) for place in range(len(self.candidates)) for fold in range(self.n_folds)
        ]

        def validate(key: tuple[int, int]) -> None:
            if requested():
                return
            name, candidate = self.candidates[key[0]]
            estimator = clone(candidate)
            try:
                result = tell(estimator, lambda: self.task.validate(estimator, key[1]))
            except ValueError as error:
                self.failures.setdefault(name, str(error))
                return
            if not getattr(estimator, "interrupted_", False):
                self.finished[key] = Finished(*result)

        with interrupt_requested() as requested, _quiet():
            if n_jobs in (None, 1):
                for key in todo:
                    validate(key)
            else:
                Parallel(n_jobs=n_jobs, prefer="threads")(delayed(validate)(key) for key in todo)
            self.interrupted = requested()

    def choice(self, owner: str) -> Choice:
        """The first candidate within one standard error of the best, of those that are done."""
        errors = self._errors()
        if not errors:
            problem = next(iter(self.failures.values()), "the comparison was interrupted")
            raise ValueError(f"No candidate of {owner} could be fitted: {problem}")
        groups, weights = self._of_folds(self.task.groups), self._of_folds(self.task.weights)

        def mean_error(each: FloatArray) -> tuple[float, float]:
            return scores.mean_error(each, groups, weights)

        means = {place: mean_error(each)[0] for place, each in errors.items()}
        best = min(means, key=lambda place: means[place])
        for place, each in errors.items():
            difference, bound = mean_error(each - errors[best])
            if place == best or difference <= bound:
                break
        names = [name for name, _ in self.candidates]
        verdict = f"{names[place]!r} was chosen: it"
        if names[place] == "euclidean":
            share = self.task.share
            verdict = f"Nothing tried beats the Euclidean distance{share}: 'euclidean'"
        reason = f"{verdict} {_reason(names, means, place, best, difference, bound)}"
        return Choice(place, names[place], reason, means)

    def results(self, means: dict[int, float]) -> dict[str, Any]:
        """The table of what was tried, as GridSearchCV has it; scores are minus mean errors."""
        n = len(self.candidates)
        split, fitting, scoring = np.full((3, self.n_folds, n), np.nan)
        for (place, fold), finished in self.finished.items():
            groups, weights = (
                self._of_folds(each, [fold]) for each in (self.task.groups, self.task.weights)
            )
            split[fold, place] = -scores.mean_error(finished.errors, groups, weights)[0]
            fitting[fold, place] = finished.fit_seconds
            scoring[fold, place] = finished.score_seconds
        mean = np.array([-means.get(place, np.nan) for place in range(n)])
        ranked = np.where(np.isnan(mean), -np.inf, mean)
        names = [name for name, _ in self.candidates]
        return {
            "mean_fit_time": fitting.mean(axis=0),
            "std_fit_time": fitting.std(axis=0),
            "mean_score_time": scoring.mean(axis=0),
            "std_score_time": scoring.std(axis=0),
            "param_candidate": np.ma.MaskedArray(np.array(names, dtype=object), mask=[False] * n),
            "params": [{"candidate": name} for name in names],
            **{f"split{fold}_test_score": split[fold] for fold in range(self.n_folds)},
            "mean_test_score": mean,
            "std_test_score": split.std(axis=0),
            "rank_test_score": np.sum(ranked > ranked[:, None], axis=1, dtype=np.int32) + 1,
        }

    def _errors(self) -> dict[int, FloatArray]:
        """Errors of all examples, fold by fold, of the candidates whose folds are all done."""
        finished, folds = self.finished, range(self.n_folds)
        return {
            place: np.concatenate([finished[place, fold].errors for fold in folds])
            for place in range(len(self.candidates))
            if all((place, fold) in finished for fold in folds)
        }

    def _of_folds(
        self, values: npt.NDArray[Any] | None, folds: Iterable[int] | None = None
    ) -> npt.NDArray[Any] | None:
        """Values of the examples of some folds, or of all, in the order of their errors."""
        if values is None:
            return None
        some = range(self.n_folds) if folds is None else folds
        return np.concatenate([values[self.task.folds == fold] for fold in some])


class Choice(NamedTuple):
    """The chosen candidate: its place, its name and why; mean errors of all by their place."""

    place: int
    name: str
    reason: str
    means: dict[int, float]


@contextmanager
def _quiet() -> Iterator[None]:
    """Ignore what fits inside warn of: the chosen candidate warns again."""
    with warnings.catch_warnings():
        for category in (InterruptedFitWarning, ConvergenceWarning, DataWarning):
            warnings.simplefilter("ignore", category)
        yield


def _reason(
    names: list[str],
    means: dict[int, float],
    chosen: int,
    best: int,
    difference: float,
    bound: float,
) -> str:
    """Why a candidate was chosen, without its name."""
    error = means[chosen]
    if chosen == best:
        others = sorted((mean, place) for place, mean in means.items() if place != best)
        beside = f", next {names[others[0][1]]!r} {others[0][0]:.4g}" if others else ""
        return f"has the lowest validation error, {error:.4g}{beside}."
    return (
        f"has validation error {error:.4g}, which exceeds the lowest, {means[best]:.4g} of "
        f"{names[best]!r}, by {difference:.2g}: no more than one standard error ({bound:.2g})."
    )
