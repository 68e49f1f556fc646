"""An estimator never mixes the attributes of two fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import MetricCV, TripletSGD, load
from learners import iris, random_triplets

X, Y = iris()


def state(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def test_another_kind_of_fit_leaves_nothing_behind() -> None:
    for estimator in (TripletSGD(random_state=0), MetricCV(random_state=0)):
        estimator.fit(X, Y)
        assert hasattr(estimator, "classes_")
        estimator.fit_triplets(X, random_triplets(150, 400))
        assert not hasattr(estimator, "classes_")
    learner = TripletSGD(random_state=0).fit(X, Y).partial_fit(X[::2], Y[::2])
    assert len(learner.triplet_curve_) == len(learner.loss_curve_) == 1


def test_a_batch_that_fails_is_forgotten() -> None:
    learner, other = TripletSGD(random_state=0), TripletSGD(random_state=0)
    outlier = X.copy()
    outlier[0, 0] = 1e80
    with pytest.raises(ValueError, match="powers leave float64"):
        learner.partial_fit(outlier, Y)
    assert not state(learner)
    for batch in (slice(0, 150, 2), slice(1, 150, 2)):
        learner.partial_fit(X[batch], Y[batch])
        other.partial_fit(X[batch], Y[batch])
        with pytest.raises(ValueError, match="of types int, str"):
            learner.partial_fit(X[:4], ["a", "b", "a", "b"])
    np.testing.assert_array_equal(learner.components_, other.components_)


def test_files_say_the_recipe_and_what_the_chosen_learner_resolved(tmp_path: Path) -> None:
    TripletSGD(random_state=0).fit(X, Y).save(tmp_path / "one")
    loaded = load(tmp_path / "one")
    assert loaded.recipe_ is not None
    assert loaded.recipe_["triplets"] == "all-pairs"
    candidates = [("sgd", TripletSGD(n_triplets=2000))]
    MetricCV(candidates, random_state=0).fit(X, Y).save(tmp_path / "two")
    loaded = load(tmp_path / "two")
    assert loaded.recipe_ is not None
    assert loaded.resolved_["n_triplets"] == 2000
    assert loaded.facts_["chosen_"] == "sgd"
