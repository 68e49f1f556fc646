"""The small data sets that come with scikit-learn: no file, no network."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from calipers.paper.datasets.split import Table, features, labels


def _from_sklearn(loader: str) -> Table:
    """Call ``sklearn.datasets.<loader>``; scikit-learn is imported only now."""
    X, y = getattr(import_module("sklearn.datasets"), loader)(return_X_y=True)
    return Table(features(X), labels(y))


READERS: dict[str, Callable[[], Table]] = {
    "digits": partial(_from_sklearn, "load_digits"),
    "iris": partial(_from_sklearn, "load_iris"),
    "wine": partial(_from_sklearn, "load_wine"),
    "breast_cancer": partial(_from_sklearn, "load_breast_cancer"),
}
"""Name to a function that reads the whole table, features as scikit-learn has them."""
