"""MCML: classes that collapse to points, as far as a metric can make them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.data.samples import in_memory
from calipers.estimators.checks import AT_LEAST_ONE, NOT_NEGATIVE, Given
from calipers.estimators.minimisers import Minimiser
from calipers.metric.init import initial_map
from calipers.solvers.lbfgs import Descent
from calipers.solvers.soft_neighbors import Collapse, of_typical_width


class MCML(Minimiser):
    """Maximally collapsing metric learning: neighbours of the own class, all alike.

    Implements Globerson and Roweis, "Metric Learning by Collapsing Classes" (2005). Sample i picks
    j as its neighbour with probability p(j|i), which falls as exp(-d_M(i, j)^2). Were all samples
    of a class one point and the classes infinitely far apart, it would be p0(j|i): the same for all
    others of i's class, else 0. MCML minimises over positive semi-definite M::

        mean over i of KL(p0(.|i) || p(.|i))

    which is convex in M. It takes steps of L-BFGS in L with M = L'L, whose time grows with the
    square of the number of samples.

    Parameters
    ----------
    max_iter : int, default=1000
        Most steps; a ConvergenceWarning says if they were too few.
    tol : float, default=1e-5
        Stop once a step lowers the objective by less than this share of it, on average over five.
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    objective_ : float
        The objective at M, 0 at best.
    objective_curve_ : ndarray of shape (n_updates + 1,)
        The objective at the start and after every step.
    n_iter_, n_updates_ : int
        Steps; each lowers the objective.
    converged_ : bool
        Whether the steps met `tol`.
    solve_seconds_ : float
        Time of the steps.
    notes_ : list of str
        Remarks about the data that explain the metric but need no warning.
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
    >>> from calipers import MCML
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(MCML(), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "n_components": [AT_LEAST_ONE, None],
    }

    def __init__(
        self, *, max_iter: int = 1000, tol: float = 1e-5, n_components: int | None = None
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.n_components = n_components

    def _descent(self, given: Given) -> Descent:
        samples = in_memory(given.samples)
        unit = np.asarray(initial_map("scaled", samples).matrix)
        X = samples.X.astype(np.float64, copy=False) * unit
        X -= X.mean(axis=0)
        problem = Collapse(X, samples.labels, samples.weights)
        return Descent(
            problem.at,
            problem.at(of_typical_width(X)),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            metric=lambda L: np.asarray((L * unit).T @ (L * unit)),
        )
