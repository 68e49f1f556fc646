"""ITML: the batch method behind LEGO, by cyclic projections."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.from_pairs import PairLearner
from calipers.estimators.from_triplets import Given
from calipers.logdet import CyclicSolver
from calipers.triplets import Rows, Source


class ITML(PairLearner[CyclicSolver]):
    """Information-theoretic metric learning: the metric nearest to the Euclidean one.

    Implements Davis, Kulis, Jain, Sra and Dhillon, "Information-Theoretic Metric Learning"
    (2007): of the metrics under which pairs that should be near are within `near_distance`,
    and pairs that should be far at least `far_distance` apart, the one with the least LogDet
    divergence from the identity, where limits may be missed at a price::

        min  D_ld(M, I) + slack_weight D_ld(diag(limits), diag(limits at the start))

    by projecting onto one pair's constraint after the other, over and over.

    Parameters
    ----------
    n_triplets : int, default=1_000
        Triplets to draw; of each, the anchor and its near row should be near, the anchor and
        its far row far.
    slack_weight : float, default=1.0
        Price of missing a limit (gamma): the larger, the closer the pairs are held to it.
    near_distance : float or None, default=None
        Largest distance of rows that should be near (the square root of u); None: the
        distance that 5 % of random pairs of rows that differ do not exceed.
    far_distance : float or None, default=None
        Least distance of rows that should be far (the square root of l); None: the distance
        that 95 % of them do not exceed.
    max_iter : int, default=5000
        Most passes over all pairs; a ConvergenceWarning says if they did not suffice.
    tol : float, default=1e-3
        Stop once a pass changes the dual variables by less than this share of their size.
    n_neighbors : int, default=1
        Near and far rows are drawn among this many nearest ones of either side.
    n_components : int or None, default=None
        Rows of ``components_``; None keeps as many as there are features.
    random_state : int, RandomState instance or None, default=None
        Seeds the drawing of triplets, and of the pairs that tell near from far.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L; ``transform`` is ``X @ components_.T``.
    near_distance_, far_distance_ : float
        The distances that pairs were held to.
    n_updates_ : int
        Projections that changed M.
    n_iter_ : int
        Passes over all pairs.
    converged_ : bool
        Whether the passes ended by `tol`.
    change_curve_ : ndarray of shape (n_iter,)
        Change of the dual variables in each pass, as a share of their size: what `tol` is
        compared with.
    loss_curve_ : ndarray of shape (n_iter,)
        Mean share of its limit by which a pair's squared distance missed it, in each pass,
        0 for pairs as they should be.
    update_curve_ : ndarray of shape (n_iter,)
        Updates up to the end of each pass.
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
        "n_triplets": [Interval(Integral, 1, None, closed="left")],
        "slack_weight": [Interval(Real, 0, None, closed="neither")],
        "near_distance": [Interval(Real, 0, None, closed="neither"), None],
        "far_distance": [Interval(Real, 0, None, closed="neither"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_triplets: int = 1_000,
        slack_weight: float = 1.0,
        near_distance: float | None = None,
        far_distance: float | None = None,
        max_iter: int = 5000,
        tol: float = 1e-3,
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

    def _start(self, rows: Rows, source: Source, rngs: list[np.random.Generator]) -> CyclicSolver:
        near, far = self._find_limits(rows, rngs[1])
        limits = {1: near, -1: far}
        return CyclicSolver(float(self.slack_weight), limits, rows.shape[1])

    def _feed(self, solver: CyclicSolver, rows: Rows, source: Source, *, given: Given) -> None:
        """Pass over all pairs until the dual variables stay as they are."""
        X, pairs = next(self._portions(rows, source, len(source)))
        stopped = self._report(self._passes(solver, X, pairs), self.max_iter, solver, given=given)
        self.converged_ = solver.change <= self.tol
        if not self.converged_ and not stopped:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} passes, while the "
                f"dual variables still changed by {solver.change:.2g} of their size: raise "
                "max_iter or tol, or lower slack_weight.",
                ConvergenceWarning,
                stacklevel=6,  # past _learn, fit and scikit-learn's two wrappers of it
            )

    def _passes(
        self, solver: CyclicSolver, X: npt.NDArray[Any], pairs: IndexArray
    ) -> Iterator[Callable[[], object]]:
        while solver.n_iterations < self.max_iter and solver.change > self.tol:
            yield lambda: solver.advance(X, pairs)

    def _metric(self, solver: CyclicSolver) -> FloatArray:
        return solver.A

    def _set_fitted(self, solver: CyclicSolver) -> None:
        super()._set_fitted(solver)
        self.change_curve_ = np.array(solver.changes)
