"""Metrics of few dimensions: batches of samples, held-out halves, and what comes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calipers import Euclidean, TripletSGD
from calipers.arrays import IndexArray
from calipers.data.samples import MemorySamples
from calipers.evaluation import knn_error
from calipers.solvers.low_rank import SampleBatches, alternate, halves, held_out_error
from learners import iris

RNG = np.random.default_rng(0)
X, Y = iris()


def batches_of(labels: IndexArray, **settings: Any) -> list[IndexArray]:
    samples = MemorySamples(RNG.random((len(labels), 2)), labels)
    batches = SampleBatches(samples, 10, RNG, **settings)
    rows = next(batches.portions(10))
    assert rows.shape == (10, 2 * batches.n_index_columns)
    places, indices = np.split(rows, 2, axis=1)
    np.testing.assert_array_equal(places, indices)
    return list(indices)


def test_every_sample_of_a_batch_has_another_of_its_class() -> None:
    labels = np.append(np.arange(99) // 2, 50)  # pairs; the last two are singletons
    batches = batches_of(labels, batch_size=40)
    for indices in batches:
        assert len(indices) == 40
        for index in indices[labels[indices] < 49]:
            assert np.any((labels[indices] == labels[index]) & (indices != index))
    fresh = np.concatenate([indices[:20] for indices in batches[:5]])
    np.testing.assert_array_equal(np.sort(fresh), np.arange(100))  # before one comes again


def test_batches_without_partners_hold_samples_in_random_order() -> None:
    batches = batches_of(np.arange(100), batch_size=50, partners=False)
    for first, second in zip(batches[::2], batches[1::2], strict=True):
        np.testing.assert_array_equal(np.sort(np.append(first, second)), np.arange(100))


def test_a_large_batch_holds_all_samples() -> None:
    for indices in batches_of(np.arange(100) % 3, batch_size=100):
        np.testing.assert_array_equal(indices, np.arange(100))


def test_halves_alternate_within_classes() -> None:
    labels = RNG.integers(4, size=101)
    held = alternate(labels, np.random.default_rng(0))
    assert held.sum() == 50
    for label in range(4):
        assert abs(np.sum(held[labels == label]) - np.sum(labels == label) / 2) <= 1.0
    few = MemorySamples(X[:4], np.array([0, 0, 1, 1]))
    assert halves(few, RNG) is None
    assert halves(MemorySamples(X, Y), RNG) is not None


def test_the_error_of_held_out_samples() -> None:
    Z = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1]])
    labels, held = np.array([0, 0, 1, 1, 1, 1]), np.array([True, False, False, False, True, False])
    assert held_out_error(MemorySamples(Z, labels), held) == 0.5  # the first is outvoted
    weights = np.array([3.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert held_out_error(MemorySamples(Z, labels, weights), held) == 0.75


def plane(seed: int) -> tuple[Any, Any]:
    """Four classes in a plane, beside louder features."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=400)
    corners = 2.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[labels]
    return np.hstack(
        [corners + 0.3 * rng.standard_normal((400, 2)), 3.0 * rng.standard_normal((400, 8))]
    ), labels


def test_two_dimensions_are_those_that_tell_classes_apart() -> None:
    samples, labels = plane(0)

    def error(learner: Any) -> float:
        images = learner.fit(samples[::2], labels[::2]).transform(samples)
        return knn_error(images[::2], labels[::2], images[1::2], labels[1::2])

    learned = error(TripletSGD(n_components=2, random_state=0))
    assert learned < 0.1 < 0.5 * error(Euclidean(n_components=2))


@pytest.mark.parametrize("init", ["identity", "scaled", "within-class"])
def test_rotation_and_units_do_not_matter(init: str) -> None:
    samples, labels = plane(1)
    fitted = TripletSGD(n_components=2, init=init, random_state=0).fit(samples, labels)
    assert fitted.components_.shape == (2, 10)
    scaled = TripletSGD(n_components=2, init=init, random_state=0).fit(1024.0 * samples, labels)
    images, again = fitted.transform(samples), scaled.transform(1024.0 * samples)
    ratio = np.linalg.norm(again) / np.linalg.norm(images)
    np.testing.assert_allclose(again, ratio * images, rtol=1e-5, atol=1e-5 * np.abs(again).max())
