"""SPML: the SGD solver with a hinge loss, a ridge and a decaying step size."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.estimators.base import Learned
from calipers.estimators.checks import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, Given, check_batch
from calipers.estimators.one_round import OneRound
from calipers.solvers.parts import Hinge
from calipers.solvers.sgd import Settings, SGDSolver


class SPML(OneRound):
    r"""Structure preserving metric learning, by projected steps of length 1 / (lambda t).

    Implements Shaw, Huang and Jebara, "Learning a Distance Metric from a Network" (2011) on
    triplets, as the paper of TripletSGD does for its comparison. It minimises over positive
    semi-definite M

    .. math:: \tfrac\lambda2 \|M\|_F^2 + \tfrac1N \sum \max(0, m + d_M^2(a, b) - d_M^2(a, c)).

    Step t takes the *sum* over the violated triplets of a batch, as the authors' program does:
    ``M = P((1 - 1/t) M + (sum of far far' - near near') / (lambda t))``, with P the projection
    onto the cone. The last iterate is the result.

    Parameters
    ----------
    n_triplets : int, default=100_000
        Triplets that `fit` draws. `fit_triplets` takes each of those given once, in order; to go
        through them n times, pass ``np.tile(triplets, (n, 1))``. SPML uses whole batches and
        leaves out the rest.
    batch_size : int, default=10
        Triplets in a batch.
    ridge : float, default=1e-10
        Weight of the squared norm of M (lambda). The default is that of the authors' program.
        With so small a value M is large, and the margin has no effect.
    margin : float, default=0.01
        How much farther the negative should be than the positive (m), in squared distances.
    n_neighbors : int, default=1
        Triplets take the positive and the negative among so many nearest of an anchor.
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features.
    random_state : int, RandomState instance or None, default=None
        Seeds the drawing of triplets.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples. Its scale is that of
        1 / (ridge * number of steps); nearest neighbours do not depend on it.
    n_updates_, n_iter_ : int
        Batches seen, each of which is an update.
    n_projections_ : int
        Updates that left the positive semi-definite cone, so that P set eigenvalues to 0.
    loss_curve_ : ndarray of shape (n_points,)
        Mean hinge loss of the triplets since the point before, each at its iterate.
    update_curve_ : ndarray of shape (n_points,)
        Updates up to each point.
    triplet_curve_ : ndarray of shape (n_points,)
        Triplets seen up to each point.
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
    >>> from calipers import SPML
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(SPML(n_triplets=1000, random_state=0), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_triplets": [AT_LEAST_ONE],
        "batch_size": [AT_LEAST_ONE],
        "ridge": [POSITIVE],
        "margin": [NOT_NEGATIVE],
        "n_neighbors": [AT_LEAST_ONE],
        "n_components": [AT_LEAST_ONE, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_triplets: int = 100_000,
        batch_size: int = 10,
        ridge: float = 1e-10,
        margin: float = 0.01,
        n_neighbors: int = 1,
        n_components: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_triplets = n_triplets
        self.batch_size = batch_size
        self.ridge = ridge
        self.margin = margin
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.random_state = random_state

    def _learn(self, given: Given) -> Learned:
        """Run the SGD solver with a hinge loss, a ridge, and the sum over violated triplets."""
        examples, d = self._examples(given), given.samples.shape[1]
        check_batch(self, len(examples.source), self.batch_size)
        settings = Settings(
            loss=Hinge(float(self.margin)),
            batch_size=int(self.batch_size),
            ridge=float(self.ridge),
            radius=np.inf,
            sum_over_batch=True,
            average=False,
        )
        accept_rng, pick_rng = examples.rngs
        solver = SGDSolver(settings, d, accept_rng=accept_rng, pick_rng=pick_rng)
        learned = self._run(given, examples, solver)
        return {**learned, "n_projections_": solver.n_projections}
