"""LMNN: large margin nearest neighbours, a batch method."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from time import perf_counter
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from calipers.data.samples import in_memory
from calipers.estimators.base import Learned
from calipers.estimators.checks import (
    AT_LEAST_ONE,
    NOT_NEGATIVE,
    Given,
    check_components,
    check_neighbors,
    check_varies,
    first_of,
)
from calipers.estimators.stepped import Minimiser
from calipers.notices import DataWarning, warn_user
from calipers.solvers.large_margin import LargeMargin, descent
from calipers.threads import single_threaded_blas


class LMNN(Minimiser):
    """Large margin nearest neighbours: pull targets near, push impostors away.

    Implements Weinberger and Saul, "Distance Metric Learning for Large Margin Nearest
    Neighbor Classification" (2009). With T(i) the `n_neighbors` nearest samples of i's class in
    the Euclidean distance, LMNN minimises over positive semi-definite M::

        (1 - mu) sum_{i, j in T(i)} d_M(i, j)^2
            + mu sum_{i, j in T(i)} sum_{l of another class} [1 + d_M(i, j)^2 - d_M(i, l)^2]_+

    Every value of the objective is exact: it counts all impostors. L-BFGS minimises it over L
    with M = L'L, in coordinates in which the pull is close to the identity. Projected gradient
    descent in M with the usual step rule (1 % longer after a decrease, else halved) ends at the
    same or a higher value, after many times the iterations.

    Parameters
    ----------
    n_neighbors : int, default=3
        Targets of each sample (k); a sample has fewer if its class has fewer others.
    push_weight : float, default=0.5
        Weight of the push (mu), above 0 and at most 1.
    max_iter : int, default=1000
        Most iterations; a ConvergenceWarning says if they were too few.
    tol : float, default=1e-5
        Stop once an iteration lowers the objective by less than this share of it, on
        average over five, or by rounding of the first.
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features. LMNN learns the full M and then
        keeps the directions with the largest variance of the training samples.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L; ``transform`` is ``X @ components_.T``.
    objective_ : float
        The objective at M.
    objective_curve_ : ndarray of shape (n_updates + 1,)
        The objective at the initial M, a multiple of the identity, and after every step.
    n_iter_, n_updates_ : int
        Steps; each lowers the objective.
    n_active_ : int
        Triplets with a hinge above 0 at M.
    converged_ : bool
        Whether the steps met `tol`.
    mining_seconds_, solve_seconds_ : float
        Time to find the targets, and to learn from them.
    notes_ : list of str
        Remarks about the data that explain the metric but need no warning.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The margin is 1 in the units of X squared: features with small values give an M with large
    entries, but k-NN does not depend on the scale of M. The objective is convex in M, so the
    initial M does not matter.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from calipers import LMNN
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(LMNN(), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [AT_LEAST_ONE],
        "push_weight": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "n_components": [AT_LEAST_ONE, None],
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

    @single_threaded_blas()
    def _learn(self, given: Given) -> Learned:
        started, samples = perf_counter(), in_memory(given.samples)
        notes, k = check_varies(given), int(self.n_neighbors)
        check_components(self, samples.shape[1])
        check_neighbors(self, given, k)
        self._warn_of_small_classes(given)
        problem = LargeMargin(
            samples.X,
            samples.labels,
            samples.weights,
            n_neighbors=k,
            push_weight=float(self.push_weight),
        )
        solver = descent(problem, tol=float(self.tol), max_iter=int(self.max_iter))
        prepared = perf_counter() - started
        learned = self._minimised(replace(given, samples=samples), solver)
        return learned.also(n_active_=solver.value.n_active, notes_=notes, mining_seconds_=prepared)

    def _warn_of_small_classes(self, given: Given) -> None:
        sizes = given.samples.class_sizes
        small = given.classes[(sizes > 1) & (sizes <= self.n_neighbors)]
        if len(small):
            warn_user(
                f"{len(small)} of {len(given.classes)} classes have no more than n_neighbors="
                f"{self.n_neighbors} samples ({first_of(small)}): their samples have all others "
                "of the class as targets.",
                DataWarning,
            )
