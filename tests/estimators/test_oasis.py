"""OASIS: the plain similarity, its scores, and the paper's counts."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from calipers import OASIS
from calipers.data.samples import MemorySamples
from calipers.data.triplets import DrawnTriplets
from calipers.paper import datasets
from data_folder import FOLDER, needs_data
from learners import iris, random_triplets, streams
from reference.plain import project
from reference.plain_online import plain_oasis, plain_oasis_distance
from solver_runs import assert_same_matrix

X, Y = iris()


def test_it_is_the_plain_algorithm() -> None:
    fitted = OASIS(n_triplets=800, random_state=3).fit(X, Y)
    source = DrawnTriplets(MemorySamples(X, Y), 800, n_neighbors=1, rng=streams(3)[0])
    run = plain_oasis(X, next(source.portions(800)))
    assert fitted.n_updates_ == sum(run.updated)
    assert_same_matrix(fitted.similarity_, run.matrix)
    expected = project((run.matrix + run.matrix.T) / 2, np.inf)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), expected)


def test_own_triplets_are_taken_in_order() -> None:
    triplets = random_triplets(150, 100)
    fitted = OASIS(n_triplets=7).fit_triplets(X, triplets)
    assert_same_matrix(fitted.similarity_, plain_oasis(X, triplets).matrix)


def test_scores_are_similarities() -> None:
    fitted = OASIS(n_triplets=800, random_state=0).fit(X, Y)
    pairs = np.stack([X[:75], X[75:]], axis=1)
    expected = [p @ fitted.similarity_ @ q for p, q in pairs]
    np.testing.assert_allclose(fitted.pair_score(pairs), expected)
    turned = fitted.pair_score(pairs[:, ::-1])
    assert not np.allclose(turned, expected, rtol=1e-3)  # W is not symmetric
    distances = [fitted.get_metric()(p, q) for p, q in pairs]
    np.testing.assert_allclose(fitted.pair_distance(pairs), distances)
    with pytest.raises(ValueError, match=r"pairs must have shape \(n_pairs, 2, 4\)"):
        fitted.pair_score(X)
    with pytest.raises(NotFittedError):
        OASIS().pair_score(pairs)


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_a_distance_takes_the_same_steps_on_the_cone(C: float, scale: float) -> None:
    triplets = random_triplets(150, 400)
    fitted = OASIS(form="distance", aggressiveness=C).fit_triplets(scale * X, triplets)
    run = plain_oasis_distance(scale * X, triplets, C)
    assert fitted.n_updates_ == sum(run.updated)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), run.matrix)


def test_an_unclipped_step_ends_the_loss_of_its_triplet() -> None:
    samples = 0.1 * X  # 101 and 142 are equal, so that the step needs no projection
    triplets = np.tile([101, 142, 0], (9, 1))
    fitted = OASIS(form="distance", aggressiveness=1e9).fit_triplets(samples, triplets)
    assert fitted.n_updates_ == 1
    assert fitted.pair_distance([samples[[101, 0]]])[0] == pytest.approx(1.0)


def test_a_distance_is_no_similarity() -> None:
    learner = OASIS(n_triplets=100, random_state=0).fit(X, Y)
    learner.set_params(form="distance").fit(X, Y)
    assert not hasattr(learner, "similarity_")
    pairs = np.stack([X[:75], X[75:]], axis=1)
    np.testing.assert_array_equal(learner.pair_score(pairs), -learner.pair_distance(pairs))


@needs_data
@pytest.mark.parametrize(
    ("name", "form", "published"),
    [
        ("dna", "distance", 2042),
        ("letter", "distance", 28063),
        pytest.param("connect4", "similarity", 69865, marks=pytest.mark.slow),
    ],
)
def test_the_papers_counts(
    name: str, form: Literal["similarity", "distance"], published: int
) -> None:
    data = datasets.load(name, data_dir=FOLDER)
    fitted = OASIS(form=form, random_state=0).fit(data.X_train, data.y_train)
    assert fitted.n_updates_ == pytest.approx(published, rel=0.05)
