"""The solver of a factor against its definition, its batches, and what it finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import ortho_group

from calipers import NCA, Euclidean
from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import MemorySamples
from calipers.evaluation import knn_error
from calipers.metric.init import LinearMap
from calipers.solvers.low_rank import STEP, FactoredSolver, FactorRound, SampleBatches
from calipers.solvers.soft_neighbors import squared_distances

RNG = np.random.default_rng(0)
X, LABELS = RNG.standard_normal((60, 5)), np.arange(60) % 3
INIT = RNG.standard_normal((2, 5))
ROWS = [RNG.choice(60, 30) for _ in range(6)]
EXAMPLES = np.array([np.concatenate([row, row]) for row in ROWS], dtype=np.intp)


def solver(init: FloatArray = INIT) -> FactoredSolver:
    return FactoredSolver(init, LABELS, n_examples=len(EXAMPLES))


def by_definition(L: FloatArray, example: IndexArray) -> float:
    indices = np.split(example, 2)[1]
    classes = LABELS[indices]
    losses = []
    for a in range(len(indices)):
        others = [r for r in range(len(indices)) if indices[r] != indices[a]]
        squared = [np.sum((L @ (X[indices[a]] - X[indices[r]])) ** 2) for r in others]
        same = [classes[r] == classes[a] for r in others]
        losses.append(1.0 - softmax(-np.array(squared))[same].sum())
    return float(np.mean(losses))


def test_the_first_step_is_along_the_gradient_of_the_definition() -> None:
    one = solver()
    indices = EXAMPLES[0][:30]
    Z = X[indices] @ INIT.T
    apart = squared_distances(Z, Z)
    typical = np.median(apart[LABELS[indices, None] != LABELS[indices]])
    L = INIT * np.sqrt(4.0 / typical)
    gradient = np.empty_like(L)
    for place in np.ndindex(L.shape):
        up, down = L.copy(), L.copy()
        up[place] += 1e-6
        down[place] -= 1e-6
        gradient[place] = (by_definition(up, EXAMPLES[0]) - by_definition(down, EXAMPLES[0])) / 2e-6
    one.advance(X, EXAMPLES[:1])
    rms = np.sqrt(np.mean(L**2)) / np.sqrt(np.mean(gradient**2))
    np.testing.assert_allclose(one.L, L - STEP * rms * gradient, rtol=1e-6, atol=1e-8)
    assert np.isclose(one.curve[-1].loss, by_definition(L, EXAMPLES[0]))


def test_rotation_scale_and_portions_do_not_matter() -> None:
    whole, parts, longer, turned = solver(), solver(), solver(7.0 * INIT), solver(INIT)
    Q = ortho_group.rvs(5, random_state=0)
    turned.L = INIT @ Q
    whole.advance(X, EXAMPLES)
    longer.advance(X, EXAMPLES)
    turned.advance(X @ Q, EXAMPLES)
    for example in EXAMPLES:
        parts.advance(X, example[None])
    np.testing.assert_array_equal(parts.L, whole.L)
    np.testing.assert_allclose(longer.L, whole.L, rtol=1e-9)
    np.testing.assert_allclose(turned.L, whole.L @ Q, rtol=1e-8, atol=1e-10)
    assert whole.n_updates == whole.n_iterations == 6
    np.testing.assert_allclose(whole.metric, whole.L.T @ whole.L)


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
    for indices in batches_of(np.arange(100) % 3, batch_size=100):
        np.testing.assert_array_equal(indices, np.arange(100))


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

    assert error(NCA(2, random_state=0)) < 0.1 < 0.5 * error(Euclidean(n_components=2))


@pytest.mark.parametrize("init", [LinearMap(), LinearMap(np.full(10, 0.1))])
def test_units_do_not_matter(init: LinearMap) -> None:
    samples, labels = plane(1)
    factors = []
    for unit in (1.0, 1024.0):
        learned = FactorRound(
            MemorySamples(unit * samples, labels), init, 2, np.random.default_rng(0)
        )
        for X, portion in learned.round.steps():
            learned.solver.advance(X, portion)
        L = learned.components()
        factors.append(unit * L)
    np.testing.assert_allclose(factors[0], factors[1], rtol=1e-9)
