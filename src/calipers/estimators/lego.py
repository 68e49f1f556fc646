"""LEGO: an online learner on pairs whose steps keep the metric positive definite."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.estimators.base import Learned
from calipers.estimators.checks import AT_LEAST_ONE, POSITIVE, Given
from calipers.estimators.one_round import OfPairs
from calipers.solvers.logdet import PairSolver
from calipers.solvers.parts import TowardsTarget


class LEGO(OfPairs):
    """LogDet exact gradient online: pairs that miss their limit change the metric.

    Implements Jain, Kulis, Dhillon and Grauman, "Online Metric Learning and Fast Similarity
    Search" (2008). A pair with difference z misses its limit if it should be near but is farther
    apart than `near_distance`, or should be far but is closer than `far_distance`. It changes
    M to::

        argmin_A  D_ld(A, M) + learning_rate / 2 (z'Az - target)^2

    with D_ld the LogDet divergence. Pairs within their limits change nothing. M stays positive
    definite for any step size, so LEGO needs no projection.

    Parameters
    ----------
    n_triplets : int, default=100_000
        Triplets that `fit` draws. Each gives two pairs: anchor and positive should be near, anchor
        and negative far. Triplets or pairs that are given are taken once, in order.
    learning_rate : float, default=1.0
        Step size (eta).
    near_distance : float or None, default=None
        Largest distance of pairs that should be near (the square root of u). None: the 5th
        percentile of the distances between random samples that differ.
    far_distance : float or None, default=None
        Smallest distance of pairs that should be far (the square root of l). None: the 95th
        percentile.
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
        Pairs that changed M.
    n_iter_ : int
        Pairs seen.
    loss_curve_ : ndarray of shape (n_points,)
        Mean loss of the pairs since the point before: half the squared difference between a
        pair's squared distance and its target, 0 for pairs within their limits.
    update_curve_ : ndarray of shape (n_points,)
        Updates up to each point.
    pair_curve_ : ndarray of shape (n_points,)
        Pairs seen up to each point.
    mining_seconds_, solve_seconds_ : float
        Time to draw the triplets, and to learn from them.
    notes_ : list of str
        Remarks about the data that explain the metric but need no warning.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Smaller squared distances make shorter steps: from samples that differ by much less than 1
    LEGO learns almost nothing. Scale X, or raise `learning_rate`.

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

    Learn from your own pairs, +1 for near and -1 for far:

    >>> metric = LEGO(near_distance=0.5, far_distance=2.0).fit_pairs(X, [[0, 1], [0, 99]], [1, -1])
    >>> metric.n_iter_
    2
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_triplets": [AT_LEAST_ONE],
        "learning_rate": [POSITIVE],
        "near_distance": [POSITIVE, None],
        "far_distance": [POSITIVE, None],
        "n_neighbors": [AT_LEAST_ONE],
        "n_components": [AT_LEAST_ONE, None],
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

    def _learn(self, given: Given) -> Learned:
        examples, d = self._examples(given, as_pairs=True), given.samples.shape[1]
        near, far = self._limits(given.samples, examples.rngs[1])
        solver = PairSolver(TowardsTarget(near**2, far**2, float(self.learning_rate)), d)
        learned = self._run(given, examples, solver)
        return {**learned, "near_distance_": near, "far_distance_": far}
