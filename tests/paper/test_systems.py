"""The compared systems and their settings."""

from __future__ import annotations

import numpy as np
import pytest

from calipers import LEGO, TripletSGD
from calipers.paper import datasets, systems
from calipers.paper.datasets import DatasetError
from calipers.paper.systems import STUDIED, SYSTEMS


def test_names_are_checked_and_put_in_order() -> None:
    chosen = systems.choose(["ha-sgd", "parameters", "lmnn"])
    assert [system.name for system in chosen] == ["lmnn", "ha-sgd"]
    with pytest.raises(DatasetError, match="Unknown method 'sdg': choose among euclidean, lmnn"):
        systems.choose(["sdg"])


def test_drawn_triplets_are_those_of_a_fit() -> None:
    data = datasets.load("iris", split=2)
    triplets, seconds = systems.draw_triplets(data, seed=5, n_triplets=2000)
    apart = TripletSGD.paper("hr-sgd", n_neighbors=None, n_triplets=2000, random_state=5)
    apart.fit_triplets(data.X_train, triplets)
    whole = TripletSGD.paper("hr-sgd", n_triplets=2000, random_state=5)
    whole.fit(data.X_train, data.y_train)
    np.testing.assert_array_equal(apart.components_, whole.components_)
    assert seconds > 0


def test_the_study_changes_one_number() -> None:
    for name, system in STUDIED.items():
        learner = system.make(seed=0)
        recipe = vars(learner.method) if system.is_sgd else {}
        assert {**learner.get_params(), **recipe}[system.parameter] == system.value
        assert name.startswith(f"{system.name.partition(':')[0]}:")
    usual = SYSTEMS["mini-sgd"].make(seed=0).get_params()
    same = STUDIED["mini-sgd:batch_size=10"].make(seed=0).get_params()
    other = STUDIED["mini-sgd:batch_size=30"].make(seed=0).get_params()
    assert same == usual
    assert {name for name in usual if usual[name] != other[name]} == {"batch_size"}


def test_legos_limits_are_bins_of_a_hundred_pairs() -> None:
    """Squared distances of all pairs are 1 or 10,001: bins are 100 wide, the first ends at 101."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 10_001**0.5]])
    limits = systems.lego_limits(X, np.tile([0, 1, 2], (500, 1)), seed=0)
    assert limits["near_distance"] ** 2 == pytest.approx(451)  # centre of 401 to 501
    assert limits["far_distance"] ** 2 == pytest.approx(9451)
    assert set(limits) <= set(LEGO().get_params())
