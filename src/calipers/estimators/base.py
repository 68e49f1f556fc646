"""The base of every learner: it checks input, lets a learner learn, and keeps what it returns.

A learner has one method of its own, ``_learn(given)``, which returns what it has `Learned` and
changes nothing. Only `Learner._keep` sets attributes, all of them at once: a fit or a batch that
fails changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks

from calipers.arrays import FloatArray
from calipers.data.samples import Samples, relative_weights
from calipers.data.triplets import check_pairs, check_triplets
from calipers.estimators.checks import Given, check_labels, check_samples, cluster_of
from calipers.interrupt import InterruptedFitWarning
from calipers.metric.init import evenly_spaced
from calipers.metric.mahalanobis import MahalanobisMixin
from calipers.notices import warn_user
from calipers.solvers.training import History, Passes, Round, Watch, train, watching

Fit = TypeVar("Fit", bound=Callable[..., Any])
Learned: TypeAlias = dict[str, Any]
"""What a fit has learned, by the names of fitted attributes; the factor is "components_"."""

MOST_MEASURED = 10_000  # samples, evenly spaced, whose spread becomes ``feature_scale_``


def checking(method: Fit) -> Fit:
    """Check parameters first, as scikit-learn does; type checkers still know the types."""
    return cast(Fit, _fit_context(prefer_skip_nested_validation=True)(method))


def fitting(method: Fit) -> Fit:
    """Check parameters first, and end callbacks however the fit ends."""
    return checking(cast(Fit, with_callbacks(method)))


class Learner(MahalanobisMixin):
    """A metric learner: ``fit`` for all, from labels unless ``_target`` says otherwise."""

    _target: ClassVar[Literal["classes", "numbers", "none"]] = "classes"

    def _learn(self, given: Given) -> Learned:
        raise NotImplementedError

    @fitting
    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        client: Any = None,
    ) -> Self:
        """Learn from labels.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        y : array-like or Dask collection of shape (n_samples,)
            Class of each sample, numbers or strings; `MLKR` takes targets, which are numbers,
            `Euclidean` and `Scaled` need none.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts; 0 leaves it out. By default each counts once. A learner
            that draws triplets draws anchors as often.
        client : distributed.Client, optional
            Client for Dask collections. By default the current one, or a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with cluster_of(X, client) as used:
            if self._target == "none":
                given = check_samples(self, X, sample_weight, used)
            else:
                given = check_labels(self, X, y, sample_weight, used)
            return self._keep(given, self._learn(given))

    def _keep(self, given: Given, learned: Learned) -> Self:
        """Keep what was learned; a learner is fitted once it is here."""
        attributes = {"n_updates_": 0, **self._described(given), **learned}
        if "feature_scale_" not in attributes:
            attributes["feature_scale_"] = standard_deviations(given.samples)
        others = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        self.__dict__ = {**others, **attributes}
        return self

    def _described(self, given: Given) -> dict[str, Any]:
        """The attributes that follow from the input."""
        described: dict[str, Any] = {"n_features_in_": given.samples.shape[1]}
        if given.names is not None:
            described["feature_names_in_"] = given.names
        if self._target == "classes" and len(given.classes):
            described["classes_"] = given.classes
        return described

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._target != "none"
        return tags


class FromTriplets(Learner):
    """A learner that also takes triplets."""

    @fitting
    def fit_triplets(
        self, X: npt.ArrayLike, triplets: npt.ArrayLike, *, client: Any = None
    ) -> Self:
        """Learn from your own triplets, in the order given.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        triplets : array-like of shape (n_triplets, 3)
            Indices (anchor, positive, negative): the anchor should be closer to the positive.
        client : distributed.Client, optional
            Client for Dask collections. By default the current one, or a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with cluster_of(X, client) as used:
            samples = check_samples(self, X, client=used)
            checked = check_triplets(triplets, samples.samples.shape[0])
            given = replace(samples, triplets=checked)
            return self._keep(given, self._learn(given))


class FromPairs(Learner):
    """A learner that also takes pairs."""

    @fitting
    def fit_pairs(
        self, X: npt.ArrayLike, pairs: npt.ArrayLike, y: npt.ArrayLike, *, client: Any = None
    ) -> Self:
        """Learn from your own pairs, in the order given.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        pairs : array-like of shape (n_pairs, 2)
            Indices of the two samples of each pair.
        y : array-like of shape (n_pairs,)
            +1 for pairs that should be near, -1 for pairs that should be far.
        client : distributed.Client, optional
            Client for Dask collections. By default the current one, or a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with cluster_of(X, client) as used:
            samples = check_samples(self, X, client=used)
            checked = check_pairs(pairs, y, samples.samples.shape[0])
            given = replace(samples, pairs=checked)
            return self._keep(given, self._learn(given))


class SteppedLearner(CallbackSupportMixin, Learner):  # type: ignore[misc]
    """A learner that takes steps: callbacks see each of them, and Ctrl-C ends the fit early."""

    @contextmanager
    def _watched(
        self, given: Given, n_steps: int, components: Callable[[], FloatArray]
    ) -> Iterator[Watch]:
        """Look on while a fit takes so many steps; ``components()`` is L so far."""

        def so_far() -> dict[str, Any]:
            return {**self._described(given), "components_": components()}

        with watching(self, given.X, given.y, n_steps, so_far) as watch:
            yield watch
        if watch.interrupted:
            warn_user(
                f"{type(self).__name__} was interrupted after {watch.n_steps} of {n_steps} steps: "
                "the metric is the one learned by then.",
                InterruptedFitWarning,
            )

    def _trained(
        self,
        given: Given,
        rounds: Iterable[Round | Passes],
        n_steps: int,
        components: Callable[[], FloatArray],
        curve: str | None = None,
    ) -> tuple[Learned, History]:
        """Let solvers learn; returns what every such learner keeps, and what was counted.

        ``curve`` is the name of the curve of examples.
        """
        started = perf_counter()
        with self._watched(given, n_steps, components) as watch:
            history = train(rounds, watch)
        learned = {
            "components_": components(),
            **history.attributes(curve),
            "interrupted_": watch.interrupted,
            "solve_seconds_": perf_counter() - started,
        }
        return learned, history


def standard_deviations(samples: Samples) -> FloatArray:
    """Standard deviation of each feature of some samples: it says what the metric weighs."""
    some = evenly_spaced(samples.shape[0], MOST_MEASURED)
    X, weights = samples.take(some).astype(np.float64), relative_weights(samples, some)
    centered = X - np.average(X, axis=0, weights=weights)
    return np.asarray(np.sqrt(np.average(centered**2, axis=0, weights=weights)))
