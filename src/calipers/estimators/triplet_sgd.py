"""TripletSGD: the paper's five algorithms as one scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from numbers import Integral
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, StrOptions

from calipers.arrays import FloatArray
from calipers.data.samples import in_memory, thinned
from calipers.data.triplets import GivenTriplets, check_triplets
from calipers.estimators.base import FromTriplets, Learned, SteppedLearner, checking
from calipers.estimators.checks import (
    AT_LEAST_ONE,
    INITS,
    POSITIVE,
    Given,
    check_batch,
    check_init,
    check_labels,
    check_neighbors,
    check_one_order,
    check_samples,
    check_varies,
)
from calipers.metric.coordinates import Coordinates
from calipers.metric.init import initial_map, resolved_init
from calipers.solvers.low_rank import FactorRound
from calipers.solvers.plan import RESOLVED, Plan, TripletRounds, random_streams
from calipers.solvers.recipes import READINGS, RECIPES, MethodName, Recipe
from calipers.solvers.streams import TripletStream
from calipers.threads import single_threaded_blas


class TripletSGD(FromTriplets, SteppedLearner):
    """Learn a Mahalanobis metric from triplets by adaptive, mini-batch SGD.

    Finds a positive semi-definite M under which each anchor is closer to its positives (of its
    class) than to its negatives (of other classes) by a margin of 1 (Qian et al. 2013).

    Parameters
    ----------
    method : str or Recipe, default="all-pairs-sgd"
        "sgd", "mini-sgd", "as-sgd", "hr-sgd" and "ha-sgd" are the paper's; "all-pairs-sgd" takes
        all triplets of an anchor's neighbours together. :mod:`calipers.recipes` makes others.
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features. Fewer are learned from labels by NCA's
        loss in mini-batches, from `init`: then `method` and its numbers are checked, but have no
        effect. Streams and given triplets learn a full metric and keep its largest part.
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
        "method": [StrOptions(set(RECIPES)), Recipe],
        "n_components": [AT_LEAST_ONE, None],
        "init": INITS,
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
    _stream_: TripletStream | None = None
    _last_round_: dict[str, Any] | None = None  # what paper.theory needs; None with a factor

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
        if method not in READINGS:
            raise ValueError(f"method must be one of {', '.join(READINGS)}, got {method!r}.")
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
        stand for is resolved by it and stays, as do all other parameters; `n_rounds`, `n_triplets`
        and `max_samples` have no effect.

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
        given = check_labels(self, X, y, reset=self._stream_ is None)
        if self._stream_ is not None:
            check_one_order(self, [*self._stream_.reservoir.codes, *given.classes.tolist()])
        batch = in_memory(given.samples).X
        return self._learn_batch(given, lambda stream: stream.add_labelled(batch, given.y))

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
        given = check_samples(self, X, reset=self._stream_ is None)
        checked, batch = check_triplets(triplets, given.samples.shape[0]), in_memory(given.samples)
        return self._learn_batch(given, lambda stream: stream.add(batch.X, checked))

    @single_threaded_blas()
    def _learn(self, given: Given) -> Learned:
        """Resolve what was not told, then mine and solve, round by round."""
        started, recipe = perf_counter(), self._checked_recipe(given, min(given.samples.shape))
        notes, asked = check_varies(given), self.get_params(deep=False)
        if given.triplets is None:
            if self.max_samples is not None:
                given = replace(given, samples=thinned(given.samples, self.max_samples))
            plan = Plan.for_labels(recipe, asked, *given.samples.shape)
            notes += check_neighbors(self, given, plan.n_neighbors or 0)
            triplets = None
        else:
            plan = Plan.for_triplets(recipe, asked, len(given.triplets))
            triplets = GivenTriplets(given.triplets[: plan.n_triplets])
        check_batch(self, plan.n_triplets or 0, plan.batch_triplets)
        init, rngs = resolved_init(self.init, given.samples), random_streams(self.random_state)
        k, d = self.n_components, given.samples.shape[1]
        rounds: TripletRounds | FactorRound
        if k is not None and k < d and triplets is None:
            rounds = FactorRound(given.samples, initial_map(init, given.samples), k, rngs[0])
        else:
            rounds = TripletRounds(*Coordinates.of(init, given.samples), plan, rngs, triplets, k)
        prepared = perf_counter() - started
        learned, history = self._trained(
            given, rounds, rounds.n_steps, rounds.components, "triplet_curve_"
        )
        mining = prepared + rounds.mining_seconds
        return {
            **learned,
            **{f"{name}_": getattr(plan, name) for name in RESOLVED},
            "init_": init,
            "notes_": notes,
            "n_projections_": history.n_projections,
            "mining_seconds_": mining,
            "solve_seconds_": perf_counter() - started - mining,
            "_last_round_": getattr(rounds.solver, "facts", None),
        }

    def _checked_recipe(self, given: Given, rank: int) -> Recipe:
        """The recipe; raise for settings that contradict it, or samples of this rank."""
        method = self.method
        recipe = method if isinstance(method, Recipe) else RECIPES[method]()
        if not recipe.batched and self.batch_size not in (None, 1):
            raise ValueError(
                f"{type(self).__name__}(method={self.method!r}) takes one triplet at a time, got "
                f"batch_size={self.batch_size}: leave batch_size out, or choose 'mini-sgd', "
                "'hr-sgd' or 'ha-sgd'."
            )
        check_init(self, given)
        of_trace = recipe.projection == "frank-wolfe"
        size = rank if of_trace else rank**0.5
        if size > self.radius:
            raise ValueError(
                f"{type(self).__name__} starts at the identity, whose "
                f"{'trace' if of_trace else 'norm'} {size:.4g} (in {rank} dimensions) exceeds "
                f"radius={self.radius:g}: raise radius above it."
            )
        return recipe

    def _learn_batch(self, given: Given, add: Callable[[TripletStream], None]) -> Self:
        """Learn from what ``add`` adds to a copy of the stream, at the first call a new one."""
        started = perf_counter()
        X = in_memory(given.samples).X
        stream = self._new_stream(given, X) if self._stream_ is None else deepcopy(self._stream_)
        stream.moments.add(X, np.zeros(len(X)))
        add(stream)
        mined = perf_counter()
        stream.learn()
        history = stream.history
        learned = {
            "components_": stream.components(self.n_components),
            **stream.resolved,
            **history.attributes("triplet_curve_"),
            "n_projections_": history.n_projections,
            "feature_scale_": np.sqrt(stream.moments.variances),
            "interrupted_": False,
            "mining_seconds_": mined - started,
            "solve_seconds_": perf_counter() - mined,
            "_stream_": stream,
            "_last_round_": stream.solver and stream.solver.facts,
        }
        if stream.classes is not None:
            learned["classes_"] = stream.classes
        return self._keep(given, learned)

    def _new_stream(self, given: Given, X: npt.NDArray[Any]) -> TripletStream:
        recipe = self._checked_recipe(given, X.shape[1])
        init = resolved_init(self.init, given.samples)
        labelled = len(given.classes) > 0
        plan = Plan.for_stream(recipe, self.get_params(deep=False), labelled=labelled)
        numbers = {f"{name}_": getattr(plan, name) for name in RESOLVED}
        resolved = {"init_": init, "notes_": [], **numbers}
        start, rngs = initial_map(init, given.samples), random_streams(self.random_state)
        return TripletStream(start, plan, rngs, X, resolved)
