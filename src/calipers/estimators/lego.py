"""LEGO: an online learner from pairs, whose steps keep the metric positive definite."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from calipers.arrays import FloatArray
from calipers.estimators.from_pairs import PairLearner
from calipers.logdet import PairSolver
from calipers.steps import TowardsTarget
from calipers.triplets import Rows, Source


class LEGO(PairLearner[PairSolver]):
    """LogDet exact gradient online: pairs too far apart, or too close, move the metric.

    Implements Jain, Kulis, Dhillon and Grauman, "Online Metric Learning and Fast Similarity
    Search" (2008): a pair with difference z that should be near but is farther apart than
    `near_distance`, or should be far but is closer than `far_distance`, changes M to::

        argmin_A  D_ld(A, M) + learning_rate / 2 (z'Az - target)^2

    with D_ld the LogDet divergence. Pairs that are as they should be change nothing. M stays
    positive definite for any step size, so nothing is projected.

    Parameters
    ----------
    n_triplets : int, default=100_000
        Triplets to draw; of each, the anchor and its near row should be near, the anchor and
        its far row far.
    learning_rate : float, default=1.0
        Step size (eta).
    near_distance : float or None, default=None
        Largest distance of rows that should be near (the square root of u); None: the
        distance that 5 % of random pairs of rows that differ do not exceed.
    far_distance : float or None, default=None
        Least distance of rows that should be far (the square root of l); None: the distance
        that 95 % of them do not exceed.
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
        Pairs that changed M.
    n_iter_ : int
        Pairs seen.
    loss_curve_ : ndarray of shape (n_points,)
        Mean of half the squared difference between a pair's squared distance and its target,
        0 for pairs as they should be, over the pairs met since the point before.
    update_curve_ : ndarray of shape (n_points,)
        Updates up to each point.
    pair_curve_ : ndarray of shape (n_points,)
        Pairs seen up to each point.
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

    Notes
    -----
    A step is the shorter the smaller squared distances are: of rows that differ by much less
    than 1 nothing is learned. Scale them, or raise `learning_rate`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from calipers import LEGO
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(LEGO(n_triplets=1000, random_state=0), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True

    Pairs of one's own, +1 for near and -1 for far:

    >>> metric = LEGO(near_distance=0.5, far_distance=2.0).fit_pairs(X, [[0, 1], [0, 99]], [1, -1])
    >>> metric.n_iter_
    2
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_triplets": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "near_distance": [Interval(Real, 0, None, closed="neither"), None],
        "far_distance": [Interval(Real, 0, None, closed="neither"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_triplets: int = 100_000,
        learning_rate: float = 1.0,
        near_distance: float | None = None,
        far_distance: float | None = None,
        n_neighbors: int = 1,
        n_components: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_triplets = n_triplets
        self.learning_rate = learning_rate
        self.near_distance = near_distance
        self.far_distance = far_distance
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.random_state = random_state

    def _start(self, rows: Rows, source: Source, rngs: list[np.random.Generator]) -> PairSolver:
        near, far = self._find_limits(rows, rngs[1])
        return PairSolver(TowardsTarget(near, far, float(self.learning_rate)), rows.shape[1])

    def _metric(self, solver: PairSolver) -> FloatArray:
        return solver.A

    def _set_fitted(self, solver: PairSolver) -> None:
        super()._set_fitted(solver)
        self.pair_curve_ = np.array([point.n_pairs for point in solver.curve])
