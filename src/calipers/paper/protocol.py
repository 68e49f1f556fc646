"""The paper's protocol: learn on the training part, score k-NN on the test part."""

from __future__ import annotations

from typing import Protocol

from calipers.arrays import FloatArray
from calipers.evaluation.knn import knn_error
from calipers.paper.datasets import Split


class Metric(Protocol):
    """Anything that maps samples into the space where its distance is Euclidean."""

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the samples of X in that space."""


def split_error(data: Split, metric: Metric | None = None, *, n_neighbors: int = 3) -> float:
    """Return the k-NN error on the test part, between 0 and 1.

    ``metric.transform`` is applied to both parts; without a metric the distance is Euclidean.

    Examples
    --------
    >>> from calipers.paper.datasets import load
    >>> round(split_error(load("wine")), 2)
    0.26
    """
    X_train, X_test = data.X_train, data.X_test
    if metric is not None:
        X_train, X_test = metric.transform(X_train), metric.transform(X_test)
    return knn_error(X_train, data.y_train, X_test, data.y_test, n_neighbors=n_neighbors)
