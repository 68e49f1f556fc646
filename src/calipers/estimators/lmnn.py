"""LMNN: large margin nearest neighbours, a batch method."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from calipers.data.samples import in_memory
from calipers.estimators.base import Learned
from calipers.estimators.checks import AT_LEAST_ONE, NOT_NEGATIVE, Given
from calipers.estimators.minimisers import Minimiser
from calipers.solvers.large_margin import LargeMargin, descent
from calipers.solvers.lbfgs import Descent


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
    solve_seconds_ : float
        Time of the steps.
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

    def _descent(self, given: Given) -> Descent:
        samples = in_memory(given.samples)
        problem = LargeMargin(
            samples.X,
            samples.labels,
            samples.weights,
            n_neighbors=int(self.n_neighbors),
            push_weight=float(self.push_weight),
        )
        return descent(problem, tol=float(self.tol), max_iter=int(self.max_iter))

    def _minimised(self, given: Given, descent: Descent, *more: Any) -> Learned:
        learned = super()._minimised(given, descent, *more)
        return {**learned, "n_active_": descent.value.n_active}
