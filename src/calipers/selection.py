"""MetricCV: choose a metric by cross-validation, the simplest of those as good as the best."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from inspect import Parameter, signature
from numbers import Integral
from threading import Lock
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context, clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from calipers import scores, validation
from calipers.arrays import IndexArray
from calipers.checkpoint import Checkpointed, fit_digest
from calipers.comparison import Candidates, Comparison, Store, Task
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
from calipers.interrupt import InterruptedFitWarning
from calipers.metric import MahalanobisMixin
from calipers.triplets import check_pairs, check_triplets
from calipers.validation import Given, given_labeled, given_unlabeled

MAX_SAMPLES = 3_000  # labelled samples, triplets or pairs that candidates are compared by
MANY_NEIGHBORS = 20


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
        Discriminant, then TripletSGD, with many neighbours and from the within-class metric; for
        triplets Euclidean, Scaled and TripletSGD from either; for pairs Euclidean, Scaled, LEGO
        and ITML.
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
            refit = self._choose(task, label_candidates(), seed, given, digest)
            more = {} if client is None else {"client": client}
            self._refit(refit, lambda estimator: estimator.fit(X, y, **more))
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
                errors=lambda Z, triplets, held: scores.violations_by_anchor(Z, triplets[held]),
            )
            digest = self._digest(given, checked)
            refit = self._choose(task, triplet_candidates(), seed, given, digest)
            more = {} if client is None else {"client": client}
            self._refit(refit, lambda estimator: fit(estimator, X, checked, **more))
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
            refit = self._choose(task, pair_candidates(), seed, given, digest)
            more = {} if client is None else {"client": client}
            self._refit(refit, lambda estimator: fit(estimator, X, checked, **more))
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
            if not (named and isinstance(candidate[0], str)) or not isinstance(
                candidate[1], MahalanobisMixin
            ):
                raise ValueError(
                    f"{owner} needs candidates as (name, learner) tuples, with learners of "
                    f"calipers, got {candidate!r}."
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
        self, task: Task, defaults: Candidates, seed: int, given: Given, digest: str | None
    ) -> Refit:
        """Compare the candidates; returns how to fit the chosen one to all samples."""
        if np.bincount(task.folds, minlength=self.cv).min() == 0:
            raise ValueError(
                f"{type(self).__name__}(cv={self.cv}) has too few examples ({len(task.folds)}) for "
                "so many folds: lower cv, or pass more."
            )
        store = Store(self._checkpoint.path if self._checkpoint else None, digest)
        comparison = Comparison(self._prepared(defaults, seed), task, self.cv, store)
        n_fits = len(comparison.candidates) * self.cv + 1
        tasks = Tasks(self, given, self._init_callback_context(max_subtasks=n_fits))
        comparison.run(tasks.run, self.n_jobs)
        self.notes_ += [
            f"The candidate {name!r} was left out: {why}"
            for name, why in comparison.failures.items()
        ]
        choice = comparison.choice(type(self).__name__)
        self.best_index_, self.chosen_, self.reason_ = choice.place, choice.name, choice.reason
        self.best_score_ = -choice.means[choice.place]
        self.cv_results_ = comparison.results(choice.means)
        self.interrupted_ = comparison.interrupted
        if self.interrupted_:
            warnings.warn(
                f"{type(self).__name__} was interrupted while it compared candidates: it takes "
                f"the best of those compared by then ({self.chosen_!r}).",
                InterruptedFitWarning,
                stacklevel=5,  # past fit and scikit-learn's two wrappers of it
            )
        return Refit(clone(comparison.candidates[choice.place][1]), tasks, store)

    def _refit(self, refit: Refit, fit: Callable[[Any], Any]) -> None:
        """Fit the chosen candidate to all samples."""
        estimator, tasks, store = refit
        if self._checkpoint is not None and hasattr(estimator, "set_checkpoint"):
            path = self._checkpoint.path
            estimator.set_checkpoint(
                path.with_name(path.name + ".fit"), every_seconds=self._checkpoint.every_seconds
            )
        tasks.run(estimator, lambda: fit(estimator))
        self.best_estimator_ = estimator
        self.components_ = estimator.components_
        self.n_updates_ = estimator.n_updates_
        self.interrupted_ |= getattr(estimator, "interrupted_", False)
        tasks.end({"components_": self.components_})
        if not self.interrupted_:
            store.remove()


class Tasks:
    """Tells scikit-learn's callbacks of the fits inside, and lets them reach into these."""

    def __init__(self, estimator: Any, given: Given, context: Any) -> None:
        self._told = {"estimator": estimator, "X": given.X, "y": given.y}
        self._context, self._lock = context, Lock()
        context.call_on_fit_task_begin(**self._told)

    def run(self, estimator: Any, fit: Callable[[], Any]) -> Any:
        """Run a fit as a task."""
        with self._lock:  # fits may run in several threads
            context = self._context.subcontext(task_name="candidate")
        with ExitStack() as stack:
            if hasattr(estimator, "set_callbacks"):
                stack.enter_context(context.propagate_callback_context(estimator))
            context.call_on_fit_task_begin(**self._told)
            result = fit()
        context.call_on_fit_task_end(**self._told)
        return result

    def end(self, learned: dict[str, Any]) -> None:
        """The fit around them is over."""
        self._context.call_on_fit_task_end(**self._told, reconstruction_attributes=lambda: learned)


class Refit(NamedTuple):
    """The chosen candidate, unfitted, and what goes on with it."""

    estimator: Any
    tasks: Tasks
    store: Store


def _some_examples(
    given: Given, examples: IndexArray, *, n_columns: int
) -> tuple[IndexArray, npt.NDArray[Any]]:
    """At most `MAX_SAMPLES` examples, evenly spaced, as indices of the samples they need."""
    some = examples[evenly_spaced(len(examples), MAX_SAMPLES)]
    indices, places = np.unique(some[:, :n_columns], return_inverse=True)
    local = some.copy()
    local[:, :n_columns] = places.reshape(-1, n_columns)
    return local, given.samples.take(indices)
