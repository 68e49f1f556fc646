"""Ways to learn that TripletSGD does not offer, for `study` to try."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calipers import TripletSGD
from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.blend import Shares
from calipers.estimators.coordinates import coordinates
from calipers.estimators.defaults import Pace
from calipers.losses import SmoothHinge
from calipers.metric import factor
from calipers.triplets import CrossedTriplets, DrawnTriplets, Rows, RowsInMemory, Source

FACTORS: Mapping[str, tuple[Any, ...]] = {
    "shrink": (None, "identity 0.1", "identity 0.3", "classes 0.1", "classes 0.3"),
    "stop": (None, "held-out"),
    "anchors": ("rows", "classes"),
    "mean": (None, "1 0 0", "0.5 0.5 0", "0.45 0.45 0.1", "0.3 0.3 0.4", "0.315 0.315 0.07 0.3"),
    "reach": (None, "any"),
}
"""What `learn` takes beside settings of TripletSGD; the first of each is what that does.

shrink
    The mean of the learned metric and another, which has the given weight, both of trace 1: the
    Euclidean one, or the inverse of the (shrunk) covariance within classes.
stop
    As many of the triplets as have the lowest loss of triplets among held-out rows.
anchors
    Whether each row, or each class, is equally often the first of a triplet.
mean
    Where rows are held out: shares of the metric learned from few neighbours, of those learned
    from many, of the start, and of the spread within classes.
reach
    Whether anchors that are far from others are brought back, as in the default.
"""

HELD_OUT = 5  # one of so many rows, to choose where to stop
SHARES = (0.25, 0.5, 1.0)  # of the triplets, among which is chosen
N_ASKED = 2000  # triplets of held-out rows


class OfAllClasses(TripletSGD):
    """Anchors of every class alike, however many rows it has."""

    def _drawn(self, rows: Rows, n_triplets: int, rng: np.random.Generator) -> Source:
        labels = rows.labels_of(np.arange(rows.shape[0]))
        sizes = rows.class_sizes
        members = [np.flatnonzero(labels == code) for code in np.flatnonzero(sizes >= 2)]
        among = np.concatenate([np.resize(some, sizes.max()) for some in members])
        kind = CrossedTriplets if self._pace(rows).crossed > 1 else DrawnTriplets
        n_neighbors = self._neighbors(rows.shape[1])
        return kind(rows, n_triplets, n_neighbors=n_neighbors, rng=rng, among=among)


class OfAnyReach(TripletSGD):
    """Anchors count by the square of their distances, however far they are from others."""

    def _pace(self, rows: Rows) -> Pace:
        return super()._pace(rows)._replace(reach=np.inf)


def learn(X: FloatArray, y: IndexArray, settings: dict[str, Any], seed: int) -> TripletSGD:
    """A fitted estimator, whose ``components_`` are the variant's."""
    given = {name: value for name, value in settings.items() if name not in FACTORS}
    kind = OfAllClasses if settings["anchors"] == "classes" else TripletSGD
    kind = OfAnyReach if settings["reach"] else kind
    if settings["stop"]:
        given["n_triplets"] = _best_number(X, y, kind(**given, random_state=seed))
    model = kind(**given, random_state=seed)
    if settings["mean"]:
        model._of_means = (Shares(*map(float, settings["mean"].split())),)
    model.fit(X, y)
    if settings["shrink"]:
        towards, weight = settings["shrink"].split()
        target = coordinates(towards, RowsInMemory(X, y)).pull_back(np.eye(X.shape[1]))
        M = model.get_mahalanobis_matrix()
        mean = (1.0 - float(weight)) * M / np.trace(M) + float(weight) * target / np.trace(target)
        model.components_ = factor(mean)
    return model


def _best_number(X: FloatArray, y: IndexArray, model: TripletSGD) -> int:
    """Triplets after which those of held-out rows have the lowest loss."""
    rng = np.random.default_rng(0)
    held, kept = np.split(rng.permutation(len(y)), [len(y) // HELD_OUT])
    rows = RowsInMemory(X[held], y[held])
    source = DrawnTriplets(rows, N_ASKED, n_neighbors=model._neighbors(X.shape[1]), rng=rng)
    i, j, k = np.concatenate(list(source.portions(N_ASKED))).T
    n_triplets = model.n_triplets or model._enough_triplets(RowsInMemory(X, y))
    losses = []
    for share in SHARES:
        model.set_params(n_triplets=int(share * n_triplets)).fit(X[kept], y[kept])
        images = model.transform(X[held])
        far, near = images[i] - images[k], images[i] - images[j]
        margins = np.sum(far**2, axis=1) - np.sum(near**2, axis=1)
        losses.append(SmoothHinge(model._pace(rows).smoothness).value(margins).mean())
    return int(SHARES[int(np.argmin(losses))] * n_triplets)
