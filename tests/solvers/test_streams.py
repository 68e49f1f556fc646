"""Batches that come one after the other: the same run, and little kept between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from calipers import TripletSGD, recipes
from calipers.data.samples import MemorySamples
from calipers.data.triplets import DrawnTriplets
from calipers.solvers.streams import Reservoir
from learners import iris
from solver_runs import METHODS

X, Y = iris()
RNG = np.random.default_rng(0)
TRIPLETS = next(DrawnTriplets(MemorySamples(X, Y), 3000, n_neighbors=5, rng=RNG).portions(3000))
RECIPES: list[Any] = [
    *(method for method in METHODS if method != "ha-sgd"),
    recipes.ha_sgd(norm_bound="running"),
    recipes.mini_sgd(average=False, clip=1.0),
    "all-pairs-sgd",
]


def streamed(learner: TripletSGD, sizes: list[int], samples: Any = X) -> TripletSGD:
    ends = np.cumsum(sizes).tolist()
    assert ends[-1] == len(TRIPLETS)
    for first, last in zip([0, *ends], ends, strict=False):
        learner.partial_fit_triplets(samples, TRIPLETS[first:last])
    return learner


def assert_same(got: TripletSGD, expected: TripletSGD) -> None:
    np.testing.assert_allclose(
        got.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), rtol=1e-9, atol=1e-12
    )
    assert (got.n_updates_, got.n_iter_) == (expected.n_updates_, expected.n_iter_)


@pytest.mark.parametrize("sizes", [[3000], [7, 1, 992, 503, 1497], [250] * 12])
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_batches_give_what_all_at_once_gives(recipe: Any, sizes: list[int]) -> None:
    learner = TripletSGD(recipe, init="scaled", random_state=0)
    once = clone(learner).set_params(n_rounds=1)
    assert_same(streamed(clone(learner), sizes), once.fit_triplets(X, TRIPLETS))


def test_little_is_kept_between_batches() -> None:
    learner = streamed(TripletSGD(batch_size=10, random_state=0), [1999, 996, 5])
    assert learner._stream_ is not None
    assert learner._stream_.triplets.shape == (0, 3)
    learner.partial_fit_triplets(X, TRIPLETS[:17])
    assert learner._stream_.triplets.shape == (7, 3)
    assert len(learner._stream_.X) <= 21


def test_fit_ends_a_stream_and_a_stream_begins_anew_after_it() -> None:
    expected = TripletSGD(random_state=0).fit_triplets(X, TRIPLETS)
    learner = streamed(TripletSGD(random_state=0), [3000]).fit_triplets(X, TRIPLETS)
    np.testing.assert_array_equal(learner.components_, expected.components_)
    once = TripletSGD(n_rounds=1, random_state=0).fit_triplets(X, TRIPLETS)
    assert_same(streamed(learner, [3000]), once)


def test_a_stream_of_labelled_samples_is_learned_from() -> None:
    """Features that tell nothing are turned down, as by a fit of all samples."""
    rng = np.random.default_rng(0)
    samples, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(samples))
    samples, labels = samples[order], labels[order]
    noisy = np.column_stack([samples, 30.0 * rng.random((len(samples), 10))])
    first, again = TripletSGD(random_state=0), TripletSGD(random_state=0)
    for learner in (first, again):
        for i in range(0, 1200, 100):
            learner.partial_fit(noisy[i : i + 100], labels[i : i + 100])
    np.testing.assert_array_equal(first.components_, again.components_)

    def score(images: Any) -> float:
        voter = KNeighborsClassifier(3).fit(images[:1200], labels[:1200])
        return float(voter.score(images[1200:], labels[1200:]))

    assert score(first.transform(noisy)) > score(noisy) + 0.02
    assert first.classes_.tolist() == list(range(10))


@pytest.mark.parametrize("method", ["all-pairs-sgd", "as-sgd"])
def test_batches_of_one_class_each(method: Any) -> None:
    """Negatives come from the sample of the batches before."""
    learner = TripletSGD(method, random_state=0)
    for label in (0, 1, 2):
        learner.partial_fit(X[label == Y], Y[label == Y])
        assert (learner.n_iter_ > 0) == (label > 0)
    assert learner.classes_.tolist() == [0, 1, 2]


def test_auto_is_resolved_by_the_first_batch_and_stays() -> None:
    learner = TripletSGD(random_state=0).partial_fit(1.0 * X, Y)
    resolved = {name: getattr(learner, name) for name in ("init_", "batch_size_", "n_neighbors_")}
    learner.partial_fit(X * [1e9, 1e-9, 1.0, 1.0], Y)
    assert resolved == {name: getattr(learner, name) for name in resolved}


def test_a_reservoir_is_bounded_and_fair() -> None:
    """Each of 1000 samples of a class is kept with probability 0.05; a rare class is kept whole."""
    counts = np.zeros(1000)
    for seed in range(200):
        reservoir = Reservoir(1, np.random.default_rng(seed), size=50)
        for part in np.split(np.arange(1000), 10):
            codes = reservoir.encode(np.full(100, "many"))
            reservoir.add(part[:, None].astype(float), codes)
        reservoir.add(np.array([[-1.0]]), reservoir.encode(np.array(["few"])))
        samples, codes = reservoir.samples()
        assert np.bincount(codes).tolist() == [50, 1]
        counts[samples[:50, 0].astype(int)] += 1
    tenths = counts.reshape(10, 100).sum(axis=1)  # each should be 1000
    assert (np.abs(tenths - 1000) < 150).all()
