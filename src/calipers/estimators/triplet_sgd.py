"""TripletSGD: the paper's five algorithms as one scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from numbers import Integral
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.callback import CallbackSupportMixin
from sklearn.utils._param_validation import Interval

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import MemorySamples, thinned
from calipers.data.triplets import GivenTriplets, check_triplets
from calipers.estimators import validation
from calipers.estimators.fitting import FromLabels, FromTriplets, checking
from calipers.estimators.inputs import (
    Given,
    dense_labeled,
    dense_samples,
    first_batch,
    restored_on_failure,
)
from calipers.estimators.rounds import Numbers, TripletRounds, random_streams
from calipers.estimators.stream import TripletStream, refuse_settings
from calipers.estimators.validation import A_LEARNER, AT_LEAST_ONE, POSITIVE
from calipers.metric import init as inits
from calipers.metric.coordinates import Coordinates
from calipers.metric.mahalanobis import MahalanobisMixin
from calipers.solvers.plan import Plan, plan_for_labels, plan_for_stream, plan_for_triplets
from calipers.solvers.recipes import READINGS, MethodName, Recipe, recipe_of
from calipers.solvers.sgd import SGDSolver
from calipers.solvers.training import History, learn


class TripletSGD(FromLabels, FromTriplets, CallbackSupportMixin, MahalanobisMixin):  # type: ignore[misc]
    """Learn a Mahalanobis metric from triplets by adaptive, mini-batch SGD.

    Finds a positive semi-definite M under which each anchor is closer to its positives (of its
    class) than to its negatives (of other classes) by a margin of 1 (Qian et al. 2013).

    Parameters
    ----------
    method : str or Recipe, default="all-pairs-sgd"
        "sgd", "mini-sgd", "as-sgd", "hr-sgd" and "ha-sgd" are the paper's; "all-pairs-sgd" takes
        all triplets of an anchor's neighbours together. :mod:`calipers.recipes` makes others.
    n_components : int or None, default=None
        Rows of ``components_``, learned for their number. None: as many as features.
    init : {"auto", "identity", "scaled", "within-class"} or ndarray, default="auto"
        Initial metric: X as it is, features divided by their standard deviation, the inverse
        covariance within classes, or L of shape (any, n_features). "auto" is whichever of the
        first two has the lower leave-one-out 3-NN error.
    n_neighbors : int or None, default=None
        Nearest positives and negatives of an anchor that triplets are made of. None: 7.
    n_rounds : int or None, default=None
        Rounds, each of which mines neighbours under the metric so far, or goes through the given
        triplets again. None: 3.
    n_triplets : int or None, default=None
        Triplets of a round; whole batches are used. None: grows as the root of the number of
        samples, 100,000 for about a thousand.
    batch_size : int or None, default=None
        Anchors of an update, each with one triplet, or with all pairs of its neighbours. None:
        20.
    learning_rate : float or None, default=None
        Step size for the mean over a batch. None: the batch size.
    smoothness : float, default=3.0
        L of the loss ``log(1 + exp(-L * (margin - 1))) / L``.
    radius : float, default=1000.0
        Largest Frobenius norm of M, in units of the margin.
    max_samples : int or None, default=None
        About so many labelled samples are learned from, a share of every class. None: all.
    random_state : int, RandomState instance or None, default=None
        Seeds the drawing of triplets and the sampling of updates.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    init_, recipe_, n_neighbors_, n_rounds_, n_triplets_, batch_size_, learning_rate_
        What `method`, None and "auto" stood for; a fit with these values gives the same bits.
    n_updates_, n_projections_, n_iter_ : int
        Updates, those among them that left the cone, and batches seen.
    loss_curve_, update_curve_, triplet_curve_ : ndarray of shape (n_points,)
        Mean loss since the point before; updates and triplets up to each point.
    mining_seconds_, solve_seconds_ : float
        Time to make the triplets, and to learn from them.
    notes_ : list of str
        Remarks about the data.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from calipers import TripletSGD
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(TripletSGD(random_state=0), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [str, Recipe],
        "n_components": [AT_LEAST_ONE, None],
        "init": [str, "array-like", A_LEARNER],
        "n_neighbors": [AT_LEAST_ONE, None],
        "n_rounds": [AT_LEAST_ONE, None],
        "n_triplets": [AT_LEAST_ONE, None],
        "batch_size": [AT_LEAST_ONE, None],
        "learning_rate": [POSITIVE, None],
        "smoothness": [POSITIVE],
        "radius": [POSITIVE],
        "max_samples": [Interval(Integral, 2, None, closed="left"), None],
        "random_state": ["random_state"],
    }
    _stream: TripletStream | None = None
    _last_round_: dict[str, Any] | None = None  # for paper.theory; None where a factor was learned

    def __init__(
        self,
        method: MethodName | Recipe = "all-pairs-sgd",
        *,
        n_components: int | None = None,
        init: str | FloatArray = "auto",
        n_neighbors: int | None = None,
        n_rounds: int | None = None,
        n_triplets: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        smoothness: float = 3.0,
        radius: float = 1000.0,
        max_samples: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.method = method
        self.n_components = n_components
        self.init = init
        self.n_neighbors = n_neighbors
        self.n_rounds = n_rounds
        self.n_triplets = n_triplets
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.smoothness = smoothness
        self.radius = radius
        self.max_samples = max_samples
        self.random_state = random_state

    @classmethod
    def paper(cls, method: str, **settings: Any) -> Self:
        """Return the paper's setting of one of its five methods.

        Parameters
        ----------
        method : {"sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd", "hr-sgd-sum", "ha-sgd-batch"}
            The algorithm, or a second reading of one (``calipers.solvers.recipes.READINGS``).
        **settings
            Parameters that replace the paper's.

        Examples
        --------
        >>> TripletSGD.paper("as-sgd", random_state=0).n_triplets
        100000
        """
        validation.check_name("TripletSGD.paper", "method", method, tuple(READINGS))
        recipe = READINGS[method]
        literal = {
            "method": recipe,
            "init": "identity",
            "n_neighbors": 1,
            "n_rounds": 1,
            "n_triplets": 100_000,
            "batch_size": 10 if recipe.batched else 1,
            "learning_rate": 1.0,
            "smoothness": 3.0,
            "radius": 1000.0,
            "max_samples": None,
        }
        return cls(**{**literal, **settings})

    @checking
    def partial_fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from one more batch of labelled samples.

        Each new sample is an anchor; its neighbours are searched in the batch and in a sample of
        those before, up to 200 of each class. The first call begins a stream: what None and "auto"
        stand for is resolved by it and stays.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples of the batch.
        y : array-like of shape (n_samples,)
            Class of each sample; batches need not have samples of every class.

        Returns
        -------
        Self
            The estimator, with the metric so far.
        """
        started = perf_counter()
        with restored_on_failure(self):
            is_first = self._stream is None
            dense, labels = dense_labeled(self, X, y, reset=is_first, fewest=1)
            validation.check_range(MemorySamples(dense))
            with self._streaming(dense, labels) as stream:
                self.classes_ = stream.add_labelled(dense, labels)
                return self._take_from(stream, started)

    @checking
    def partial_fit_triplets(self, X: npt.ArrayLike, triplets: npt.ArrayLike) -> Self:
        """Learn from one more batch of your own triplets.

        Triplets that do not fill a batch of `batch_size` wait for the next call. The result is
        that of one `fit_triplets` with ``n_rounds=1`` on all of them, but for rounding, unless the
        recipe estimates a largest gradient norm, which the first thousand triplets then decide.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples that these triplets point to.
        triplets : array-like of shape (n_triplets, 3)
            Indices (anchor, positive, negative) of this X.

        Returns
        -------
        Self
            The estimator, with the metric so far.
        """
        started = perf_counter()
        with restored_on_failure(self):
            dense = dense_samples(self, X, reset=self._stream is None)
            validation.check_range(MemorySamples(dense))
            checked = check_triplets(triplets, len(dense))
            with self._streaming(dense, None) as stream:
                stream.add(dense, checked)
                return self._take_from(stream, started)

    def _check(self, given: Given) -> Recipe:
        """Raise for settings that make no sense together or for these samples."""
        recipe = recipe_of(self.method)
        if given.triplets is not None:
            validation.refuse_parameters(
                self,
                "fit_triplets",
                n_neighbors="searches no neighbours",
                max_samples="learns from all triplets",
            )
        owner, d = type(self).__name__, given.samples.shape[1]
        if not recipe.batched and self.batch_size not in (None, 1):
            raise ValueError(
                f"{owner}(method={self.method!r}) takes one triplet at a time, got batch_size="
                f"{self.batch_size}: leave batch_size out, or choose 'mini-sgd', 'hr-sgd' or "
                "'ha-sgd'."
            )
        validation.check_init_and_components(self, d, has_labels=len(given.classes) > 0)
        return recipe

    def _learn(self, given: Given) -> None:
        """Run the rounds of a plan and keep what they have learned."""
        started, name = perf_counter(), type(self).__name__
        recipe = self._check(given)
        self.notes_ = validation.check_magnitude(given.samples)
        given = given._replace(samples=thinned(given.samples, self.max_samples))
        plan, triplets = self._plan(given, recipe)
        validation.check_batches(name, plan)
        init = inits.resolved_init(self.init, given.samples)
        coordinates, samples = Coordinates.of(init, given.samples)
        validation.check_radius(name, self.radius, samples.shape[1], recipe.projection)
        rounds = TripletRounds(
            coordinates,
            samples,
            plan=plan,
            recipe=recipe,
            numbers=Numbers(float(self.smoothness), float(self.radius)),
            rngs=random_streams(self.random_state),
            given=None if triplets is None else GivenTriplets(triplets),
            n_components=self.n_components,
        )
        prepared = perf_counter() - started
        history = learn(
            self,
            rounds,
            n_steps=rounds.n_steps,
            given=(given.X, given.y),
            learned=lambda solver: {"components_": rounds.components()},
        )
        self.components_ = rounds.components()
        self._set_resolved(init, recipe, plan)
        self._set_counts(history, None if rounds.factored else rounds.solver)
        self.mining_seconds_ = prepared + rounds.mining_seconds
        self.solve_seconds_ = perf_counter() - started - self.mining_seconds_

    def _plan(self, given: Given, recipe: Recipe) -> tuple[Plan, IndexArray | None]:
        """The numbers of this fit, and the triplets that were given, if any."""
        if given.triplets is None:
            plan = plan_for_labels(given.samples.shape, recipe, self)
            self.notes_ += validation.check_labels_and_neighbors(self, given, plan.n_neighbors)
            return plan, None
        plan = plan_for_triplets(len(given.triplets), recipe, self)
        validation.check_enough_triplets(type(self).__name__, plan.n_triplets, len(given.triplets))
        return plan, given.triplets[: plan.n_triplets]

    @contextmanager
    def _streaming(
        self, X: npt.NDArray[Any], labels: npt.NDArray[Any] | None
    ) -> Iterator[TripletStream]:
        """The stream under way, at the first call a new one; a batch that fails changes nothing."""
        stream = self._stream or self._new_stream(X, labels)
        stream.check_settings(self.get_params())
        with stream.restored_on_failure():
            self.feature_scale_ = stream.measure(X)
            yield stream
        self._stream = stream

    def _new_stream(self, X: npt.NDArray[Any], labels: npt.NDArray[Any] | None) -> TripletStream:
        refuse_settings(self, is_labelled=labels is not None)
        given = first_batch(X, labels)
        recipe = self._check(given)
        self.notes_ = []
        init = inits.resolved_init(self.init, given.samples)
        plan = plan_for_stream(recipe, self, is_labelled=labels is not None)
        self._set_resolved(init, recipe, plan)
        validation.check_radius(type(self).__name__, self.radius, X.shape[1], recipe.projection)
        return TripletStream(
            inits.initial_map(init, given.samples),
            plan,
            recipe,
            Numbers(float(self.smoothness), float(self.radius)),
            random_streams(self.random_state),
            X,
            deepcopy(self.get_params()),
        )

    def _take_from(self, stream: TripletStream, started: float) -> Self:
        """Learn from the triplets that fill batches."""
        self.mining_seconds_ = perf_counter() - started
        self.components_ = stream.take(self.n_components)
        self.interrupted_ = False
        self._set_counts(stream.history, stream.solver)
        self.solve_seconds_ = perf_counter() - started - self.mining_seconds_
        return self

    def _set_resolved(self, init: inits.Init, recipe: Recipe, plan: Plan) -> None:
        """Show what None and "auto" stood for."""
        self.init_ = init if isinstance(init, str) else np.array(init)
        self.recipe_ = recipe
        self.n_neighbors_, self.n_rounds_ = plan.n_neighbors, plan.n_rounds
        self.n_triplets_, self.batch_size_ = plan.n_triplets, plan.batch_size
        self.learning_rate_ = plan.learning_rate

    def _set_counts(self, history: History, solver: SGDSolver | None) -> None:
        for name, value in history.attributes().items():
            setattr(self, name, value)
        self.n_projections_ = history.total("n_projections")
        self.triplet_curve_ = history.example_curve()
        if solver is not None:
            self._last_round_ = {**solver.facts, "smoothness": float(self.smoothness)}
