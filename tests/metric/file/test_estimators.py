"""Every estimator of the package comes back from its file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import calipers
from calipers import load

X, Y = load_iris(return_X_y=True)
PAIRS = np.stack([X[:75], X[75:]], axis=1)
NAMES = np.array(["Iris setosa", "Iris versicolor", "Iris virginica"])

LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "TripletSGD": ("TripletSGD", {"n_triplets": 200, "random_state": 0}),
    "two components": (
        "TripletSGD",
        {"method": "as-sgd", "n_triplets": 200, "n_components": 2, "random_state": 0},
    ),
    "SPML": ("SPML", {"n_triplets": 200, "random_state": 0}),
    "SCML": ("SCML", {"n_triplets": 200, "random_state": 0}),
    "OASIS": ("OASIS", {"n_triplets": 200, "n_components": 3, "random_state": 0}),
    "LEGO": ("LEGO", {"n_triplets": 200, "random_state": 0}),
    "ITML": ("ITML", {"n_triplets": 20, "random_state": 0}),
    "LMNN": ("LMNN", {"max_iter": 2}),
    "Euclidean": ("Euclidean", {}),
}


def fitted(name: str) -> Any:
    learner, settings = LEARNERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that two iterations are not enough
        return getattr(calipers, learner)(**settings).fit(X, NAMES[Y])


@pytest.mark.parametrize("name", LEARNERS)
def test_every_estimator_comes_back_bit_for_bit(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    metric = fitted(name)
    metric.save(path, X=X)
    again = load(path)
    assert again.components_.dtype == np.float64
    assert again.components_.tobytes() == np.ascontiguousarray(metric.components_).tobytes()
    np.testing.assert_array_equal(again.transform(X), metric.transform(X))
    np.testing.assert_array_equal(again.pair_distance(PAIRS), metric.pair_distance(PAIRS))
    np.testing.assert_array_equal(again.pair_score(PAIRS), metric.pair_score(PAIRS))
    np.testing.assert_array_equal(again.get_mahalanobis_matrix(), metric.get_mahalanobis_matrix())
    assert again.get_metric()(X[0], X[99]) == metric.get_metric()(X[0], X[99])
    assert again.get_feature_names_out().tolist() == metric.get_feature_names_out().tolist()
    np.testing.assert_array_equal(again.feature_scale_, X.std(axis=0))
    assert again.learner_ == type(metric).__name__
    plain = str | int | float | None
    for given, value in metric.get_params(deep=False).items():
        assert not isinstance(value, plain) or again.parameters_[given] == value
    for given in again.parameters_:
        assert (given in again.resolved_) == hasattr(metric, f"{given}_")
    assert again.facts_["n_updates_"] == metric.n_updates_
    assert again.notes_ == getattr(metric, "notes_", [])
    for curve in ("loss_curve_", "update_curve_", "objective_curve_"):
        if hasattr(metric, curve):
            np.testing.assert_array_equal(again.facts_[curve], getattr(metric, curve))
    if hasattr(metric, "classes_"):
        assert again.classes_.tolist() == metric.classes_.tolist()
    again.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()
