"""MMC: similar pairs near, dissimilar ones far, as Xing et al. put it."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from calipers.arrays import FloatArray
from calipers.data.samples import in_memory
from calipers.estimators.base import FromPairs, Learned
from calipers.estimators.checks import (
    AT_LEAST_ONE,
    NOT_NEGATIVE,
    Given,
    check_classes,
    check_components,
    check_kinds_of_pairs,
    check_varies,
    warn_singletons,
)
from calipers.estimators.closed_forms import Scatters, Spectrum
from calipers.estimators.stepped import Minimiser
from calipers.metric.moments import moments_of
from calipers.solvers.all_pairs import Separation
from calipers.solvers.lbfgs import Descent
from calipers.threads import single_threaded_blas


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
    mining_seconds_, solve_seconds_ : float
        Time to prepare, and to learn.
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

    @single_threaded_blas()
    def _learn(self, given: Given) -> Learned:
        started, samples = perf_counter(), in_memory(given.samples)
        notes = check_varies(given)
        check_components(self, samples.shape[1])
        if given.pairs is None:
            check_classes(self, given)
            warn_singletons(given)
            scatters = Scatters.of_labels(moments_of(samples))
            scatters.check_counts()
        else:
            check_kinds_of_pairs(self, given)
            scatters = Scatters.of_pairs(samples, given.pairs)
        similar = scatters.similar
        if self.diagonal:
            similar = np.diag(np.diag(similar))
        T = Spectrum.of(similar).power(-0.5) / scatters.unit
        X = samples.X.astype(np.float64, copy=False) @ T.T
        if given.pairs is None:
            X -= X.mean(axis=0)
            problem = Separation(X, samples.labels, samples.weights, diagonal=bool(self.diagonal))
        else:
            one, other, _ = given.pairs[given.pairs[:, 2] == -1].T
            problem = Separation(X[one] - X[other], diagonal=bool(self.diagonal))
        start = problem.at(np.eye(len(T)))

        def metric(L: FloatArray) -> FloatArray:  # the objective does not depend on its size
            whole = L @ T / np.linalg.norm(L)
            return np.asarray(whole.T @ whole)

        solver = Descent(
            problem.at, start, tol=float(self.tol), max_iter=int(self.max_iter), metric=metric
        )
        prepared = perf_counter() - started
        learned = self._minimised(replace(given, samples=samples), solver)
        return learned.also(notes_=notes, mining_seconds_=prepared)
