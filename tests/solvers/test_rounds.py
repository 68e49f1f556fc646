"""Rounds: triplets mined anew, and a solver started anew, under what was learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calipers import TripletSGD
from calipers.arrays import FloatArray, IndexArray
from calipers.data.triplets import DrawnTriplets
from calipers.metric.coordinates import factor
from calipers.solvers import plan
from learners import iris, random_triplets, streams
from reference.plain import plain_walk
from solver_runs import assert_same_matrix
from watch import Watch

X, Y = iris()
SETTINGS: dict[str, Any] = {"init": "identity", "batch_size": 10, "random_state": 0}


def test_a_round_is_a_fit_in_the_coordinates_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[IndexArray] = []

    class Recorded(DrawnTriplets):
        def __init__(self, *args: Any, **settings: Any) -> None:
            super().__init__(*args, **settings)
            drawn.append(next(self.portions(10**6)))

    monkeypatch.setattr(plan, "DrawnTriplets", Recorded)
    usual: dict[str, Any] = {"method": "mini-sgd", "n_triplets": 500, **SETTINGS}
    both = TripletSGD(**usual, n_rounds=2).fit(X, Y)
    first = TripletSGD(**usual, n_rounds=1).fit(X, Y)
    np.testing.assert_array_equal(drawn[0], drawn[2])
    L = factor(first.get_mahalanobis_matrix())
    alone = TripletSGD("mini-sgd", n_rounds=1, **SETTINGS).fit_triplets(X @ L.T, drawn[1])
    expected = L.T @ alone.get_mahalanobis_matrix() @ L
    assert_same_matrix(both.get_mahalanobis_matrix(), expected, 1e-9)
    assert both.n_updates_ == first.n_updates_ + alone.n_updates_ == 100
    assert both.n_projections_ == first.n_projections_ + alone.n_projections_
    assert (both.n_iter_, both.n_rounds_) == (100, 2)
    np.testing.assert_array_equal(both.triplet_curve_, 10 * np.arange(1, 101))
    np.testing.assert_array_equal(both.update_curve_, np.arange(1, 101))
    np.testing.assert_allclose(both.loss_curve_[0], first.loss_curve_[0])


def test_later_triplets_are_neighbours_in_the_learned_metric() -> None:
    """Features without meaning hide the neighbours of the first round."""
    noise = 3.0 * np.random.default_rng(0).standard_normal((len(X), 5))
    samples = np.column_stack([X, noise])
    learner = TripletSGD(init="identity", n_triplets=3000, random_state=0)
    one, three = (learner.set_params(n_rounds=n).fit(samples, Y).transform(samples) for n in (1, 3))

    def wrong(Z: FloatArray) -> int:
        distances = ((Z[:, None] - Z) ** 2).sum(axis=2) + np.diag(np.full(len(Z), np.inf))
        return int(np.count_nonzero(Y[distances.argmin(axis=1)] != Y))

    assert wrong(three) < wrong(one)


def test_a_round_over_given_triplets_is_a_pass() -> None:
    triplets = random_triplets(150, 200)
    fitted = TripletSGD.paper("mini-sgd", n_neighbors=None, n_triplets=None, n_rounds=2)
    fitted.fit_triplets(X, triplets)
    first = plain_walk(X, triplets, "mini-sgd", uniforms=np.zeros(20)).average
    L = factor(first)
    second = plain_walk(X @ L.T, triplets, "mini-sgd", uniforms=np.zeros(20)).average
    assert_same_matrix(fitted.get_mahalanobis_matrix(), L.T @ second @ L)
    assert fitted.n_iter_ == 40


def test_a_callback_that_stops_keeps_the_metric_of_its_round() -> None:
    learner = TripletSGD("mini-sgd", n_triplets=500, n_rounds=2, **SETTINGS)
    whole = Watch()
    learner.set_callbacks(whole).fit(X, Y)
    stopped = learner.set_callbacks(Watch(stop_after=60)).fit(X, Y)
    assert stopped.n_iter_ == 60
    np.testing.assert_array_equal(stopped.components_, whole.seen[59])


def test_random_streams_are_those_documented() -> None:
    for got, expected in zip(plan.random_streams(3), streams(3), strict=True):
        np.testing.assert_array_equal(got.random(5), expected.random(5))
