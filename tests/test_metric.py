"""The factor of a metric and what is done with it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from calipers import TripletSGD
from calipers.arrays import FloatArray
from calipers.metric import MahalanobisMixin, factor
from learners import iris, little


def positive(seed: int, d: int, rank: int) -> FloatArray:
    root = np.random.default_rng(seed).standard_normal((d, rank))
    return np.asarray(root @ root.T)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(0, 8))
def test_factor_times_itself_is_the_metric(seed: int, d: int, rank: int) -> None:
    M = positive(seed, d, min(rank, d))
    L = factor(M)
    assert L.shape == (d, d)
    np.testing.assert_allclose(L.T @ L, M, atol=1e-10 * (1 + float(np.linalg.norm(M))))


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_rows_fall_in_length_and_their_largest_entry_is_positive(seed: int, d: int) -> None:
    L = factor(positive(seed, d, d))
    lengths = np.linalg.norm(L, axis=1)
    assert (np.diff(lengths) <= 1e-12 * lengths[0]).all()
    largest = np.take_along_axis(L, np.abs(L).argmax(axis=1)[:, None], axis=1)
    assert (largest >= 0).all()
    gram = L @ L.T
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-10 * lengths[0] ** 2)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 8))
def test_fewer_rows_are_the_first_ones(seed: int, d: int, n_components: int) -> None:
    M = positive(seed, d, d)
    n_components = min(n_components, d)
    np.testing.assert_array_equal(factor(M, n_components), factor(M)[:n_components])


def test_negative_rounding_is_cut_and_no_zero_is_negative() -> None:
    L = factor(np.diag([1.0, -1e-17]))
    np.testing.assert_array_equal(L, [[1.0, 0.0], [0.0, 0.0]])
    assert not np.signbit(L).any()


@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.integers(1, 8))
def test_features_of_unlike_units_keep_their_digits(seed: int, d: int, rank: int) -> None:
    """Millions beside thousandths, and worse: the metric is what it is in units that are alike."""
    M, rng = positive(seed, d, min(rank, d)), np.random.default_rng(seed)
    units = np.ldexp(1.0, rng.permutation(np.linspace(-60, 60, d).astype(int)))
    graded = units * M * units[:, None]
    L, usual = factor(graded), np.sqrt(np.diag(M))
    alike = L / units / usual
    np.testing.assert_allclose(alike.T @ alike, M / usual / usual[:, None], atol=1e-12)
    lengths = np.linalg.norm(L, axis=1)
    assert (np.diff(lengths) <= 0.0).all()
    seen = L[lengths > 1e-6 * units.min()] / lengths[lengths > 1e-6 * units.min(), None]
    np.testing.assert_allclose(seen @ seen.T, np.eye(len(seen)), atol=1e-10)
    np.testing.assert_array_equal(factor(graded, 1), L[:1])


@pytest.mark.parametrize("smallest", [0.0, 1e-26])
def test_rounding_is_no_feature_of_small_units(smallest: float) -> None:
    M = 1e30 * np.array([[1.0, 1e-16, 0.0], [1e-16, smallest, 0.0], [0.0, 0.0, 1e-10]])
    M[0, 1] = M[1, 0] = 1e-10 * M[0, 0] if smallest else M[0, 1]
    L = factor(M)
    np.testing.assert_allclose(L.T @ L, M, rtol=1e-12, atol=1e21)
    np.testing.assert_allclose((L.T @ L)[2, 2], 1e20, rtol=1e-5)


class Fitted(MahalanobisMixin):
    """A learner that has learned ``components``."""

    def __init__(self, components: FloatArray | None = None) -> None:
        self.components = components

    def fit(self, X: FloatArray, y: object = None) -> Fitted:
        self.components_ = np.array(self.components)
        self.n_features_in_ = self.components_.shape[1]
        return self


L = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
A, B = np.random.default_rng(0).standard_normal((2, 20, 3))


@pytest.fixture
def fitted() -> Fitted:
    return Fitted(L).fit(A)


def test_all_ways_to_the_distance_agree(fitted: Fitted) -> None:
    pairs = np.stack([A, B], axis=1)
    expected = np.linalg.norm((A - B) @ L.T, axis=1)
    np.testing.assert_allclose(fitted.pair_distance(pairs), expected)
    np.testing.assert_allclose(fitted.pair_score(pairs), -expected)
    images = fitted.transform(A) - fitted.transform(B)
    np.testing.assert_allclose(np.linalg.norm(images, axis=1), expected)
    metric = fitted.get_metric()
    np.testing.assert_allclose([metric(a, b) for a, b in pairs], expected)
    np.testing.assert_allclose([metric(a, b, squared=True) for a, b in pairs], expected**2)
    M = fitted.get_mahalanobis_matrix()
    np.testing.assert_allclose(np.einsum("ni,ij,nj->n", A - B, M, A - B), expected**2)
    assert metric([0, 0, 0], [0, 0, 1]) == 1.0


def test_a_distance_is_a_pseudo_metric(fitted: Fitted) -> None:
    metric = fitted.get_metric()
    for a, b, c in zip(A, B, A[::-1], strict=True):
        assert metric(a, a) == 0.0
        assert metric(a, b) == metric(b, a) >= 0.0
        assert metric(a, c) <= metric(a, b) + metric(b, c) + 1e-12


def test_metric_outlives_a_refit(fitted: Fitted) -> None:
    metric = fitted.get_metric()
    before = metric(A[0], B[0])
    fitted.components_ *= 2.0
    assert metric(A[0], B[0]) == before


def test_metric_serves_scikit_learns_neighbours(fitted: Fitted) -> None:
    y = np.arange(20) % 3
    by_metric = KNeighborsClassifier(3, metric=fitted.get_metric()).fit(A, y)
    by_image = KNeighborsClassifier(3).fit(fitted.transform(A), y)
    np.testing.assert_array_equal(by_metric.predict(B), by_image.predict(fitted.transform(B)))


def test_unfitted() -> None:
    calls: tuple[Callable[[Fitted], object], ...] = (
        lambda m: m.transform(A),
        lambda m: m.pair_distance(np.stack([A, B], axis=1)),
        lambda m: m.get_metric(),
        lambda m: m.get_mahalanobis_matrix(),
    )
    for call in calls:
        with pytest.raises(NotFittedError, match="This Fitted instance is not fitted yet"):
            call(Fitted(L))


@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 3), (4, 2, 2), (4, 2, 3, 1)])
def test_pairs_of_another_shape(fitted: Fitted, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        fitted.pair_distance(np.zeros(shape))
    assert str(caught.value) == (
        f"pairs must have shape (n_pairs, 2, 3), got {shape}: "
        "stack the two samples of each pair, e.g. np.stack([A, B], axis=1)."
    )


def test_samples_of_another_shape_are_refused() -> None:
    learner = little("TripletSGD").fit(*iris())
    metric, sample = learner.get_metric(), iris()[0][0]
    for other in (1.0, sample[:1], [sample, sample]):
        with pytest.raises(ValueError, match="takes two samples of 4 features, got shapes"):
            metric(sample, other)
    large: Any = [10**400, 1, 2, 3]
    for call, given_it in (
        (learner.transform, ([large],)),
        (learner.pair_distance, ([[large, large]],)),
        (metric, (sample, large)),
    ):
        with pytest.raises(ValueError, match="whole numbers beyond float64"):
            call(*given_it)


def test_a_fitted_repr_says_what_was_resolved() -> None:
    learner = TripletSGD("as-sgd", n_triplets=50, random_state=0)
    before = repr(learner)
    fitted = learner.fit(np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 3)
    assert repr(fitted).startswith(f"{before}  # 4 features to 4 dimensions, ")
    assert f"init_={fitted.init_!r}" in repr(fitted)
    assert f"n_neighbors_={fitted.n_neighbors_}" in repr(fitted)
    assert repr(clone(fitted)) == before
    assert fitted._repr_html_().startswith(f"<p>{escape(repr(fitted))}</p><style")
    assert clone(fitted)._repr_html_().startswith("<style")


def test_the_function_takes_a_table_of_one_sample() -> None:
    X, y = iris()
    metric = little("WithinClass").fit(X, y).get_metric()
    assert metric(X[:1], X[1:2]) == metric(X[0], X[1]) == metric(X[0].tolist(), X[1].tolist())
    for wrong in (X[:2], X[0, :3], X[:1, :3], X[None]):
        with pytest.raises(ValueError, match="takes two samples of 4 features, got shapes"):
            metric(wrong, X[1])
    alone = little("WithinClass").fit(X[:, 2:3], y).get_metric()
    assert alone(1.0, 2.5) == alone([1.0], [2.5]) == alone([[1.0]], [[2.5]]) > 0.0
