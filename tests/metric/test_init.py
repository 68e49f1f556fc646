"""Initial metrics: what they are, which one "auto" is, and images that do not depend on others."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from calipers import TripletSGD
from calipers.data.samples import MemorySamples
from calipers.metric import init
from calipers.metric.init import (
    LinearMap,
    discriminant_axes,
    initial_map,
    leave_one_out_error,
    product,
    resolved_init,
    within_class,
)
from learners import iris, random_triplets
from solver_runs import assert_same_matrix

X, Y = iris()
WINE, WINE_Y = load_wine(return_X_y=True)
SAMPLES = MemorySamples(X, Y)
SETTINGS: dict[str, Any] = {"n_triplets": 500, "random_state": 0}


@pytest.mark.parametrize("kind", [*init.NAMES, "matrix"])
def test_learning_from_an_init_is_learning_in_its_coordinates(kind: str) -> None:
    given: Any = np.diag([1.0, 2.0, 3.0, 4.0]) if kind == "matrix" else kind
    linear = initial_map(given, SAMPLES)
    L = linear.then(np.eye(4))
    np.testing.assert_allclose(linear(X), X @ L.T, rtol=1e-9, atol=1e-9)
    inside = TripletSGD(init="identity", **SETTINGS).fit(linear(X), Y)
    fitted = TripletSGD(init=given, **SETTINGS).fit(X, Y)
    expected = L.T @ inside.get_mahalanobis_matrix() @ L
    assert_same_matrix(fitted.get_mahalanobis_matrix(), expected, 1e-10)
    np.testing.assert_array_equal(fitted.init_, given)
    assert fitted.init_ is not given or isinstance(given, str)


def test_an_init_of_few_rows_stays_in_their_span() -> None:
    L = np.random.default_rng(0).standard_normal((2, 4))
    fitted = TripletSGD(init=L, **SETTINGS).fit(X, Y)
    assert np.linalg.matrix_rank(np.vstack([fitted.components_, L]), tol=1e-8) == 2
    one = TripletSGD(init=2**0.5 * L, **SETTINGS).fit(X, Y)
    assert one.n_updates_ == fitted.n_updates_


def test_scaled_features_have_unit_deviation_and_constant_ones_stay() -> None:
    """The deviation of equal numbers may be 6e-16, and a factor of 1e15 drown all others."""
    values = np.column_stack([X, np.full(150, 0.48)])
    assert values[:, 4].std() > 0.0
    samples = MemorySamples(values, Y)
    images = initial_map("scaled", samples)(values)
    np.testing.assert_allclose(images.std(axis=0), [1, 1, 1, 1, 0], atol=1e-12)
    for linear in (initial_map("scaled", samples), within_class(samples)):
        assert np.abs(linear.then(np.eye(5))).max() < 1e7
        fitted = TripletSGD(init=linear.then(np.eye(5)), **SETTINGS).fit(values, Y)
        assert fitted.get_mahalanobis_matrix()[4, :4] == pytest.approx(0.0)


def test_within_class_makes_the_covariance_within_classes_round() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(20_000) % 2
    values = rng.standard_normal((20_000, 3)) @ np.array([[5.0, 0, 0], [3, 1, 0], [0, 2, 0.1]])
    values[:, 0] += 100.0 * labels
    images = within_class(MemorySamples(values, labels))(values)
    np.testing.assert_allclose(np.cov(images[labels == 0].T), np.eye(3), atol=0.05)
    axes = discriminant_axes(images, labels, rank=1)
    difference = images[labels == 1].mean(axis=0) - images[labels == 0].mean(axis=0)
    assert axes.shape == (1, 3)
    assert abs(axes[0] @ difference) == pytest.approx(np.linalg.norm(difference))
    more = discriminant_axes(images, labels, rank=3)
    np.testing.assert_allclose(more @ more.T, np.eye(3), atol=1e-12)
    np.testing.assert_array_equal(more[:1], axes)
    same = np.repeat(np.eye(3), 5, axis=0), np.repeat(np.arange(3), 5)
    assert np.isfinite(within_class(MemorySamples(*same))(same[0])).all()


@pytest.mark.parametrize("kind", ["scaled", "within-class"])
def test_units_of_features_do_not_matter(kind: str) -> None:
    """However unlike they are; with powers of two all else is the same to the last bit."""
    units = np.ldexp(1.0, np.random.default_rng(0).permutation(np.arange(-36, 42, 6)))
    usual = TripletSGD(init=kind, **SETTINGS).fit(WINE, WINE_Y)
    unlike = TripletSGD(init=kind, **SETTINGS).fit(WINE * units, WINE_Y)
    assert unlike.n_updates_ == usual.n_updates_
    pairs = np.stack([WINE[:-1], WINE[1:]], axis=1)
    np.testing.assert_allclose(
        unlike.pair_distance(pairs * units), usual.pair_distance(pairs), rtol=1e-6
    )


# "auto"


def test_auto_is_the_one_of_two_with_fewer_errors() -> None:
    for values, labels in ((X, Y), (WINE, WINE_Y)):
        samples = MemorySamples(values, labels)
        maps = LinearMap(), initial_map("scaled", samples)
        errors = [leave_one_out_error(samples.transformed(m)) for m in maps]
        expected = "scaled" if errors[1] < errors[0] else "identity"
        assert resolved_init("auto", samples) == expected
        assert TripletSGD(**SETTINGS).fit(values, labels).init_ == expected
    assert expected == "scaled"  # wine is not measured by proline alone


def test_triplets_have_no_classes() -> None:
    triplets = random_triplets(150, 20)
    assert TripletSGD().fit_triplets(X, triplets).init_ == "identity"
    assert TripletSGD(init="scaled").fit_triplets(X, triplets).init_ == "scaled"


def test_three_nearest_samples_vote() -> None:
    """Of samples as near, those of lower index vote; where all differ the nearest decides."""
    values = np.array([[0.0], [1.0], [2.0], [2.5], [9.0], [9.0], [9.0], [9.0]])
    labels = np.array([0, 0, 1, 0, 1, 1, 2, 2])
    votes = [[0, 1, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0], [1, 2, 2], [1, 2, 2], [1, 1, 2], [1, 1, 2]]
    winners = np.array([Counter(vote).most_common(1)[0][0] for vote in votes])
    assert leave_one_out_error(MemorySamples(values, labels)) == np.mean(winners != labels)
    singletons = MemorySamples(values[:3], np.arange(3))
    assert leave_one_out_error(singletons) == 0.0


# Images


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [3, 16, 37, 64, 257, 617])
def test_the_image_of_a_sample_does_not_depend_on_those_beside_it(d: int, dtype: Any) -> None:
    rng = np.random.default_rng(d)
    values, L = rng.normal(size=(700, d)).astype(dtype), rng.normal(size=(d, d))
    whole = product(values, L)
    np.testing.assert_allclose(whole, values @ L.T, rtol=1e-4, atol=1e-4)
    for some in (slice(1, 2), slice(3, 302), slice(500, 700), slice(0, 256)):
        np.testing.assert_array_equal(product(values[some], L), whole[some])
