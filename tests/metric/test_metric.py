"""What is done with the factor of a metric."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from calipers import TripletSGD
from calipers.arrays import FloatArray
from calipers.metric.mahalanobis import MahalanobisMixin
from learners import iris, little


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
    for wrong in (X[:2], X[0, :3], X[:1, :3], 1.0):
        with pytest.raises(ValueError, match="takes two samples of 4 features, got"):
            metric(wrong, X[1])
    alone = little("WithinClass").fit(X[:, 2:3], y).get_metric()
    assert alone(1.0, 2.5) == alone([1.0], [2.5]) == alone([[1.0]], [[2.5]]) > 0.0
