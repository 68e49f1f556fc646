"""MetricCV: choose a metric by cross-validation, the simplest of those as good as the best."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from numbers import Integral
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import Interval

from calipers.estimators import (
    ITML,
    LEGO,
    Discriminant,
    Euclidean,
    Scaled,
    TripletSGD,
    WithinClass,
    validation,
)
from calipers.estimators.comparison import Candidates, Comparison
from calipers.estimators.fitting import FromLabels, FromPairs, FromTriplets
from calipers.estimators.inputs import Given
from calipers.estimators.tasks import task_of, weight_parameter
from calipers.estimators.validation import AT_LEAST_ONE
from calipers.interrupt import InterruptedFitWarning
from calipers.metric.mahalanobis import MahalanobisMixin
from calipers.notices import warn_user

MANY_NEIGHBORS = 20
CANDIDATE, CHOSEN = "candidate", "chosen candidate"  # names of tasks


def label_candidates() -> Candidates:
    """Return the default candidates for labels, from simple to rich."""
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
    """Return the default candidates for triplets, from simple to rich."""
    return [
        ("euclidean", Euclidean()),
        ("scaled", Scaled()),
        ("triplet-sgd", TripletSGD(init="identity")),
        ("triplet-sgd-scaled", TripletSGD(init="scaled")),
    ]


def pair_candidates() -> Candidates:
    """Return the default candidates for pairs, from simple to rich."""
    return [("euclidean", Euclidean()), ("scaled", Scaled()), ("lego", LEGO()), ("itml", ITML())]


def default_candidates(given: Given) -> Candidates:
    """What is compared for what was given."""
    if given.triplets is not None:
        return triplet_candidates()
    return label_candidates() if given.pairs is None else pair_candidates()


class MetricCV(
    FromLabels,
    FromTriplets,
    FromPairs,
    CallbackSupportMixin,  # type: ignore[misc]
    MahalanobisMixin,
):
    """Choose among metric learners by cross-validation.

    Every candidate learns from all folds but one and is scored on the held-out fold: for labels by
    the share of impostors among the nearest neighbours, where nearer ones count more; for triplets
    by the share violated; for pairs by the AUC. `MetricCV` takes the first candidate, from simple
    to rich, whose error exceeds the lowest by at most one standard error of their paired
    differences. It compares candidates on `max_compared` samples, triplets or pairs, evenly spaced,
    of many small classes on whole classes; the chosen candidate learns from all.

    Parameters
    ----------
    candidates : list of (str, estimator) tuples or None, default=None
        Names and learners, from simple to rich. None: Euclidean, Scaled, WithinClass and
        Discriminant, then TripletSGD, with many neighbours and from the within-class metric; for
        triplets Euclidean, Scaled and TripletSGD from either; for pairs Euclidean, Scaled, LEGO
        and ITML.
    n_components : int or None, default=None
        Rows of ``components_``, of every candidate.
    cv : int, default=3
        Number of folds.
    max_compared : int, default=3000
        Samples, triplets or pairs that candidates are compared on, at most. A gain that shows with
        more samples only is not seen.
    n_jobs : int or None, default=None
        Number of fits in parallel; the result does not depend on it.
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
        "n_components": [AT_LEAST_ONE, None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "max_compared": [Interval(Integral, 2, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        candidates: Candidates | None = None,
        *,
        n_components: int | None = None,
        cv: int = 3,
        max_compared: int = 3_000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.candidates = candidates
        self.n_components = n_components
        self.cv = cv
        self.max_compared = max_compared
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, given: Given) -> None:
        """Compare the candidates, then fit the chosen one to all samples."""
        self._check(given)
        seed = int(check_random_state(self.random_state).randint(2**31))
        task = task_of(given, self.cv, self.max_compared, np.random.default_rng(seed))
        candidates = self._prepared(default_candidates(given), seed)
        comparison = Comparison(candidates, task, self.cv)
        fits = Fits(self, given, candidates, len(task.folds))
        comparison.run(fits.run, self.n_jobs)
        self._choose(comparison)
        chosen = clone(candidates[self.best_index_][1])
        more = weight_parameter(given.samples.weights)
        if given.client is not None:
            more["client"] = given.client
        fits.run(chosen, lambda: task.fit(chosen, given.X, given.examples, **more), name=CHOSEN)
        if hasattr(self, "feature_names_in_"):
            chosen.feature_names_in_ = self.feature_names_in_
        self.best_estimator_ = chosen
        self.components_, self.n_updates_ = chosen.components_, chosen.n_updates_
        self.interrupted_ |= getattr(chosen, "interrupted_", False)
        fits.end({"components_": self.components_})

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        return f"{self.reason_} {text}" if hasattr(self, "reason_") else text

    def _check(self, given: Given) -> None:
        """Raise for candidates that are none, or that cannot learn from what is given."""
        owner, needs = type(self).__name__, "fit"
        if given.triplets is not None or given.pairs is not None:
            needs = "fit_pairs" if given.triplets is None else "fit_triplets"
        else:
            validation.check_classes(owner, given.classes, given.samples.class_sizes)
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
            is_from_labels = get_tags(candidate[1]).target_tags.required
            if is_from_labels and not hasattr(candidate[1], needs):
                raise ValueError(
                    f"{owner}.{needs} cannot use the candidate {candidate[0]!r}: "
                    f"{type(candidate[1]).__name__} has no {needs}. Leave it out."
                )
        names = [name for name, _ in self.candidates or []]
        if len(set(names)) < len(names) or self.candidates == []:
            raise ValueError(
                f"{owner} needs at least one candidate, each with a name of its own, got {names}."
            )

    def _prepared(self, defaults: Candidates, seed: int) -> Candidates:
        """Candidates with `n_components` and a seed."""
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

    def _choose(self, comparison: Comparison) -> None:
        """Keep what the comparison says."""
        self.notes_ += [
            f"The candidate {name!r} was left out: {why.rstrip('.')}."
            for name, why in comparison.failures.items()
        ]
        choice = comparison.choice(type(self).__name__)
        self.best_index_, self.chosen_, self.reason_ = choice.place, choice.name, choice.reason
        self.best_score_ = -choice.means[choice.place]
        self.cv_results_ = comparison.results(choice.means)
        self.interrupted_ = comparison.interrupted
        if self.interrupted_:
            warn_user(
                f"{type(self).__name__} was interrupted while it compared candidates: it takes "
                f"the best of those compared by then ({self.chosen_!r}).",
                InterruptedFitWarning,
            )


class Fits:
    """Tells scikit-learn's callbacks of the fits inside, and lets them reach into these.

    The context has ``shares``: how much of all steps a fit is, by its task. Fits to some folds
    without steps are none of it.
    """

    def __init__(
        self, estimator: Any, given: Given, candidates: Candidates, n_compared: int
    ) -> None:
        n_folds, examples = estimator.cv, given.pairs if given.triplets is None else given.triplets
        n_all = given.samples.shape[0] if examples is None else len(examples)
        n_fits = n_folds * len(candidates) + 1
        self._told = {"estimator": estimator, "X": given.X, "y": given.y}
        self._context, self._lock = estimator._init_callback_context(max_subtasks=n_fits), Lock()
        n_iterating = n_folds * sum(hasattr(each, "set_callbacks") for _, each in candidates)
        last = n_all / (n_compared * (1 - 1 / n_folds))  # in fits to some folds
        total = n_iterating + last
        self._shares, self._context.shares = {CANDIDATE: 1 / total, CHOSEN: last / total}, {}
        self._context.call_on_fit_task_begin(**self._told)

    def run(self, estimator: Any, fit: Callable[[], Any], *, name: str = CANDIDATE) -> Any:
        """Run a fit as a task, which ends however the fit does."""
        has_steps = hasattr(estimator, "set_callbacks")
        with self._lock:  # fits may run in several threads
            context = self._context.subcontext(task_name=name)
            if has_steps or name == CHOSEN:
                self._context.shares[context.task_id] = self._shares[name]
        context.call_on_fit_task_begin(**self._told)
        try:
            with context.propagate_callback_context(estimator) if has_steps else nullcontext():
                return fit()
        finally:
            context.call_on_fit_task_end(**self._told)

    def end(self, learned: dict[str, Any]) -> None:
        """The fit around them is over."""
        self._context.call_on_fit_task_end(**self._told, reconstruction_attributes=lambda: learned)
