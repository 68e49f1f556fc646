"""MetricCV: choose a metric by cross-validation, the simplest of those as good as the best."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
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
)
from calipers.estimators.base import FromPairs, FromTriplets, Learned, SteppedLearner
from calipers.estimators.checks import (
    AT_LEAST_ONE,
    Given,
    check_classes,
    check_components,
    check_varies,
)
from calipers.estimators.comparison import Candidates, Comparison, learn, task_of
from calipers.interrupt import InterruptedFitWarning
from calipers.metric.mahalanobis import MahalanobisMixin
from calipers.notices import warn_user
from calipers.solvers.training import watching

MANY_NEIGHBORS = 20


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


class MetricCV(FromTriplets, FromPairs, SteppedLearner):
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
        Whether Ctrl-C ended the comparison, with the best of the candidates compared by then.
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

    def _learn(self, given: Given) -> Learned:
        """Compare the candidates, then fit the chosen one to all samples."""
        notes = self._check(given)
        seed = int(check_random_state(self.random_state).randint(2**31))
        task = task_of(given, self.cv, self.max_compared, np.random.default_rng(seed))
        comparison = Comparison(self._prepared(default_candidates(given), seed), task)
        n_fits = comparison.n_folds * len(comparison.candidates) + 1
        best: Any = None

        def so_far() -> dict[str, Any]:
            return {"components_": best.components_}

        with watching(self, given.X, given.y, n_fits, so_far) as watch:
            comparison.run(self.n_jobs, watch.tick)
            choice = comparison.choice()
            if watch.interrupted:
                best = comparison.fitted[choice.place]
            else:
                best = clone(comparison.candidates[choice.place][1])
                weights, client = given.samples.weights, given.client
                more = {"sample_weight": weights, "client": client}
                learn(best, task.kind, given.X, given.examples, **more)
                watch.tick()
        if watch.interrupted:
            warn_user(
                f"{type(self).__name__} was interrupted: it takes the best of the candidates "
                f"compared by then ({choice.name!r}), as far as it has learned.",
                InterruptedFitWarning,
            )
        if given.names is not None:
            best.feature_names_in_ = given.names
        notes += [
            f"The candidate {name!r} was left out: {why}."
            for name, why in comparison.failures.items()
        ]
        return {
            "components_": best.components_,
            "n_updates_": best.n_updates_,
            "best_estimator_": best,
            "best_index_": choice.place,
            "best_score_": -choice.means[choice.place],
            "chosen_": choice.name,
            "reason_": choice.reason,
            "cv_results_": comparison.results(choice.means),
            "notes_": notes,
            "interrupted_": watch.interrupted,
        }

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        return f"{self.reason_} {text}" if hasattr(self, "reason_") else text

    def _check(self, given: Given) -> list[str]:
        """Raise for candidates that are none, or that cannot learn from what is given."""
        owner, needs = type(self).__name__, "fit"
        if given.triplets is not None or given.pairs is not None:
            needs = "fit_pairs" if given.triplets is None else "fit_triplets"
        else:
            check_classes(self, given)
        check_components(self, given.samples.shape[1])
        candidates = self.candidates or []
        names = [each[0] for each in candidates if isinstance(each, tuple) and len(each) == 2]
        if self.candidates == [] or len(set(names)) < len(candidates):
            raise ValueError(
                f"{owner} needs candidates as (name, learner) tuples, each with a name of its own, "
                f"got {self.candidates}."
            )
        for name, learner in candidates:
            if not isinstance(learner, MahalanobisMixin):
                raise ValueError(f"{owner} needs learners of calipers, got {learner!r}.")
            if get_tags(learner).target_tags.required and not hasattr(learner, needs):
                raise ValueError(
                    f"{owner}.{needs} cannot use the candidate {name!r}: "
                    f"{type(learner).__name__} has no {needs}. Leave it out."
                )
        return check_varies(given)

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
