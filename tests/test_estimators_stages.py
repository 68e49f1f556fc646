"""Stages: triplets drawn anew in the coordinates of what was learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from calipers import TripletSGD
from calipers.arrays import IndexArray
from calipers.estimators import from_triplets as module
from calipers.metric import factor
from calipers.triplets import DrawnTriplets
from walks import assert_same_matrix

X, Y = load_iris(return_X_y=True)


def fit(**settings: Any) -> TripletSGD:
    usual: dict[str, Any] = {"random_state": 0, "start": "identity", "guard": False}
    fitted: TripletSGD = TripletSGD(**usual | settings).fit(X, Y)
    return fitted


def test_a_stage_is_a_fit_in_the_coordinates_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[IndexArray] = []

    class Recorded(DrawnTriplets):
        def __init__(self, *args: Any, **settings: Any) -> None:
            super().__init__(*args, **settings)
            drawn.append(next(self.portions(10**6)))

    monkeypatch.setattr(module, "DrawnTriplets", Recorded)
    both = fit(method="mini-sgd", n_triplets=1000, n_stages=2)
    _, second = drawn
    first = fit(method="mini-sgd", n_triplets=500, n_stages=1)
    L = factor(first.get_mahalanobis_matrix())
    alone = TripletSGD("mini-sgd", start="identity").fit_triplets(X @ L.T, second)
    expected = L.T @ alone.get_mahalanobis_matrix() @ L
    assert_same_matrix(both.get_mahalanobis_matrix(), expected, 1e-9)
    assert both.n_updates_ == first.n_updates_ + alone.n_updates_ == 100
    assert both.n_projections_ == first.n_projections_ + alone.n_projections_
    assert both.n_iter_ == 100
    assert both.n_stages_ == 2
    np.testing.assert_array_equal(both.triplet_curve_, 10 * np.arange(1, 101))
    np.testing.assert_array_equal(both.update_curve_, np.arange(1, 101))


def test_second_triplets_are_neighbours_in_the_learned_metric() -> None:
    """Features without meaning hide the neighbours of the first stage."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([X, 3.0 * rng.standard_normal((len(X), 5))])
    settings: dict[str, Any] = {"random_state": 0, "start": "identity", "n_triplets": 3000}
    settings["guard"] = False
    one, three = (TripletSGD(**settings, n_stages=n).fit(rows, Y).transform(rows) for n in (1, 3))

    def wrong(Z: Any) -> int:
        distances = ((Z[:, None] - Z) ** 2).sum(axis=2) + np.diag(np.full(len(Z), np.inf))
        return int(np.count_nonzero(Y[distances.argmin(axis=1)] != Y))

    assert wrong(three) < wrong(one)


def test_stages_by_the_number_of_features() -> None:
    assert fit(n_triplets=1000).n_stages_ == 3
    wide = np.tile(X, 13)
    settings: dict[str, Any] = {"n_triplets": 1000, "random_state": 0}
    assert TripletSGD(**settings).fit(wide[:, :49], Y).n_stages_ == 2
    assert TripletSGD("mini-sgd", **settings).fit(wide[:, :49], Y).n_stages_ == 1
    assert TripletSGD(**settings, n_stages=4).fit(wide[:, :49], Y).n_stages_ == 4


def test_fewer_batches_than_stages_and_triplets_that_are_given() -> None:
    assert fit(n_triplets=20).n_stages_ == 2
    assert fit(n_triplets=10).n_stages_ == 1
    assert TripletSGD(n_stages=3).fit_triplets(X, [[0, 1, 149]] * 60).n_stages_ == 1


def test_a_callback_that_stops_keeps_the_metric_of_its_stage() -> None:
    class Stop:
        def __init__(self, after: int) -> None:
            self.left = after

        def setup(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_begin(self, estimator: Any, context: Any, **_: Any) -> None: ...

        def on_fit_task_end(self, estimator: Any, context: Any, **_: Any) -> bool:
            self.left -= 1
            return self.left <= 0

        def teardown(self, estimator: Any, context: Any) -> None: ...

    settings: dict[str, Any] = {"method": "mini-sgd", "n_triplets": 1000, "random_state": 0}
    stopped = TripletSGD(**settings, n_stages=2).set_callbacks(Stop(60)).fit(X, Y)
    assert stopped.n_iter_ == 60
    assert np.isfinite(stopped.components_).all()
