"""ITML: the batch method behind LEGO, by cyclic projections."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calipers.estimators.base import Learned
from calipers.estimators.checks import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, Given
from calipers.estimators.one_round import OfPairs
from calipers.notices import warn_user
from calipers.solvers.logdet import CyclicSolver


class ITML(OfPairs):
    """Information-theoretic metric learning: the metric nearest to the Euclidean one.

    Implements Davis, Kulis, Jain, Sra and Dhillon, "Information-Theoretic Metric Learning"
    (2007). Pairs that should be near should be within `near_distance`, and pairs that should be
    far at least `far_distance` apart. Of the metrics that meet these limits, ITML finds the one
    with the least LogDet divergence from the identity. A pair may miss its limit at a cost::

        min  D_ld(M, I) + slack_weight D_ld(diag(limits), diag(initial limits))

    ITML projects onto the constraint of one pair after the other, over and over.

    Parameters
    ----------
    n_triplets : int, default=1_000
        Triplets that `fit` draws. Each gives two pairs: anchor and positive should be near, anchor
        and negative far. Of triplets or pairs that are given, all are taken.
    slack_weight : float, default=1.0
        Cost of missing a limit (gamma); the larger it is, the less pairs miss their limits.
    near_distance : float or None, default=None
        Largest distance of pairs that should be near (the square root of u). None: the 5th
        percentile of the distances between random samples that differ.
    far_distance : float or None, default=None
        Smallest distance of pairs that should be far (the square root of l). None: the 95th
        percentile.
    max_iter : int, default=10_000
        Most passes over all pairs; a ConvergenceWarning says if they were too few.
    tol : float, default=1e-4
        Stop once a pass changes the dual variables by less than this share of their size.
    n_neighbors : int, default=1
        Triplets take the positive and the negative among so many nearest of an anchor.
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features.
    random_state : int, RandomState instance or None, default=None
        Seeds the drawing of triplets, and of the pairs that set the limits.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    near_distance_, far_distance_ : float
        The limits that pairs should meet.
    n_updates_ : int
        Projections that changed M.
    n_iter_ : int
        Passes over all pairs.
    converged_ : bool
        Whether a pass met `tol`.
    change_curve_ : ndarray of shape (n_iter,)
        Change of the dual variables in each pass, as a share of their size. ITML
        compares it with `tol`.
    loss_curve_ : ndarray of shape (n_iter,)
        Mean over pairs, in each pass, of how much a squared distance misses its limit, as a
        share of the limit; 0 for pairs within their limits.
    update_curve_ : ndarray of shape (n_iter,)
        Updates up to the end of each pass.
    mining_seconds_, solve_seconds_ : float
        Time to draw the triplets, and to learn from them.
    notes_ : list of str
        Remarks about the data that explain the metric but need no warning.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from calipers import ITML
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(ITML(n_triplets=100, random_state=0), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_triplets": [AT_LEAST_ONE],
        "slack_weight": [POSITIVE],
        "near_distance": [POSITIVE, None],
        "far_distance": [POSITIVE, None],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "n_neighbors": [AT_LEAST_ONE],
        "n_components": [AT_LEAST_ONE, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_triplets: int = 1_000,
        slack_weight: float = 1.0,
        near_distance: float | None = None,
        far_distance: float | None = None,
        max_iter: int = 10_000,
        tol: float = 1e-4,
        n_neighbors: int = 1,
        n_components: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_triplets = n_triplets
        self.slack_weight = slack_weight
        self.near_distance = near_distance
        self.far_distance = far_distance
        self.max_iter = max_iter
        self.tol = tol
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.random_state = random_state

    def _learn(self, given: Given) -> Learned:
        examples, max_iter = self._examples(given, as_pairs=True), int(self.max_iter)
        near, far = self._limits(given.samples, examples.rngs[1])
        limits, d = {1: near**2, -1: far**2}, given.samples.shape[1]
        solver = CyclicSolver(float(self.slack_weight), limits, d, tol=float(self.tol))
        learned = self._run(given, examples, solver, max_iter)
        if not solver.converged and len(solver.changes) == max_iter:
            warn_user(
                f"{type(self).__name__} stopped after max_iter={max_iter} passes, while the "
                f"dual variables still changed by {solver.change:.2g} of their size: raise "
                "max_iter or tol, or lower slack_weight.",
                ConvergenceWarning,
            )
        return {
            **learned,
            "near_distance_": near,
            "far_distance_": far,
            "change_curve_": np.array(solver.changes),
            "converged_": solver.converged,
        }
