"""MMC: similar pairs near, dissimilar ones far, as Xing et al. put it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.arrays import FloatArray
from calipers.data.samples import in_memory
from calipers.estimators.base import FromPairs
from calipers.estimators.checks import AT_LEAST_ONE, NOT_NEGATIVE, Given, check_kinds_of_pairs
from calipers.estimators.closed_forms import Scatters, Spectrum
from calipers.estimators.minimisers import Minimiser
from calipers.metric.moments import moments_of
from calipers.solvers.lbfgs import Descent
from calipers.solvers.soft_neighbors import Separation


class MMC(FromPairs, Minimiser):
    """Metric learning for clustering: dissimilar pairs far apart, similar pairs within bounds.

    Implements Xing, Ng, Jordan and Russell, "Distance Metric Learning, with Application to
    Clustering with Side-Information" (2002). Over positive semi-definite M it solves::

        max  sum_{dissimilar pairs} d_M(i, j)
        s.t. the mean of d_M(i, j)^2 over similar pairs is at most 1

    From labels, pairs are all pairs of samples: a step takes time that grows with the square of
    their number. Since M = L'L may be scaled to meet the constraint, MMC minimises the ratio of the
    two sides over L by L-BFGS, in coordinates in which the constraint is a bound of the trace.
    Directions in which similar pairs hardly differ count as if they differed by a millionth of
    the largest variance.

    Parameters
    ----------
    diagonal : bool, default=False
        Whether M is diagonal: a weight for each feature.
    max_iter : int, default=1000
        Most steps; a ConvergenceWarning says if they were too few.
    tol : float, default=1e-6
        Stop once a step lowers the objective by less than this share of it, on average over five.
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    objective_ : float
        Root mean square distance of similar pairs over the mean distance of dissimilar ones.
    objective_curve_ : ndarray of shape (n_updates + 1,)
        The same at the start and after every step.
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
    >>> from calipers import MMC
    >>> X, y = load_wine(return_X_y=True)
    >>> full, diagonal = MMC().fit(X, y), MMC(diagonal=True).fit(X, y)
    >>> bool(full.objective_ < diagonal.objective_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "diagonal": ["boolean"],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "n_components": [AT_LEAST_ONE, None],
    }

    def __init__(
        self,
        *,
        diagonal: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-6,
        n_components: int | None = None,
    ) -> None:
        self.diagonal = diagonal
        self.max_iter = max_iter
        self.tol = tol
        self.n_components = n_components

    def _descent(self, given: Given) -> Descent:
        samples = in_memory(given.samples)
        if given.pairs is None:
            scatters = Scatters.of_labels(moments_of(samples))
            scatters.check_counts()
        else:
            check_kinds_of_pairs(self, given)
            scatters = Scatters.of_pairs(samples, given.pairs)
        similar = np.diag(np.diag(scatters.similar)) if self.diagonal else scatters.similar
        T = Spectrum.of(similar).power(-0.5) / scatters.unit
        X = samples.X.astype(np.float64, copy=False) @ T.T
        if given.pairs is None:
            X -= X.mean(axis=0)
            problem = Separation(X, samples.labels, samples.weights, diagonal=bool(self.diagonal))
        else:
            one, other, _ = given.pairs[given.pairs[:, 2] == -1].T
            problem = Separation(X[one] - X[other], diagonal=bool(self.diagonal))

        def metric(L: FloatArray) -> FloatArray:  # the objective does not depend on its size
            whole = L @ T / np.linalg.norm(L)
            return np.asarray(whole.T @ whole)

        start = problem.at(np.eye(len(T)))
        tol, max_iter = float(self.tol), int(self.max_iter)
        return Descent(problem.at, start, tol=tol, max_iter=max_iter, metric=metric)
