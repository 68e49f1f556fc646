"""Coordinates: in the span of few samples learning is that among all features, and faster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calipers import (
    Euclidean,
    Scaled,
    TripletSGD,
    WithinClass,
    recipes,
)
from calipers.data.samples import MemorySamples
from calipers.metric import coordinates
from calipers.metric.coordinates import Coordinates, sample_covariance, span_basis
from calipers.metric.init import NAMES, initial_map
from learners import random_triplets

RNG = np.random.default_rng(0)
LABELS = np.arange(60) % 3
MEANS = 2.0 * RNG.standard_normal((3, 80))
X = (MEANS[LABELS] + RNG.standard_normal((60, 80))) * np.exp(RNG.standard_normal(80))
SAMPLES = MemorySamples(X, LABELS)


@pytest.fixture
def among_all_features(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Learning takes place in d x d matrices, whatever the samples."""

    def switch() -> None:
        monkeypatch.setattr(coordinates, "span_basis", lambda X: np.eye(X.shape[1]))

    return switch


def assert_same_metric(short: Any, whole: Any) -> None:
    assert short.n_updates_ == whole.n_updates_
    M = whole.get_mahalanobis_matrix()
    tolerance = 1e-8 * np.sqrt(np.outer(np.diag(M), np.diag(M)))
    assert (np.abs(short.get_mahalanobis_matrix() - M) <= tolerance).all()


@pytest.mark.parametrize("init", NAMES)
@pytest.mark.parametrize("n_rounds", [1, 3])
def test_the_metric_is_that_of_all_features(
    init: str, n_rounds: int, among_all_features: Any
) -> None:
    learner = TripletSGD(init=init, n_rounds=n_rounds, n_triplets=5000, random_state=0)
    short = learner.fit(X, LABELS)
    among_all_features()
    whole = TripletSGD(**learner.get_params()).fit(X, LABELS)
    assert_same_metric(short, whole)
    assert short.components_.shape == (80, 80)
    assert np.linalg.matrix_rank(short.components_) == 80


@pytest.mark.parametrize("method", ["sgd", "as-sgd", recipes.mini_sgd(margin_unit="one")])
@pytest.mark.parametrize("how", ["labels", "triplets"])
def test_so_it_is_with_other_recipes_and_own_triplets(
    method: Any, how: str, among_all_features: Any
) -> None:
    def fit() -> Any:
        # the ball is that of M in the coordinates, so that it must not be reached
        learner = TripletSGD(method, init="scaled", radius=1e9, random_state=0)
        if how == "triplets":
            return learner.fit_triplets(X, random_triplets(60, 500))
        return learner.set_params(n_triplets=500).fit(X, LABELS)

    short = fit()
    among_all_features()
    assert_same_metric(short, fit())


@pytest.mark.parametrize("learner", [Euclidean, Scaled, WithinClass])
def test_so_it_is_without_learning(learner: Any, among_all_features: Any) -> None:
    short = learner(n_components=20).fit(X, LABELS)
    among_all_features()
    assert_same_metric(short, learner(n_components=20).fit(X, LABELS))


@pytest.mark.parametrize("init", NAMES)
def test_what_a_basis_does_not_see_stays_as_it_was(init: str) -> None:
    linear = initial_map(init, SAMPLES)
    here, samples = Coordinates.of(init, SAMPLES)
    assert samples.shape == (60, 60)
    np.testing.assert_array_equal(samples.labels_of(np.arange(60)), LABELS)
    L = linear.then(np.eye(80))
    first = L.T @ L
    rounding = 1e-9 * np.abs(first).max()
    components = here.components(np.eye(60), 1.0, samples)
    np.testing.assert_allclose(components.T @ components, first, atol=rounding)
    twice, step = here.then(4.0 * np.eye(60), 4.0)
    components = twice.components(np.eye(60), 1.0, samples.transformed(step))
    np.testing.assert_allclose(components.T @ components, 4.0 * first, atol=rounding)


def test_as_many_samples_as_features_need_no_basis() -> None:
    here, samples = Coordinates.of("identity", MemorySamples(X[:, :60], LABELS))
    assert here.basis is None
    assert samples.shape == (60, 60)


def test_samples_that_are_all_the_same_have_a_basis() -> None:
    for values in (np.ones((5, 9)), np.zeros((5, 9)), 1e300 * X[:5]):
        basis = span_basis(values)
        np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-12)


def test_the_covariance_is_in_units_of_the_largest_deviation() -> None:
    for unit in (1e-200, 1.0, 1e200):
        found = sample_covariance(MemorySamples(unit * X))
        expected = np.cov(X.T, bias=True) / np.abs(X - X.mean(axis=0)).max() ** 2
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_few_components_of_many_features_make_nothing_of_all_features(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coordinates, "complement", None)  # calling it would raise a TypeError
    assert TripletSGD(n_components=3).fit(X, LABELS).components_.shape == (3, 80)
