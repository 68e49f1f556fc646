"""LEGO and ITML, the two learners from pairs: the plain algorithms, limits and warnings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from calipers import ITML, LEGO
from calipers.arrays import IndexArray
from calipers.data.samples import MemorySamples
from calipers.data.triplets import DrawnTriplets
from learners import iris, random_triplets, streams
from reference.plain_online import pairs_of, plain_itml, plain_lego
from solver_runs import assert_same_matrix

X, Y = iris()
each_learner = pytest.mark.parametrize("learner", [LEGO, ITML])


def make(learner: Any, **settings: Any) -> Any:
    n_triplets = 60 if learner is ITML else 800
    return learner(**{"n_triplets": n_triplets, "random_state": 0, **settings})


def drawn(n: int, rng: np.random.Generator) -> IndexArray:
    return next(DrawnTriplets(MemorySamples(X, Y), n, n_neighbors=1, rng=rng).portions(n))


def limits(rng: np.random.Generator) -> dict[str, float]:
    one = rng.integers(150, size=10_000)
    other = (one + 1 + rng.integers(149, size=10_000)) % 150
    near, far = np.percentile(np.sum((X[one] - X[other]) ** 2, axis=1), [5, 95])
    return {"near": float(near), "far": float(far)}


def test_lego_is_the_plain_algorithm() -> None:
    fitted = make(LEGO, random_state=3).fit(X, Y)
    triplet_rng, _, limit_rng = streams(3)
    found = limits(limit_rng)
    run = plain_lego(X, pairs_of(drawn(800, triplet_rng)), **found)
    assert fitted.near_distance_**2 == pytest.approx(found["near"])
    assert fitted.far_distance_**2 == pytest.approx(found["far"])
    assert fitted.n_updates_ == sum(run.updated)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), run.matrix)


def test_itml_is_the_plain_algorithm() -> None:
    fitted = make(ITML, random_state=3).fit(X, Y)
    triplet_rng, _, limit_rng = streams(3)
    found, pairs = limits(limit_rng), pairs_of(drawn(60, triplet_rng))
    run = plain_itml(X, pairs, **found, gamma=1.0, passes=fitted.n_iter_)
    assert fitted.n_updates_ == sum(run.updated)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), run.M)
    np.testing.assert_allclose(fitted.change_curve_, run.changes, rtol=1e-6)
    assert run.changes[-1] <= 1e-4 < run.changes[-2]
    assert fitted.converged_
    assert fitted.n_iter_ == len(fitted.loss_curve_) == len(fitted.change_curve_)
    assert fitted.loss_curve_[-1] < 0.7 * fitted.loss_curve_[0]


@each_learner
def test_own_triplets_and_their_pairs_are_taken_in_order(learner: Any) -> None:
    # more of such contradictory triplets make LEGO magnify rounding, of the plain loop too
    triplets = random_triplets(150, 50 if learner is ITML else 100)
    pairs, found = pairs_of(triplets), limits(streams(0)[2])
    by_triplets = make(learner, n_triplets=7).fit_triplets(X, triplets)
    if learner is LEGO:
        expected = plain_lego(X, pairs, **found).matrix
    else:
        expected = plain_itml(X, pairs, **found, gamma=1.0, passes=by_triplets.n_iter_).M
    assert_same_matrix(by_triplets.get_mahalanobis_matrix(), expected)
    by_pairs = make(learner).fit_pairs(X, pairs[:, :2], pairs[:, 2])
    np.testing.assert_allclose(by_pairs.components_, by_triplets.components_, rtol=1e-9, atol=1e-12)
    assert by_pairs.n_updates_ == by_triplets.n_updates_
    assert not hasattr(by_pairs, "classes_")


@each_learner
@pytest.mark.parametrize("signs", [[1, -1], [1.0, -1.0], np.array([1, -1], dtype=np.int8)])
def test_pairs_come_to_their_limits(learner: Any, signs: Any) -> None:
    """With endless force the two pairs are as far apart as was asked for."""
    force = {"learning_rate": 1e9} if learner is LEGO else {"slack_weight": 1e9, "tol": 1e-9}
    samples = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    fitted = make(learner, near_distance=0.5, far_distance=3.0, **force).fit_pairs(
        samples, [[0, 1], [0, 2]], signs
    )
    assert (fitted.near_distance_, fitted.far_distance_) == (0.5, 3.0)
    expected = np.diag([0.5**2 / 2.0**2, 3.0**2])
    np.testing.assert_allclose(fitted.get_mahalanobis_matrix(), expected, rtol=1e-6, atol=1e-6)


@each_learner
def test_a_metric_is_positive_definite(learner: Any) -> None:
    M = make(learner).fit(X, Y).get_mahalanobis_matrix()
    assert np.linalg.eigvalsh(M)[0] > 0.0


@pytest.mark.parametrize("how", ["fit", "fit_triplets", "fit_pairs"])
def test_too_few_passes_are_said_where_they_were_asked_for(how: str) -> None:
    given = {
        "fit": (Y,),
        "fit_triplets": (random_triplets(150, 40),),
        "fit_pairs": (random_triplets(150, 40)[:, :2], np.arange(40) % 2 * 2 - 1),
    }[how]
    learner = make(ITML, max_iter=2)
    with pytest.warns(ConvergenceWarning) as caught:
        getattr(learner, how)(X, *given)
    assert caught[0].filename == __file__
    told = str(caught[0].message)
    assert told.startswith(
        "ITML stopped after max_iter=2 passes, while the dual variables still changed by "
    )
    assert told.endswith("raise max_iter or tol, or lower slack_weight.")
    assert not learner.converged_
    assert learner.n_iter_ == 2
