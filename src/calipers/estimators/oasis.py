"""OASIS: a bilinear similarity, learned by passive-aggressive updates."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions

from calipers.arrays import FloatArray
from calipers.estimators.base import Learned
from calipers.estimators.checks import AT_LEAST_ONE, POSITIVE, Given
from calipers.estimators.one_round import OneRound
from calipers.solvers.bilinear import BilinearSolver
from calipers.solvers.parts import PassiveAggressive, SquaredHinge
from calipers.solvers.sgd import Settings, SGDSolver


class OASIS(OneRound):
    """Learn a similarity ``p'Wq`` from triplets, online, and a metric from the similarity.

    Implements Chechik, Sharma, Shalit and Bengio, "Large Scale Online Learning of Image
    Similarity Through Ranking" (2010). W starts as the identity. Each triplet (p, p+, p-) in
    turn makes the smallest change of W after which ``p'Wp+`` exceeds ``p'Wp-`` by 1, clipped at
    `aggressiveness`. W is neither symmetric nor positive. The metric is the one nearest to W:
    ``(W + W') / 2`` without its negative eigenvalues. With ``form="distance"`` the same steps
    change a metric M: the smallest change after which p- is farther from p than p+ by 1, in
    squared distances, then the projection onto the positive semi-definite cone.

    Parameters
    ----------
    n_triplets : int, default=100_000
        Triplets that `fit` draws. `fit_triplets` takes each of those given once, in order; to go
        through them n times, pass ``np.tile(triplets, (n, 1))``.
    aggressiveness : float, default=0.1
        Largest multiple of ``p (p+ - p-)'`` that one triplet may add to W (C); for a distance,
        of ``(p - p-)(p - p-)' - (p - p+)(p - p+)'``.
    form : {"similarity", "distance"}, default="similarity"
        What is learned: Chechik et al.'s similarity; or a distance by the same steps, by which
        the counts of the paper of TripletSGD come out (``calipers paper``).
    n_neighbors : int, default=1
        Triplets take the positive and the negative among so many nearest of an anchor.
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features.
    random_state : int, RandomState instance or None, default=None
        Seeds the drawing of triplets.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    similarity_ : ndarray of shape (n_features, n_features)
        W; for a similarity only.
    n_updates_ : int
        Triplets that changed W.
    n_iter_ : int
        Triplets seen.
    loss_curve_ : ndarray of shape (n_points,)
        Mean loss ``max(0, 1 - p'Wp+ + p'Wp-)`` of the triplets since the point before, each
        evaluated before its update; for a distance half its square.
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

    Notes
    -----
    An inner product depends on the origin and the scale of X: shifted samples give another W.
    For nearest neighbours use the metric (``transform``). Use the similarity to rank samples
    of equal norm.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from calipers import OASIS
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(OASIS(n_triplets=1000, random_state=0), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_triplets": [AT_LEAST_ONE],
        "aggressiveness": [POSITIVE],
        "form": [StrOptions({"similarity", "distance"})],
        "n_neighbors": [AT_LEAST_ONE],
        "n_components": [AT_LEAST_ONE, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_triplets: int = 100_000,
        aggressiveness: float = 0.1,
        form: Literal["similarity", "distance"] = "similarity",
        n_neighbors: int = 1,
        n_components: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_triplets = n_triplets
        self.aggressiveness = aggressiveness
        self.form = form
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.random_state = random_state

    def pair_score(self, pairs: npt.ArrayLike) -> FloatArray:
        """Return the similarity ``p'Wq`` within each pair, which may differ from ``q'Wp``.

        Where a distance was learned it is minus that.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features)
            Pairs of samples (p, q).

        Returns
        -------
        ndarray of shape (n_pairs,)
            Similarities, higher for samples that are more alike.
        """
        if not hasattr(self, "similarity_"):
            return super().pair_score(pairs)
        samples = self._check_pairs(pairs)
        return np.asarray(np.einsum("ni,ni->n", samples[:, 0] @ self.similarity_, samples[:, 1]))

    def _learn(self, given: Given) -> Learned:
        examples, d = self._examples(given), given.samples.shape[1]
        C = float(self.aggressiveness)
        if self.form == "similarity":
            similarity = BilinearSolver(C, d)
            learned = self._run(given, examples, similarity)
            return {**learned, "similarity_": similarity.W}
        settings = Settings(SquaredHinge(), PassiveAggressive(C), radius=np.inf, average=False)
        accept_rng, pick_rng = examples.rngs
        distance = SGDSolver(settings, d, accept_rng=accept_rng, pick_rng=pick_rng)
        return self._run(given, examples, distance)
