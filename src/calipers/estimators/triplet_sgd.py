"""TripletSGD: the paper's five algorithms as one scikit-learn estimator."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from calipers import recipes
from calipers.arrays import FloatArray, IndexArray
from calipers.estimators import defaults, inputs
from calipers.estimators.coordinates import (
    KINDS,
    Coordinates,
    basis_of,
    best_coordinates,
    coordinates,
    images,
)
from calipers.estimators.defaults import Pace
from calipers.estimators.from_triplets import TripletLearner
from calipers.estimators.guard import N_FOLDS
from calipers.estimators.guarded import Advice, GuardedLearner
from calipers.estimators.interrupt import InterruptedFitWarning
from calipers.estimators.stages import Staged, shares
from calipers.estimators.streams import StreamLearner
from calipers.losses import SmoothHinge
from calipers.metric import factor
from calipers.projections import AtOnce, Never, NowAndThen, OnlyOnce, Rule
from calipers.sampling import ByGradientNorm, ByRunningNorm, NormRule, largest_norm
from calipers.solver import Recipe, Solver
from calipers.theory import Theory
from calipers.triplets import (
    LARGEST_PORTION,
    CrossedTriplets,
    GivenTriplets,
    Rows,
    RowsInMemory,
    Source,
    each_far_row_once,
)

METHODS = ("sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")
ONE_BY_ONE = ("sgd", "as-sgd")  # whose batches are of one triplet


class TripletSGD(StreamLearner, GuardedLearner, TripletLearner[Staged]):
    """Learn a Mahalanobis metric from triplets by adaptive, mini-batch SGD.

    Implements Qian, Jin, Yi, Zhang and Zhu, "Efficient Distance Metric Learning by
    Adaptive Sampling and Mini-Batch Stochastic Gradient Descent": a metric M under which
    each row is closer to a near row (of its class) than to a far row (of another class),
    by a margin of 1.

    Parameters
    ----------
    method : {"auto", "sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd"}, default="auto"
        Which of the paper's algorithms: an update at every triplet; at every batch; at a
        triplet with the probability of its slope; at a batch with the probability of the
        slope of one of it (HR) or of its gradient's norm (HA). "auto" is "mini-sgd" in large
        batches: rows are taken as anchors one after the other, each with all triplets that its
        neighbours make.
    n_triplets : int or None, default=None
        Triplets to draw (N). Whole batches are used; a rest is left out. None is 100,000, and
        where `method` is "auto" as many as all rows have, twice in every stage (2,000 to 40,000
        rows); with more than 48 features one and a half times (1,000 to 4,000 rows, beyond 600
        features fewer).
    batch_size : int or None, default=None
        Triplets in a batch (b); "sgd" and "as-sgd" always take one. None is 10, and where `method`
        is "auto" all triplets of 20 rows, with more than 48 features of 40, or of a sixth as many
        as features, or of as many as make 20 updates; ``fit_triplets`` and ``partial_fit`` always
        take 10 then.
    learning_rate : float or None, default=None
        Step size (eta). None is 1, or where `method` is "auto" and `batch_size` None 1.25 for every
        anchor of a batch.
    smoothness : float or None, default=None
        L of the loss ``log(1 + exp(-L * (margin - 1))) / L``. None is 3, or 6 with more than 48
        features where `method` is "auto" and `batch_size` None.
    radius : float, default=1000.0
        Largest Frobenius norm of M (R), in the units of `scale` and the coordinates of a stage.
    n_neighbors : int or None, default=None
        Near and far rows are drawn among this many nearest ones of either side. None is 3 up to
        48 features, else 5; `guard` then also learns from 20.
    n_components : int or None, default=None
        Rows of ``components_``; None keeps as many as there are features.
    scale : {"triplets", "none"}, default="triplets"
        Units in which the margin is 1. "triplets" measures X by the median length of the
        far differences, so that the result does not depend on the scale of X; "none"
        takes X as it is. Where `method` is "auto" and `batch_size` None, rows whose far rows are
        more than twice as far away are brought back to that, lest they lead.
    gradient_bound : {"triplet", "batch", "bound", "running"}, default="triplet"
        How HA-SGD estimates the largest gradient norm (W): from single triplets, from
        batches, from a bound that holds for every metric, or as the largest so far.
    tau_max : float or None, default=None
        Largest factor 1 / probability by which an accepted step is lengthened.
    batch_reduce : {"mean", "sum"}, default="mean"
        Whether a step is the mean or the sum over its batch.
    average : bool, default=True
        Return the mean of all iterates (as the paper does) or the last one.
    projection : int or {"every", "once", "never"}, default="every"
        How M stays positive semi-definite. "every" update ends with a projection, as in the
        paper; with a number, every so many-th does, and the result, which is sooner done but may
        do harm where labels are noise. The others are from the paper's related work: "once"
        adds a penalty on the lowest eigenvalue and projects the result (Mahdavi et al. 2012),
        "never" takes Frank-Wolfe steps among matrices of trace at most `radius` (Hazan and Kale
        2012), for which `learning_rate` has no meaning.
    start : {"auto", "identity", "features", "classes"}, default="auto"
        The metric to start from and to find neighbours in: X as it is, each feature divided by
        its standard deviation, or the inverse of the covariance within classes (shrunk).
        "auto" is "identity", unless clearly fewer rows are taken for another class by their three
        nearest with another ("classes" is tried with up to 5,000 rows, and 5 for every feature).
    n_stages : int or None, default=None
        The triplets are shared among this many stages: each draws its own among neighbours, and
        starts, in the coordinates of the metric that was learned before. None is 3 up to 48
        features, else 2, or 1 where `method` is given. ``fit_triplets``, whose triplets are given,
        has one.
    guard : bool, default=True
        With 20 to 1,000 labelled rows (beyond 48 features to 300), and with more if a ninth of them
        (beyond 128 features a quarter) is taken for another class by its three nearest to begin
        with, or two ninths (half) of as many as are not of the largest class, see what learning is
        worth: two thirds of the rows, of 3,000 at most, are learned from with a third of the
        triplets, and the rest is asked how many of the rows around it are of its class, and what
        its three nearest take it for. Where `n_neighbors` is None they are also learned from with
        20 neighbours, and ``components_`` is the mean of the metric of all rows, those of 20
        neighbours, the start and, if that is better, the inverse of the covariance within classes;
        with more than 3,000 rows, only if this is clearly better than the metric alone. Unless the
        result is clearly better than no metric by both, ``components_`` is the identity, and
        ``notes_`` says so. Not with `n_components`.
    random_state : int, RandomState instance or None, default=None
        Seeds three independent streams: triplets, acceptance, choice within a batch.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L; ``transform`` is ``X @ components_.T``.
    method_, start_ : str
        The algorithm and the start, where "auto" chose them.
    n_stages_ : int
        Stages that were taken.
    n_updates_ : int
        Updates, those included that are too small to change M.
    n_projections_ : int
        Updates that left the positive semi-definite cone, so that eigenvalues were cut.
    n_iter_ : int
        Batches seen.
    loss_curve_ : ndarray of shape (n_points,)
        Mean loss of the triplets met since the point before, each at its iterate.
    update_curve_ : ndarray of shape (n_points,)
        Updates up to each point.
    triplet_curve_ : ndarray of shape (n_points,)
        Triplets seen up to each point.
    mining_seconds_, solve_seconds_ : float
        Time to make the triplets, and to learn from them.
    notes_ : list of str
        Sentences about the data that are worth knowing but are no cause for a warning.
    classes_ : ndarray of shape (n_classes,)
        Labels seen by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had string column names.

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
        "method": [str],
        "n_triplets": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "smoothness": [Interval(Real, 0, None, closed="neither"), None],
        "radius": [Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "scale": [StrOptions({"triplets", "none"})],
        "gradient_bound": [StrOptions({"triplet", "batch", "bound", "running"})],
        "tau_max": [Interval(Real, 0, None, closed="neither"), None],
        "batch_reduce": [StrOptions({"mean", "sum"})],
        "average": ["boolean"],
        "projection": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"every", "once", "never"}),
        ],
        "start": [StrOptions({"auto", *KINDS})],
        "n_stages": [Interval(Integral, 1, None, closed="left"), None],
        "guard": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        method: str = "auto",
        *,
        n_triplets: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        smoothness: float | None = None,
        radius: float = 1000.0,
        n_neighbors: int | None = None,
        n_components: int | None = None,
        scale: Literal["triplets", "none"] = "triplets",
        gradient_bound: NormRule = "triplet",
        tau_max: float | None = None,
        batch_reduce: Literal["mean", "sum"] = "mean",
        average: bool = True,
        projection: int | Literal["every", "once", "never"] = "every",
        start: Literal["auto", "identity", "features", "classes"] = "auto",
        n_stages: int | None = None,
        guard: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.method = method
        self.n_triplets = n_triplets
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.smoothness = smoothness
        self.radius = radius
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.scale = scale
        self.gradient_bound = gradient_bound
        self.tau_max = tau_max
        self.batch_reduce = batch_reduce
        self.average = average
        self.projection = projection
        self.start = start
        self.n_stages = n_stages
        self.guard = guard
        self.random_state = random_state

    def theory(self, delta: float = 0.01) -> Theory:
        """Evaluate the paper's two theorems for the last stage of this fit.

        See :class:`calipers.theory.Theory`.
        """
        check_is_fitted(self)
        if self.projection != "every":
            raise ValueError(
                "The theorems are about walks that are projected at every update, got "
                f"projection={self.projection!r}: fit with projection='every'."
            )
        return Theory(**self._theory_facts, delta=delta)

    def _start(self, rows: Rows, source: Source, rngs: list[np.random.Generator]) -> Staged:
        self.method_ = "mini-sgd" if self.method == "auto" else self.method
        later = [] if isinstance(source, GivenTriplets) else self._shares(rows)[1:]
        self.n_stages_ = 1 + len(later)
        return Staged(self._solver(rows, source, rngs), later)

    def _solver(self, rows: Rows, source: Source, rngs: list[np.random.Generator]) -> Solver:
        """A solver at the identity, in the units of the margin."""
        accept_rng, pick_rng = rngs
        first = next(source.portions(LARGEST_PORTION))
        X, first = rows.local(first, n_columns=self._row_columns)
        pace = self._pace(rows)
        first = each_far_row_once(first, pace.crossed)
        unit = 1.0 if self.scale == "none" else inputs.margin_unit(X, first)
        recipe = self._recipe(X, first, unit, pace, pick_rng)
        inputs.check_batches(type(self).__name__, len(source), recipe.batch_size)
        return Solver(recipe, X.shape[1], accept_rng=accept_rng, pick_rng=pick_rng, start=unit)

    def _enough_neighbors(self, n_features: int) -> int:
        return defaults.neighbors(n_features)

    def _enough_stages(self, n_features: int) -> int:
        return int(self.n_stages or defaults.stages(n_features, named=self.method != "auto"))

    def _shares(self, rows: Rows) -> list[int]:
        n_stages = self._enough_stages(rows.shape[1])
        return shares(super()._shares(rows)[0], n_stages, self._pace(rows).batch_size)

    def _pace(self, rows: Rows) -> Pace:
        """Batches, steps and loss; where nothing is named and labels are known, by anchors."""
        pace = Pace()
        if self.method in ONE_BY_ONE:
            pace = Pace(batch_size=1)
        elif self.batch_size:
            pace = Pace(int(self.batch_size))
        elif self.method == "auto" and len(rows.class_sizes):
            d, n_triplets = rows.shape[1], TripletLearner._shares(self, rows)[0]
            of_stage = n_triplets // self._enough_stages(d)
            pace = defaults.crossed_pace(of_stage, self._neighbors(d), d)
        return pace._replace(
            learning_rate=float(self.learning_rate or pace.learning_rate),
            smoothness=float(self.smoothness or pace.smoothness),
        )

    def _drawn(self, rows: Rows, n_triplets: int, rng: np.random.Generator) -> Source:
        k = self._pace(rows).crossed
        if k == 1:
            return super()._drawn(rows, n_triplets, rng)
        return CrossedTriplets(rows, n_triplets, n_neighbors=k, rng=rng)

    def _later_shares(self, learner: Staged) -> list[int]:
        return learner.later

    def _next_stage(self, learner: Staged, rows: Rows) -> tuple[Rows, Source] | None:
        """Draw anew, in the coordinates of what was learned so far."""
        if not learner.later:
            return None
        learned = factor(self._walked(learner.solver))
        self._coordinates = self._coordinates.then(learned, learner.solver.start)
        rows = rows.mapped(Coordinates("learned", learned).of)
        rngs = [learner.solver.accept_rng, learner.solver.pick_rng]
        (rng,) = rngs[0].spawn(1)
        source = self._drawn(rows, learner.later[0], rng)
        learner.follow(self._solver(rows, source, rngs))
        return rows, source

    def _into_coordinates(self, rows: Rows) -> Rows:
        self._advice = Advice()
        has_labels = len(rows.class_sizes) > 0
        if not has_labels and self.start == "classes":
            raise ValueError(
                "TripletSGD(start='classes') needs the classes of the rows, which fit_triplets is "
                "not told: choose start='features' or 'identity'."
            )
        if self.start != "auto":
            self._coordinates = coordinates(self.start, rows)
        elif has_labels:
            self._coordinates, self._doubt = best_coordinates(rows)
        else:
            self._coordinates = coordinates("identity", rows)
        self.start_ = self._coordinates.kind
        return rows if self.start_ == "identity" else rows.mapped(self._coordinates.of)

    def _spanned(self, rows: Rows) -> Rows:
        """Rows that are fewer than their features in a basis of their differences.

        No walk leaves it: elsewhere M stays what it was at the start.
        """
        n, d = rows.shape
        if self.method != "auto" or n >= d:
            return rows
        numbers = np.arange(n)
        X = rows.take(numbers).astype(np.float64)
        basis = basis_of(X)
        self._coordinates = self._coordinates.within(basis)
        return RowsInMemory(images(X, basis.T), rows.labels_of(numbers))

    def _tried(
        self, X: FloatArray, y: IndexArray, seed: int, n_neighbors: int
    ) -> FloatArray | None:
        settings = {name: getattr(self, name) for name in TripletSGD._get_param_names()}
        settings |= {"guard": False, "start": self.start_, "n_neighbors": n_neighbors}
        trial, rows = _Trial(**{**settings, "random_state": seed}), RowsInMemory(X, y)
        enough = TripletLearner._shares(trial, rows)[0] // N_FOLDS
        trial.n_triplets = max(trial._pace(rows).batch_size, enough)
        with warnings.catch_warnings(category=InterruptedFitWarning, action="ignore"):
            self.interrupted_ = trial.fit(X, y).interrupted_
        return None if self.interrupted_ else trial.metric_

    def _enough_triplets(self, rows: Rows) -> int:
        if self.method != "auto" or self.batch_size:
            return defaults.MOST_TRIPLETS
        n, d = rows.shape
        return self._enough_stages(d) * defaults.triplets(n, d, self._neighbors(d))

    def _metric(self, learner: Staged) -> FloatArray:
        solver = learner.solver
        return self._advised(self._coordinates.pull_back(self._walked(solver), solver.start))

    def _walked(self, solver: Solver) -> FloatArray:
        return solver.average if self.average else solver.last

    def _set_fitted(self, learner: Staged) -> None:
        super()._set_fitted(learner)
        self.n_projections_ = learner.n_projections
        self.triplet_curve_ = np.array([point.n_triplets for point in learner.curve])
        solver = learner.solver
        tally = solver.iterate.tally[0]
        self._theory_facts: dict[str, Any] = {
            "n_triplets": solver.n_iterations * solver.recipe.batch_size,
            "batch_size": solver.recipe.batch_size,
            "n_updates": solver.n_updates,
            "learning_rate": solver.recipe.learning_rate,
            "smoothness": cast(SmoothHinge, solver.recipe.loss).smoothness,
            "radius": solver.recipe.radius,
            "start": solver.start,
            "n_features": self.n_features_in_,
            "largest_norm": float(tally["largest"]),
            "summed_loss": float(tally["loss"]) * solver.recipe.batch_size,
            "summed_slope": float(tally["slope"]) * solver.recipe.batch_size,
        }

    def _recipe(
        self,
        X: npt.NDArray[Any],
        triplets: IndexArray,
        unit: float,
        pace: Pace,
        rng: np.random.Generator,
    ) -> Recipe:
        """The method's parts, with the settings translated into the units of X.

        Learning from ``sqrt(unit) * X`` from I is the same as learning from X from
        ``unit * I`` with the step times ``unit**2`` and the radius times ``unit``.
        """
        loss = SmoothHinge(pace.smoothness)
        typical = inputs.typical_far(X, triplets) ** 0.5
        parts: dict[str, Any] = {
            "loss": loss,
            "learning_rate": pace.learning_rate * unit**2,
            "radius": float(self.radius) * unit,
            "reach": pace.reach * typical if typical else np.inf,
            "longest": np.inf if self.tau_max is None else float(self.tau_max),
            "sum_over_batch": self.batch_reduce == "sum",
            "rule": self._rule(unit),
        }
        if self.method_ == "sgd":
            return recipes.sgd(**parts)
        if self.method_ == "as-sgd":
            return recipes.as_sgd(**parts)
        parts["batch_size"] = pace.batch_size
        if self.method_ == "mini-sgd":
            return recipes.mini_sgd(crossed=pace.crossed, **parts)
        if self.method_ == "hr-sgd":
            return recipes.hr_sgd(**parts)
        if self.gradient_bound == "running":
            return recipes.ha_sgd(policy=ByRunningNorm(np.zeros(1)), **parts)
        largest = largest_norm(
            X,
            triplets,
            loss=loss,
            start=unit,
            batch_size=pace.batch_size,
            rule=self.gradient_bound,
            rng=rng,
        )
        return recipes.ha_sgd(policy=ByGradientNorm(largest), **parts)

    def _rule(self, unit: float) -> Rule:
        if self.projection == "once":
            return OnlyOnce(unit=unit)
        if self.projection == "never":
            return Never(float(self.radius) * unit)
        return AtOnce() if self.projection == "every" else NowAndThen(int(self.projection))

    def _check_settings(self, rows: Rows) -> None:
        inputs.check_name(type(self).__name__, "method", self.method, ("auto", *METHODS))
        super()._check_settings(rows)
        self._check_names(rows.shape[1])

    def _check_names(self, n_features: int) -> None:
        owner = type(self).__name__
        inputs.check_name(owner, "method", self.method, ("auto", *METHODS))
        of = "trace" if self.projection == "never" else "norm"
        inputs.check_radius(owner, self.radius, n_features, of=of)
        inputs.check_components(owner, self.n_components, n_features)


class _Trial(TripletSGD):
    """Keeps M as it is: of many features, to factor it takes longer than all else."""

    metric_: FloatArray

    def _learned(self, learner: Staged) -> dict[str, Any]:
        return {"metric_": self._metric(learner)}
