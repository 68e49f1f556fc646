"""MetricCV: choose a metric by cross-validation, the simplest of those as good as the best."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from numbers import Integral
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context, clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.parallel import Parallel, delayed

from calipers import scores, validation
from calipers.arrays import FloatArray, IndexArray
from calipers.checkpoint import Checkpointed, fit_digest
from calipers.estimators import (
    ITML,
    LEGO,
    Discriminant,
    Euclidean,
    Scaled,
    TripletSGD,
    WithinClass,
)
from calipers.evaluation import folds
from calipers.init import evenly_spaced
from calipers.interrupt import InterruptedFitWarning, interrupt_requested
from calipers.io import FileError
from calipers.io.checkpoint import State, read_states, write_states
from calipers.metric import MahalanobisMixin
from calipers.triplets import check_pairs, check_triplets
from calipers.validation import Given, given_labeled, given_unlabeled

MAX_SAMPLES = 3_000  # labelled samples, triplets or pairs that candidates are compared by
MANY_NEIGHBORS = 20

Candidates = list[tuple[str, Any]]


def label_candidates() -> Candidates:
    """What is compared for labels, from simple to rich."""
    return [
        ("euclidean", Euclidean()),
        ("scaled", Scaled()),
        ("within-class", WithinClass()),
        ("discriminant", Discriminant()),
        ("triplet-sgd", TripletSGD()),
        ("triplet-sgd-many", TripletSGD(n_neighbors=MANY_NEIGHBORS)),
        ("triplet-sgd-within-class", TripletSGD(init="within-class")),
    ]


def triplet_candidates() -> Candidates:
    """What is compared for triplets, from simple to rich."""
    return [
        ("euclidean", Euclidean()),
        ("scaled", Scaled()),
        ("triplet-sgd", TripletSGD(init="identity")),
        ("triplet-sgd-scaled", TripletSGD(init="scaled")),
    ]


def pair_candidates() -> Candidates:
    """What is compared for pairs, from simple to rich."""
    return [("euclidean", Euclidean()), ("scaled", Scaled()), ("lego", LEGO()), ("itml", ITML())]


class Task(NamedTuple):
    """Examples of one kind, to be learned from and held out."""

    X: npt.NDArray[Any]
    examples: npt.NDArray[Any]  # labels, triplets, or pairs with their sign
    folds: IndexArray  # of each example
    fit: Callable[[Any, npt.NDArray[Any], npt.NDArray[Any]], Any]  # estimator, X, examples
    errors: Callable[[FloatArray, npt.NDArray[Any], npt.NDArray[np.bool_]], FloatArray]
    groups: npt.NDArray[Any] | None = None
    per_sample: bool = False  # an example is a sample, so that X is divided with them

    def validate(self, estimator: Any, fold: int) -> tuple[FloatArray, float, float]:
        """Errors of the examples of a fold under a metric learned from the others; seconds."""
        is_held_out = self.folds == fold
        started = perf_counter()
        X = self.X[~is_held_out] if self.per_sample else self.X
        with warnings.catch_warnings():
            for category in (InterruptedFitWarning, ConvergenceWarning, validation.DataWarning):
                warnings.simplefilter("ignore", category)
            self.fit(estimator, X, self.examples[~is_held_out])
        fitted = perf_counter()
        Z = self.X.astype(np.float64, copy=False) @ estimator.components_.T
        errors = self.errors(Z, self.examples, is_held_out)
        return errors, fitted - started, perf_counter() - fitted


class MetricCV(Checkpointed, CallbackSupportMixin, MahalanobisMixin):  # type: ignore[misc]
    """Choose among metric learners by cross-validation.

    Every candidate is fitted to all folds but one and judged on the held-out fold: for labels by
    the share of impostors among the nearest neighbours, nearer ones counting more; for triplets by
    the share violated; for pairs by the AUC. Chosen is the first candidate, from simple to rich,
    whose error exceeds the lowest by at most one standard error of their paired differences. It
    is then fitted to all samples.

    Parameters
    ----------
    candidates : list of (str, estimator) tuples or None, default=None
        Names and learners, from simple to rich. None: Euclidean, Scaled, WithinClass and
        Discriminant, then TripletSGD, with many neighbours and from the within-class metric; of
        these those that triplets or pairs allow.
    n_components : int or None, default=None
        Rows of ``components_``, asked of every candidate.
    cv : int, default=3
        Number of folds.
    n_jobs : int or None, default=None
        Candidates and folds that are fitted at the same time; the result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds and every candidate that has no seed of its own.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L of the chosen metric.
    chosen_ : str
        Name of the chosen candidate.
    reason_ : str
        Why it was chosen, in one sentence.
    best_estimator_ : estimator
        The chosen candidate, fitted to all samples.
    best_index_, best_score_ : int, float
        Its place among the candidates, and its score: minus its mean error.
    cv_results_ : dict of ndarrays
        What was tried, in the form of GridSearchCV's.
    notes_ : list of str
        Remarks about the data, and about candidates that could not be fitted.
    interrupted_ : bool
        Whether Ctrl-C ended the comparison early.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from calipers import MetricCV
    >>> X, y = load_wine(return_X_y=True)
    >>> metric = MetricCV(random_state=0).fit(X, y)
    >>> metric.chosen_ != "euclidean"
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "candidates": [list, None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        candidates: Candidates | None = None,
        *,
        n_components: int | None = None,
        cv: int = 3,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.candidates = candidates
        self.n_components = n_components
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, *, client: Any = None) -> Self:
        """Choose and learn from labels.

        At most 3,000 samples, evenly spaced, decide; the chosen candidate learns from all.

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
            self._check(given)
            validation.check_classes(owner, given.classes, samples.class_sizes)
            indices = evenly_spaced(samples.shape[0], MAX_SAMPLES)
            labels = np.unique(samples.labels_of(indices), return_inverse=True)[1]
            seed, rng = self._seed()
            task = Task(
                samples.take(indices),
                labels,
                folds.stratified(labels, self.cv, rng),
                fit=lambda estimator, X, y: estimator.fit(X, y),
                errors=scores.impostor_share,
                per_sample=True,
            )
            digest = self._digest(given, None)
            self._choose(task, label_candidates(), seed, (given.X, given.y), digest)
            more = {} if client is None else {"client": client}
            self._refit(lambda estimator: estimator.fit(X, y, **more), (given.X, given.y))
        self.classes_ = given.classes
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit_triplets(
        self, X: npt.ArrayLike, triplets: npt.ArrayLike, *, client: Any = None
    ) -> Self:
        """Choose and learn from triplets; folds keep the triplets of an anchor together.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        triplets : array-like of shape (n_triplets, 3)
            Indices (anchor, positive, negative): the anchor should be closer to the positive.
        client : distributed.Client, optional
            Of the cluster, for Dask collections; else the current one, else a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """

        def fit(estimator: Any, X: Any, triplets: Any, **more: Any) -> Any:
            learn = getattr(estimator, "fit_triplets", None)
            return estimator.fit(X, **more) if learn is None else learn(X, triplets, **more)

        with given_unlabeled(self, X, client=client) as given:
            self._check(given, needs="fit_triplets")
            checked = check_triplets(triplets, given.samples.shape[0])
            some, X_some = _some_examples(given, checked, n_columns=3)
            seed, rng = self._seed()
            task = Task(
                X_some,
                some,
                folds.grouped(some[:, 0], self.cv, rng),
                fit=fit,
                errors=lambda Z, triplets, held: scores.violations(Z, triplets[held]),
            )
            digest = self._digest(given, checked)
            self._choose(task, triplet_candidates(), seed, (given.X, None), digest)
            more = {} if client is None else {"client": client}
            self._refit(lambda estimator: fit(estimator, X, checked, **more), (given.X, None))
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit_pairs(
        self, X: npt.ArrayLike, pairs: npt.ArrayLike, y: npt.ArrayLike, *, client: Any = None
    ) -> Self:
        """Choose and learn from pairs that should be near or far.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        pairs : array-like of shape (n_pairs, 2)
            Indices of the two samples of each pair.
        y : array-like of shape (n_pairs,)
            +1 for pairs that should be near, -1 for pairs that should be far.
        client : distributed.Client, optional
            Of the cluster, for Dask collections; else the current one, else a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """

        def fit(estimator: Any, X: Any, pairs: Any, **more: Any) -> Any:
            learn = getattr(estimator, "fit_pairs", None)
            if learn is None:
                return estimator.fit(X, **more)
            return learn(X, pairs[:, :2], pairs[:, 2], **more)

        with given_unlabeled(self, X, client=client) as given:
            self._check(given, needs="fit_pairs")
            checked = check_pairs(pairs, y, given.samples.shape[0])
            some, X_some = _some_examples(given, checked, n_columns=2)
            seed, rng = self._seed()
            task = Task(
                X_some,
                some,
                folds.stratified(some[:, 2], self.cv, rng),
                fit=fit,
                errors=lambda Z, pairs, held: scores.misrankings(Z, pairs[held]),
                groups=some[:, 2],
            )
            digest = self._digest(given, checked)
            self._choose(task, pair_candidates(), seed, (given.X, None), digest)
            more = {} if client is None else {"client": client}
            self._refit(lambda estimator: fit(estimator, X, checked, **more), (given.X, None))
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX=N_CHAR_MAX)
        return f"{self.reason_} {text}" if hasattr(self, "reason_") else text

    def _check(self, given: Given, needs: str = "fit") -> None:
        """Raise for candidates that are none, or that cannot learn from what is given."""
        owner = type(self).__name__
        self.notes_ = validation.check_magnitude(given.samples)
        validation.check_components(owner, self.n_components, given.samples.shape[1])
        for candidate in self.candidates or []:
            named = isinstance(candidate, tuple) and len(candidate) == 2
            if not (named and isinstance(candidate[0], str) and hasattr(candidate[1], "fit")):
                raise ValueError(
                    f"{owner} needs candidates as (name, learner) tuples, got {candidate!r}."
                )
            needs_y = signature(candidate[1].fit).parameters["y"].default is Parameter.empty
            if needs != "fit" and needs_y and not hasattr(candidate[1], needs):
                raise ValueError(
                    f"{owner}.{needs} cannot use the candidate {candidate[0]!r}: "
                    f"{type(candidate[1]).__name__} has no {needs}. Leave it out."
                )
        names = [name for name, _ in self.candidates or []]
        if len(set(names)) < len(names) or self.candidates == []:
            raise ValueError(
                f"{owner} needs at least one candidate, each with a name of its own, got {names}."
            )

    def _seed(self) -> tuple[int, np.random.Generator]:
        """A seed for the candidates, and a generator for the folds."""
        seed = int(check_random_state(self.random_state).randint(2**31))
        return seed, np.random.default_rng(seed)

    def _digest(self, given: Given, examples: IndexArray | None) -> str | None:
        """What the checkpoint is of; None where there is none."""
        return None if self._checkpoint is None else fit_digest(self, given.samples, examples)

    def _prepared(self, defaults: Candidates, seed: int) -> Candidates:
        """Candidates with the rank that was asked for, and with a seed."""
        prepared = []
        for name, learner in self.candidates or defaults:
            candidate = clone(learner)
            parameters = candidate.get_params(deep=False)
            if self.n_components is not None and "n_components" in parameters:
                candidate.set_params(n_components=self.n_components)
            if "random_state" in parameters and parameters["random_state"] is None:
                candidate.set_params(random_state=seed)
            prepared.append((name, candidate))
        return prepared

    def _choose(
        self, task: Task, defaults: Candidates, seed: int, told: tuple[Any, Any], digest: str | None
    ) -> None:
        """Fit all candidates to all folds, and keep the simplest of the best."""
        self._candidates = self._prepared(defaults, seed)
        todo = [(place, fold) for place in range(len(self._candidates)) for fold in range(self.cv)]
        store = _Store(self._checkpoint.path if self._checkpoint else None, digest)
        self._context = self._init_callback_context(max_subtasks=len(todo) + 1)
        self._told = {"estimator": self, "X": told[0], "y": told[1]}
        self._context.call_on_fit_task_begin(**self._told)
        contexts = {key: self._context.subcontext(task_name="candidate") for key in todo}

        def validate(key: tuple[int, int]) -> None:
            if key in store.results or requested():
                return
            estimator = clone(self._candidates[key[0]][1])
            try:
                result = _under(contexts[key], estimator, self._told)(
                    lambda: task.validate(estimator, key[1])
                )
            except ValueError as error:
                store.failures.setdefault(self._candidates[key[0]][0], str(error))
                return
            if not getattr(estimator, "interrupted_", False):
                store.add(key, result)

        with interrupt_requested() as requested:
            if self.n_jobs in (None, 1):
                for key in todo:
                    validate(key)
            else:
                Parallel(n_jobs=self.n_jobs, prefer="threads")(
                    delayed(validate)(key) for key in todo
                )
            self.interrupted_ = requested()
        self._set_results(store, task.groups, task.folds)
        if self.interrupted_:
            warnings.warn(
                f"{type(self).__name__} was interrupted while it compared candidates: it takes "
                f"the best of those compared by then ({self.chosen_!r}).",
                InterruptedFitWarning,
                stacklevel=5,  # past fit and scikit-learn's two wrappers of it
            )
        self._store = store

    def _set_results(
        self, store: _Store, groups: npt.NDArray[Any] | None, fold_of: IndexArray
    ) -> None:
        """Compare the candidates whose folds are all done."""
        n_folds = self.cv
        self.notes_ += [
            f"The candidate {name!r} was left out: {why}" for name, why in store.failures.items()
        ]
        done = [
            place
            for place in range(len(self._candidates))
            if all((place, fold) in store.results for fold in range(n_folds))
        ]
        if not done:
            problem = next(iter(store.failures.values()), "the comparison was interrupted")
            raise ValueError(f"No candidate of {type(self).__name__} could be fitted: {problem}")
        errors = {
            place: np.concatenate([store.results[place, fold][0] for fold in range(n_folds)])
            for place in done
        }
        order = None
        if groups is not None:
            order = np.concatenate([groups[fold_of == fold] for fold in range(n_folds)])
        means = {place: scores.mean_error(errors[place], order)[0] for place in done}
        best = min(done, key=lambda place: means[place])
        self.best_index_ = best
        difference, bound = 0.0, 0.0
        for place in done:
            difference, bound = scores.mean_error(errors[place] - errors[best], order)
            if place == best or difference <= bound:
                self.best_index_ = place
                break
        self.chosen_ = self._candidates[self.best_index_][0]
        self.best_score_ = -means[self.best_index_]
        self.reason_ = _reason(self._candidates, means, self.best_index_, best, difference, bound)
        self.cv_results_ = _results(self._candidates, store, n_folds, means)

    def _refit(self, fit: Callable[[Any], Any], told: tuple[Any, Any]) -> None:
        """Fit the chosen candidate to all samples."""
        estimator = clone(self._candidates[self.best_index_][1])
        if self._checkpoint is not None and hasattr(estimator, "set_checkpoint"):
            path = self._checkpoint.path
            estimator.set_checkpoint(
                path.with_name(path.name + ".fit"), every_seconds=self._checkpoint.every_seconds
            )
        context = self._context.subcontext(task_name="refit")
        _under(context, estimator, self._told)(lambda: fit(estimator))
        self.best_estimator_ = estimator
        self.components_ = estimator.components_
        self.n_updates_ = estimator.n_updates_
        self.interrupted_ |= getattr(estimator, "interrupted_", False)
        self._context.call_on_fit_task_end(
            **self._told, reconstruction_attributes=lambda: {"components_": self.components_}
        )
        if not self.interrupted_:
            self._store.remove()
        del self._context, self._told, self._candidates, self._store


class _Store:
    """Errors of finished (candidate, fold) pairs, kept in a file if there is one."""

    def __init__(self, path: Path | None, digest: str | None) -> None:
        self.path, self.digest = path, digest
        self.results: dict[tuple[int, int], tuple[FloatArray, float, float]] = {}
        self.failures: dict[str, str] = {}
        states = [] if path is None else read_states(path)
        if states and states[0].facts["digest"] != digest:
            raise FileError(
                f"The checkpoint {str(path)!r} is of a fit with other data or settings: remove it "
                "to start anew, or name another."
            )
        for state in states:
            for name, (place, fold, fitting, scoring) in state.facts["done"].items():
                self.results[place, fold] = state.arrays[name], fitting, scoring

    def add(self, key: tuple[int, int], result: tuple[FloatArray, float, float]) -> None:
        """Keep a result, and write all of them."""
        self.results[key] = result
        if self.path is None:
            return
        done = {f"{p}-{f}": (p, f, r[1], r[2]) for (p, f), r in self.results.items()}
        arrays = {f"{p}-{f}": r[0] for (p, f), r in self.results.items()}
        write_states(self.path, [State(arrays, {"digest": self.digest, "done": done})])

    def remove(self) -> None:
        """The fit is over."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _under(context: Any, estimator: Any, told: dict[str, Any]) -> Callable[[Any], Any]:
    """Run a fit as a task that callbacks are told of, and that they reach into."""

    def run(fit: Callable[[], Any]) -> Any:
        if not hasattr(estimator, "set_callbacks"):
            context.call_on_fit_task_begin(**told)
            result = fit()
        else:
            with context.propagate_callback_context(estimator):
                context.call_on_fit_task_begin(**told)
                result = fit()
        context.call_on_fit_task_end(**told)
        return result

    return run


def _some_examples(
    given: Given, examples: IndexArray, *, n_columns: int
) -> tuple[IndexArray, npt.NDArray[Any]]:
    """At most `MAX_SAMPLES` examples, evenly spaced, as indices of the samples they need."""
    some = examples[evenly_spaced(len(examples), MAX_SAMPLES)]
    indices, places = np.unique(some[:, :n_columns], return_inverse=True)
    local = some.copy()
    local[:, :n_columns] = places.reshape(-1, n_columns)
    return local, given.samples.take(indices)


def _reason(
    candidates: Candidates,
    means: dict[int, float],
    chosen: int,
    best: int,
    difference: float,
    bound: float,
) -> str:
    """Why a candidate was chosen."""
    name, error = candidates[chosen][0], means[chosen]
    if chosen == best:
        others = [place for place in means if place != best]
        beside = ""
        if others:
            second = min(others, key=lambda place: means[place])
            beside = f", next {candidates[second][0]!r} {means[second]:.4g}"
        text = f"has the lowest validation error, {error:.4g}{beside}."
    else:
        text = (
            f"has validation error {error:.4g}, which exceeds the lowest, {means[best]:.4g} of "
            f"{candidates[best][0]!r}, by {difference:.2g}: no more than one standard error "
            f"({bound:.2g})."
        )
    if name == "euclidean":
        return f"Nothing tried beats the Euclidean distance: 'euclidean' {text}"
    return f"{name!r} was chosen: it {text}"


def _results(
    candidates: Candidates, store: _Store, n_folds: int, means: dict[int, float]
) -> dict[str, Any]:
    """The table of what was tried, as GridSearchCV has it; scores are minus mean errors."""
    n = len(candidates)
    split = np.full((n_folds, n), np.nan)
    fitting, scoring = np.full((n_folds, n), np.nan), np.full((n_folds, n), np.nan)
    for (place, fold), (errors, fit_seconds, score_seconds) in store.results.items():
        split[fold, place] = -errors.mean()
        fitting[fold, place], scoring[fold, place] = fit_seconds, score_seconds
    mean = np.array([-means.get(place, np.nan) for place in range(n)])
    ranked = np.where(np.isnan(mean), -np.inf, mean)
    names = [name for name, _ in candidates]
    rank: Sequence[int] = [1 + int(np.sum(ranked > value)) for value in ranked]
    return {
        "mean_fit_time": fitting.mean(axis=0),
        "std_fit_time": fitting.std(axis=0),
        "mean_score_time": scoring.mean(axis=0),
        "std_score_time": scoring.std(axis=0),
        "param_candidate": np.ma.MaskedArray(np.array(names, dtype=object), mask=[False] * n),
        "params": [{"candidate": name} for name in names],
        **{f"split{fold}_test_score": split[fold] for fold in range(n_folds)},
        "mean_test_score": mean,
        "std_test_score": split.std(axis=0),
        "rank_test_score": np.array(rank, dtype=np.int32),
    }
