"""LMNN: the batch method that the paper compares with.

Its objective is in `calipers.estimators.large_margin`; here are the descent, then the
estimator.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators import inputs
from calipers.estimators.large_margin import Frame, LargeMargin, Value
from calipers.metric import MahalanobisMixin, factor
from calipers.threads import single_threaded_blas
from calipers.triplets import RowsInMemory

_MEMORY = 10  # pairs of steps and changes of the gradient that L-BFGS remembers
_MOST_TRIALS = 50  # of step lengths along one direction
_WINDOW = 5  # iterations over which the change of the objective is averaged


def _best_multiple(problem: LargeMargin, frame: Frame) -> tuple[Value, float]:
    """The value at the best of 4^m c I, and that multiple; c makes targets' distances 1."""
    spread_out = float(np.trace(frame.identity.T @ frame.identity))
    scale = 1.0 / spread_out
    value = problem.at(np.sqrt(scale) * frame.identity)
    factor_of_4 = 4.0 if np.vdot(problem.gradient(value), value.L) < 0.0 else 0.25
    while True:
        other = problem.at(np.sqrt(factor_of_4 * scale) * frame.identity)
        if not other.objective < value.objective:
            return value, scale
        value, scale = other, factor_of_4 * scale


def descend(problem: LargeMargin, start: Value, *, tol: float) -> Iterator[tuple[Value, bool]]:
    """Yield ever lower values, by L-BFGS in L, and whether they hardly fall any more.

    Steps obey the weak Wolfe conditions, found by bisection, which also serves where the
    objective has kinks (Lewis and Overton 2013).
    """
    value, slope = start, problem.gradient(start)
    steps: list[tuple[FloatArray, FloatArray]] = []
    curve = [value.objective]
    while slope.any():
        direction = -_times_inverse_hessian(steps, slope, value.objective)
        found = _search_line(problem, value, slope, direction)
        if found is None:
            if not steps:
                return  # not even straight down: at a kink, or rounding is all there is
            steps.clear()
            continue
        lower, lower_slope = found
        steps.append((lower.L - value.L, lower_slope - slope))
        del steps[:-_MEMORY]
        value, slope = lower, lower_slope
        curve.append(value.objective)
        fell = curve[-1 - _WINDOW] - curve[-1] if len(curve) > _WINDOW else np.inf
        yield value, bool(fell <= _WINDOW * tol * curve[-1])


def _times_inverse_hessian(
    steps: list[tuple[FloatArray, FloatArray]], slope: FloatArray, objective: float
) -> FloatArray:
    """L-BFGS's two loops; without memory a step that would bring a cone down to 0."""
    result, shares = slope.copy(), []
    for step, change in reversed(steps):
        shares.append(float(np.vdot(step, result) / np.vdot(step, change)))
        result -= shares[-1] * change
    if not steps:
        return np.asarray(result * (objective / np.vdot(slope, slope)))
    step, change = steps[-1]
    result *= np.vdot(step, change) / np.vdot(change, change)
    for (step, change), share in zip(steps, reversed(shares), strict=True):
        result += step * (share - np.vdot(change, result) / np.vdot(step, change))
    return result


def _search_line(
    problem: LargeMargin, value: Value, slope: FloatArray, direction: FloatArray
) -> tuple[Value, FloatArray] | None:
    """A lower value along the direction, and its gradient; None if there seems to be none."""
    descent = float(np.vdot(slope, direction))
    shortest, longest, length = 0.0, np.inf, 1.0
    best: tuple[Value, FloatArray] | None = None
    for _ in range(_MOST_TRIALS):
        tried = problem.at(value.L + length * direction)
        if not tried.objective < value.objective + 1e-4 * length * descent:
            longest = length
        else:
            tried_slope = problem.gradient(tried)
            best = tried, tried_slope
            if np.vdot(tried_slope, direction) >= 0.9 * descent:
                return best
            shortest = length
        length = 2.0 * shortest if longest == np.inf else 0.5 * (shortest + longest)
    # bisection has come down on a kink: lower is lower, but only a change of the gradient
    # along the step tells of curvature
    if best is None or np.vdot(best[1] - slope, direction) <= 0.0:
        return None
    return best


class LMNN(CallbackSupportMixin, MahalanobisMixin):  # type: ignore[misc]
    """Large margin nearest neighbours: pull targets near, push impostors away.

    Implements Weinberger and Saul, "Distance Metric Learning for Large Margin Nearest
    Neighbor Classification" (2009): minimises, over positive semi-definite M and with T(i)
    the `n_neighbors` nearest rows of i's class in the Euclidean distance::

        (1 - mu) sum_{i, j in T(i)} d_M(i, j)^2
            + mu sum_{i, j in T(i)} sum_{l of another class} [1 + d_M(i, j)^2 - d_M(i, l)^2]_+

    Every value of the objective is exact: each counts all impostors. It is minimised over L
    with M = L'L, by L-BFGS, in coordinates in which the pull is round. Projected gradients in
    M with the customary rule for the step (longer by 1 % after a fall, else halved) end at the
    same or a higher value, after many times the iterations.

    Parameters
    ----------
    n_neighbors : int, default=3
        Targets of each row (k); a class with fewer other rows has fewer.
    push_weight : float, default=0.5
        Weight of the push (mu), above 0 and at most 1.
    max_iter : int, default=1000
        Most iterations; a ConvergenceWarning says if they did not suffice.
    tol : float, default=1e-5
        Stop once an iteration lowers the objective by less than this share of it, on
        average over five.
    n_components : int or None, default=None
        Rows of ``components_``; None keeps as many as there are features. Fewer are those
        of the largest eigenvalues of M; they are not learned for their number.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L; ``transform`` is ``X @ components_.T``.
    objective_ : float
        The objective at M.
    objective_curve_ : ndarray of shape (n_updates + 1,)
        The objective at the start, a multiple of the identity, and after every step.
    n_iter_, n_updates_ : int
        Steps; each lowers the objective.
    n_active_ : int
        Triplets with a hinge above 0 at M.
    converged_ : bool
        Whether the steps ended by `tol`.
    mining_seconds_, solve_seconds_ : float
        Time to find the targets, and to learn from them.
    notes_ : list of str
        Sentences about the data that are worth knowing but are no cause for a warning.
    classes_ : ndarray of shape (n_classes,)
        Labels seen by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had string column names.

    Notes
    -----
    The margin is 1 in the units of X squared: features that are small numbers make M a
    large matrix, but k-NN does not depend on that. The objective is convex in M, so neither
    the start nor the path matters.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from calipers.estimators.lmnn import LMNN
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(LMNN(), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "push_weight": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        push_weight: float = 0.5,
        max_iter: int = 1000,
        tol: float = 1e-5,
        n_components: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.push_weight = push_weight
        self.max_iter = max_iter
        self.tol = tol
        self.n_components = n_components

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> LMNN:
        """Learn from labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Class of each row; numbers or strings.

        Returns
        -------
        LMNN
            The fitted estimator.
        """
        started = perf_counter()
        owner = type(self).__name__
        rows, labels_given = inputs.dense_labelled(self, X, y)
        self.notes_ = inputs.check_magnitude(RowsInMemory(rows))
        inputs.check_differences(float(np.ptp(rows, axis=0).max()) ** 2)
        inputs.check_components(owner, self.n_components, rows.shape[1])
        self.classes_, labels = np.unique(labels_given, return_inverse=True)
        sizes = np.bincount(labels)
        inputs.check_classes(owner, self.classes_, sizes)
        inputs.check_neighbors(owner, self.n_neighbors, sizes)
        inputs.warn_lonely(self.classes_, sizes, stacklevel=4)  # past scikit-learn's wrappers
        _warn_small(self.n_neighbors, self.classes_, labels)
        with single_threaded_blas():
            problem = LargeMargin(
                rows, labels, n_neighbors=self.n_neighbors, push_weight=float(self.push_weight)
            )
            self.mining_seconds_ = perf_counter() - started
            started = perf_counter()
            self._learn(problem, rows, labels_given)
        self.solve_seconds_ = perf_counter() - started
        return self

    def _learn(self, problem: LargeMargin, X: npt.NDArray[Any], y: npt.NDArray[Any]) -> None:
        """Descend, telling callbacks after each step; one may stop it."""
        frame = Frame.of(problem)
        problem.change_coordinates(frame.T)
        value, scale = _best_multiple(problem, frame)
        curve = [value.objective]
        context = self._init_callback_context(max_subtasks=self.max_iter)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)

        def so_far() -> dict[str, Any]:
            return {"components_": factor(frame.metric(value.L, scale), self.n_components)}

        descent = descend(problem, value, tol=float(self.tol))
        converged = stopped = False
        while not converged and not stopped and len(curve) <= self.max_iter:
            step = context.subcontext(task_name="iteration")
            step.call_on_fit_task_begin(estimator=self, X=X, y=y)
            lower, converged = next(descent, (None, True))
            if lower is not None:
                value = lower
                curve.append(value.objective)
            stopped = step.call_on_fit_task_end(
                estimator=self, X=X, y=y, reconstruction_attributes=so_far
            )
        context.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes=so_far)
        self.components_ = so_far()["components_"]
        self.objective_, self.objective_curve_ = value.objective, np.array(curve)
        self.n_iter_ = self.n_updates_ = len(curve) - 1
        self.n_active_, self.converged_ = value.n_active, converged
        if not converged and not stopped:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} steps, while the "
                "objective still fell: raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,  # past fit and scikit-learn's two wrappers of it
            )


def _warn_small(n_neighbors: int, classes: npt.NDArray[Any], labels: IndexArray) -> None:
    """Say once how many classes have fewer targets than asked for."""
    sizes = np.bincount(labels)
    small = classes[(sizes > 1) & (sizes <= n_neighbors)]
    if len(small):
        some = ", ".join(map(repr, small[:3].tolist())) + (", ..." if len(small) > 3 else "")
        warnings.warn(
            f"{len(small)} of {len(classes)} classes have no more than n_neighbors={n_neighbors} "
            f"rows ({some}): their rows have all others of the class as targets.",
            inputs.DataWarning,
            stacklevel=5,  # past fit and scikit-learn's two wrappers of it
        )
