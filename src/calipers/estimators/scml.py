"""SCML: a metric composed of few directions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.base import Learned
from calipers.estimators.checks import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, Given, check_batch
from calipers.estimators.closed_forms import Spectrum, local_discriminants
from calipers.estimators.one_round import OneRound
from calipers.solvers.dual_averaging import DualAveragingSolver
from calipers.threads import single_threaded_blas

_MOST_TRIPLETS = 3000  # the first ones, from which directions are made
_REGION = 300  # triplets whose discriminants are taken together
_PER_REGION = 3  # directions


class SCML(OneRound):
    """Sparse compositional metric learning: weights of directions that discriminate somewhere.

    Implements the global metric of Shi, Bellet and Sha, "Sparse Compositional Metric Learning"
    (2014). With directions b as rows of a basis, it minimises over weights w >= 0::

        mean over triplets (a, p, n) of max(0, 1 + d_M(a, p)^2 - d_M(a, n)^2) + l1_weight * sum(w)
        M = sum of w b b'

    by batches. Many weights end at 0. The directions are the three best local discriminants of
    random regions, each the 300 triplets, of the first 3,000, whose anchors are nearest to one of
    them: those in which differences to the negative most exceed those to the positive. The paper
    finds its regions by k-means and the labels instead; with triplets of regions, one way serves
    labels and triplets.

    Parameters
    ----------
    n_triplets : int, default=100_000
        Triplets that `fit` draws. `fit_triplets` takes each of those given once, in order; to go
        through them n times, pass ``np.tile(triplets, (n, 1))``.
    n_basis : int, default=400
        Directions.
    batch_size : int, default=10
        Triplets of an update.
    l1_weight : float, default=1e-5
        Cost of a weight (beta); more makes fewer directions.
    learning_rate : float, default=0.1
        Step size.
    n_neighbors : int, default=3
        Triplets take the positive and the negative among so many nearest of an anchor.
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features.
    random_state : int, RandomState instance or None, default=None
        Seeds the drawing of triplets and regions.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    n_active_ : int
        Directions with a weight above 0. If there is none, as for labels that are noise, M = 0
        would be best; then all directions count alike.
    n_updates_ : int
        Batches with a loss above 0, each of which is an update.
    n_iter_ : int
        Batches seen.
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
    >>> from sklearn.datasets import load_wine
    >>> from calipers import SCML
    >>> X, y = load_wine(return_X_y=True)
    >>> metric = SCML(n_triplets=5000, random_state=0).fit(X, y)
    >>> bool(0 < metric.n_active_ < 400)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_triplets": [AT_LEAST_ONE],
        "n_basis": [AT_LEAST_ONE],
        "batch_size": [AT_LEAST_ONE],
        "l1_weight": [NOT_NEGATIVE],
        "learning_rate": [POSITIVE],
        "n_neighbors": [AT_LEAST_ONE],
        "n_components": [AT_LEAST_ONE, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_triplets: int = 100_000,
        n_basis: int = 400,
        batch_size: int = 10,
        l1_weight: float = 1e-5,
        learning_rate: float = 0.1,
        n_neighbors: int = 3,
        n_components: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_triplets = n_triplets
        self.n_basis = n_basis
        self.batch_size = batch_size
        self.l1_weight = l1_weight
        self.learning_rate = learning_rate
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.random_state = random_state

    def _learn(self, given: Given) -> Learned:
        examples = self._examples(given)
        check_batch(self, len(examples.source), self.batch_size)
        X, first = given.samples.local(next(examples.source.portions(_MOST_TRIPLETS)), n_columns=3)
        solver = DualAveragingSolver(
            local_directions(X, first, int(self.n_basis), examples.rngs[0]),
            l1_weight=float(self.l1_weight),
            learning_rate=float(self.learning_rate),
            batch_size=int(self.batch_size),
        )
        learned = self._run(given, examples, solver)
        return {**learned, "n_active_": int(np.count_nonzero(solver.weights))}


@single_threaded_blas()
def local_directions(
    X: FloatArray, triplets: IndexArray, n: int, rng: np.random.Generator
) -> FloatArray:
    """Discriminants of random regions of triplets, as rows.

    Along each, the mean squared difference of anchors and negatives is 1, or less if it is below
    a millionth of the largest of any direction.
    """
    anchors = X[triplets[:, 0]].astype(np.float64)
    near, far = anchors - X[triplets[:, 1:].T]
    root = np.sqrt(np.mean(far**2, axis=0))
    unit = np.where(root > 0.0, root, 1.0)
    anchors, near, far = anchors / unit, near / unit, far / unit
    rank = min(_PER_REGION, X.shape[1])
    rows = []
    for center in rng.integers(len(triplets), size=-(-n // rank)):
        squared = np.sum((anchors - anchors[center]) ** 2, axis=1)
        region = np.argsort(squared, kind="stable")[:_REGION]
        within = Spectrum.shrunk(near[region].T @ near[region] / len(region), len(region))
        between = far[region].T @ far[region] / len(region)
        rows.append(local_discriminants(within.power(1.0), between, rank))
    basis = np.vstack(rows)[:n]
    scatter = Spectrum.of(far.T @ far / len(far)).power(1.0)
    length = np.sqrt(np.einsum("ij,ij->i", basis @ scatter, basis))
    return np.asarray(basis / np.where(length > 0.0, length, 1.0)[:, None] / unit)
