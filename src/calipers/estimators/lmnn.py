"""LMNN: the batch method that the paper compares with.

In reading order: the objective (`LargeMargin`), the descent (`descend`), the estimator.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from threading import Lock
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, svd
from sklearn.base import _fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import validate_data

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators import inputs
from calipers.metric import MahalanobisMixin, factor
from calipers.threads import single_threaded_blas, spread
from calipers.triplets import nearest_same_and_other

_BLOCK_NUMBERS = 2**21  # distances looked at in one go: 8 MB in float32
_KEPT_PAIRS = 2**24  # pairs of rows that are kept for later: 64 MB
_SEARCHED_PER_WEIGHED = 16  # pairs that a search looks at in the time a listed pair takes
_FLATTEST = 1e-8  # of the largest eigenvalue of the pull: beyond it no stretching
_MEMORY = 10  # pairs of steps and changes of the gradient that L-BFGS remembers
_MOST_TRIALS = 50  # of step lengths along one direction
_WINDOW = 5  # iterations over which the change of the objective is averaged


@dataclass(frozen=True)
class Value:
    """The objective at one L, and what its gradient is made of."""

    objective: float
    n_active: int
    L: FloatArray
    mixed: FloatArray
    counts: IndexArray


class LargeMargin:
    """Weinberger and Saul's objective, exact at every L.

    With T(i) the nearest rows of i's class in the Euclidean distance, and M = L'L::

        (1 - mu) sum_{i, j in T(i)} d_M(i, j)^2
            + mu sum_{i, j in T(i)} sum_{l of another class} [1 + d_M(i, j)^2 - d_M(i, l)^2]_+

    A row's list holds all rows l of other classes within ``s_i + e_l`` of it in an image Z0
    of the rows. By the triangle inequality no other row can be an impostor in the image Z as
    long as ``radius_i + |z_i - z0_i| <= s_i`` and ``|z_l - z0_l| <= e_l`` for all rows; where
    that fails, lists are made afresh, to serve for as many steps as pays. Lists too long to
    be kept are made for every evaluation, in blocks of anchors that do not depend on the
    number of threads.
    """

    def __init__(
        self, X: npt.NDArray[Any], labels: IndexArray, *, n_neighbors: int, push_weight: float
    ) -> None:
        order = np.argsort(labels, kind="stable")
        X, labels = X[order], labels[order]
        self.push_weight = push_weight
        self.targets, _ = nearest_same_and_other(
            X, labels, np.arange(len(X)), n_same=n_neighbors, n_other=1
        )
        rows = X.astype(np.float64)
        self.X = np.ascontiguousarray(rows - rows.mean(axis=0))
        stops = np.cumsum(np.bincount(labels))
        self.own = np.stack([np.concatenate([[0], stops[:-1]])[labels], stops[labels]], axis=1)
        n = len(X)
        size = max(1, min(128, _BLOCK_NUMBERS // n))
        self.blocks = [slice(first, min(first + size, n)) for first in range(0, n, size)]
        self.pull = self._pull()
        self._lists: list[Any] = [None] * len(self.blocks)
        self._reference: FloatArray | None = None
        self._reach = self._allowed = np.zeros(n)
        self._age, self._wasted, self._steps_ahead = 0, 0, 0.5

    @property
    def n_pulled(self) -> int:
        """Pairs of a row and its target."""
        return int(np.count_nonzero(self.targets >= 0))

    def change_coordinates(self, T: FloatArray) -> None:
        """Go over from rows x to ``T'x``; an L of before is ``L' T'`` of after."""
        self.X = np.ascontiguousarray(self.X @ T)
        self.pull = T.T @ self.pull @ T
        self._reference = None

    def at(self, L: FloatArray) -> Value:
        """Evaluate at L of shape (any, d)."""
        from calipers.kernels.impostors import measure_targets, weigh

        Z, radii = np.empty((len(self.X), len(L))), np.empty(self.targets.shape)
        _fill(Z, lambda part: self.X[part] @ L.T, self.blocks)
        spread(lambda b: measure_targets(Z, self.targets, b.start, radii[b]), self.blocks)
        fresh = self._look_up(Z, np.sqrt(radii.max(axis=1)))
        mixed, counts, lock = np.empty_like(self.X), np.zeros(len(Z), dtype=np.intp), Lock()

        def evaluate(number: int) -> tuple[float, int, int]:
            block, kept = self.blocks[number], self._lists[number]
            lists = kept if fresh is None or kept is not None else fresh.find(block)
            own_counts = np.zeros_like(counts)
            result = weigh(
                (self.X, Z), self.targets, radii, block.start, lists, (mixed, own_counts)
            )
            with lock:  # whole numbers: their sum does not depend on the order
                np.add(counts, own_counts, out=counts)
            if len(lists[1]) <= _KEPT_PAIRS // len(self.blocks):
                self._lists[number] = lists
            return float(result[0]), int(result[1]), len(lists[1])

        pushes, n_active, n_listed = zip(*spread(evaluate, range(len(self.blocks))), strict=True)
        self._wasted += max(0, sum(n_listed) - sum(n_active))
        pull = float(radii.sum()) - self.n_pulled
        objective = (1.0 - self.push_weight) * pull + self.push_weight * sum(pushes)
        return Value(objective, sum(n_active), L, mixed, counts)

    def gradient(self, value: Value) -> FloatArray:
        """Derivative by L: ``2 L G``, G the derivative by M.

        The violated triplets' part of G is ``X' (D - W - W') X``, a graph's Laplacian: W
        has the weights n_ij and -n_il of `calipers.kernels.impostors.weigh`, whose rows
        sum to 0, so that D has only the sums of columns.
        """
        n, d = self.X.shape
        size = max(256, -(-n // 16))

        def half(first: int) -> FloatArray:
            part = slice(first, first + size)
            rows = self.X[part]
            scaled = (0.5 * value.counts[part])[:, None] * rows - value.mixed[part]
            return np.asarray(rows.T @ scaled)

        total = np.zeros((d, d))
        for part in spread(half, range(0, n, size)):
            total += part
        G = (1.0 - self.push_weight) * self.pull + self.push_weight * (total + total.T)
        return np.asarray(2.0 * value.L @ G)

    def _look_up(self, Z: FloatArray, radii: FloatArray) -> Finder | None:
        """Drop lists that no longer serve; returns what makes those that are not there."""
        self._age += 1
        ahead = none = np.zeros(len(Z))
        if self._reference is not None:
            moved = _lengths(Z - self._reference)
            fits = (radii + moved <= self._reach) | (radii == 0.0)
            too_long = _SEARCHED_PER_WEIGHED * self._wasted > len(Z) ** 2
            if not too_long and fits.all() and (moved <= self._allowed).all():
                all_kept = all(lists is not None for lists in self._lists)
                return None if all_kept else Finder(Z, self.own, radii, none)
            self._steps_ahead *= 0.5 if too_long else 1.5
            ahead = self._steps_ahead / self._age * moved
        self._lists = [None] * len(self.blocks)
        self._reference, self._age, self._wasted = Z, 0, 0
        # a radius changes as its two rows move
        self._reach, self._allowed = np.where(radii > 0.0, radii + 2.0 * ahead, 0.0), ahead
        return Finder(Z, self.own, self._reach, self._allowed)

    def _pull(self) -> FloatArray:
        """Sum of ``(x_i - x_j)(x_i - x_j)'`` over all targets."""
        total = np.zeros((self.X.shape[1],) * 2)
        for block in self.blocks:
            for column in self.targets[block].T:
                has = column >= 0
                difference = self.X[block][has] - self.X[column[has]]
                total += difference.T @ difference
        return total


class Finder:
    """Rows l of other classes within ``reach_i + allowed_l`` of row i, for blocks of anchors.

    A product in float32 gives ``|z_l|^2 - 2 z_i.z_l - 2 reach_i allowed_l - allowed_l^2``,
    less its error, so that no row within reach is left out; a few beyond do no harm.
    """

    def __init__(
        self, Z: FloatArray, own: IndexArray, reach: FloatArray, allowed: FloatArray
    ) -> None:
        n, d = Z.shape
        lengths = _lengths(Z)
        unit = 1.0 / max(float(a.max()) for a in (lengths, reach, allowed))
        error = (d + 20) * float(np.finfo(np.float32).eps)
        squared = (1.0 - error) * (unit * lengths) ** 2
        limits = (1.0 + 2.0 * error) * (unit * reach) ** 2 - squared
        limits += 1e-6 * np.abs(limits) + 1e-30
        self.own = own
        self.limits = np.where(reach > 0.0, limits, -np.inf).astype(np.float32)
        self.reach = (unit * reach).astype(np.float32)
        self.placed = np.empty((d + 2, n), dtype=np.float32)
        np.multiply(Z.T, unit, out=self.placed[:d], casting="same_kind")
        self.placed[d] = unit * allowed
        self.placed[d + 1] = squared - (1.0 + 2.0 * error) * (unit * allowed) ** 2

    def find(self, block: slice) -> tuple[IndexArray, npt.NDArray[np.int32]]:
        """Where the list of each anchor of the block starts, and the lists."""
        from calipers.kernels.impostors import columns_below

        anchors = np.float32(-2.0) * self.placed[:, block].T
        anchors[:, -2] = np.float32(-2.0) * self.reach[block]
        anchors[:, -1] = 1.0
        found: tuple[IndexArray, npt.NDArray[np.int32]] = columns_below(
            anchors @ self.placed, self.limits[block], self.own[block]
        )
        return found


def _lengths(rows: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def _fill(out: FloatArray, make: Any, parts: list[slice]) -> None:
    def one(part: slice) -> None:
        out[part] = make(part)

    spread(one, parts)


@dataclass(frozen=True)
class Frame:
    """Coordinates ``T'x`` in which the mean of the pull's outer products is about I.

    Where there are no more rows than features they are coordinates in the span of the
    rows: outside of it the metric stays as at the start.
    """

    T: FloatArray
    identity: FloatArray
    span: FloatArray | None

    @classmethod
    def of(cls, problem: LargeMargin) -> Frame:
        """The frame for rows and targets; ``identity`` is an L of M = I in it."""
        X, pull, span = problem.X, problem.pull, None
        if len(X) <= X.shape[1]:
            _, lengths, axes = svd(X, full_matrices=False)
            span = axes[lengths > 1e-12 * lengths[0]].T
            pull = span.T @ pull @ span
        values, vectors = eigh(pull)
        values, vectors = values[::-1], vectors[:, ::-1]  # long directions first
        largest = values[0] if values[0] > 0.0 else float(np.vdot(X, X))
        lengths = np.sqrt(np.maximum(values, _FLATTEST * largest) / problem.n_pulled)
        T = vectors / lengths
        return cls(T if span is None else span @ T, np.diag(lengths), span)

    def metric(self, L: FloatArray, scale: float) -> FloatArray:
        """M for the L of this frame; outside the span it is ``scale`` times I."""
        whole = L @ self.T.T
        M = whole.T @ whole
        if self.span is None:
            return np.asarray(M)
        return np.asarray(M + scale * (np.eye(len(M)) - self.span @ self.span.T))


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
    objective_curve_ : ndarray of shape (n_updates_ + 1,)
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
    feature_names_in_ : ndarray of shape (n_features_in_,)
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
        inputs.refuse_sparse(owner, X)
        rows, labels_given = validate_data(
            self, X, y, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2
        )
        self.notes_ = inputs.check_magnitude(rows)
        inputs.check_differences(float(np.ptp(rows, axis=0).max()) ** 2)
        inputs.check_components(owner, self.n_components, rows.shape[1])
        self.classes_, labels = inputs.encode_labels(owner, labels_given)
        inputs.check_neighbors(owner, self.n_neighbors, labels)
        inputs.warn_lonely(self.classes_, labels)
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
