"""Euclidean, Scaled, WithinClass and Discriminant: metrics without steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.covariance import oas
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from calipers import Discriminant, Euclidean, Scaled, WithinClass

X, Y = load_wine(return_X_y=True)


def test_euclidean_is_the_identity_and_ignores_labels() -> None:
    for labels in (None, Y, "nonsense"):
        fitted = Euclidean().fit(X, labels)
        np.testing.assert_array_equal(fitted.components_, np.eye(13))
        np.testing.assert_array_equal(fitted.transform(X), X)
        assert fitted.n_updates_ == 0
        assert not hasattr(fitted, "classes_")


def test_scaled_is_standardising() -> None:
    samples = np.column_stack([X, np.full(len(X), 7.0)])
    images = Scaled().fit(samples).transform(samples)
    np.testing.assert_allclose(images[:, :13] - images[:, :13].mean(axis=0), standard(), atol=1e-9)
    np.testing.assert_array_equal(images[:, 13], 7.0)


@pytest.mark.parametrize("n", [1_000, 3_333])
@pytest.mark.parametrize("constant", [0.1, 7.7, 1e5 / 3.0])
def test_constant_features_count_as_they_are(n: int, constant: float) -> None:
    """However their sums are rounded."""
    samples, labels = np.random.default_rng(0).standard_normal((n, 3)), np.arange(n) % 3
    samples[:, 1] = constant
    of_zero = WithinClass().fit(samples * [1.0, 0.0, 1.0], labels).get_mahalanobis_matrix()
    of_constant = WithinClass().fit(samples, labels).get_mahalanobis_matrix()
    np.testing.assert_allclose(of_constant, of_zero, rtol=1e-9)
    for weights in (None, np.random.default_rng(1).random(n)):
        metrics = [
            Scaled().fit(samples, sample_weight=weights),
            Scaled(n_components=3).fit(samples, sample_weight=weights),
            Scaled(),
        ]
        for some in np.array_split(np.arange(n), 3):
            of_some = None if weights is None else weights[some]
            metrics[2].partial_fit(samples[some], sample_weight=of_some)
        assert [metric.get_mahalanobis_matrix()[1, 1] for metric in metrics] == [1.0, 1.0, 1.0]


def standard() -> Any:
    return StandardScaler().fit_transform(X)


@pytest.mark.parametrize(("learner", "samples"), [(Euclidean, X), (Scaled, standard())])
def test_fewer_components_are_principal(learner: Any, samples: Any) -> None:
    images = learner(n_components=3).fit(X).transform(X)
    expected = PCA(3).fit_transform(samples)
    np.testing.assert_allclose(
        np.abs(images - images.mean(axis=0)), np.abs(expected), rtol=1e-6, atol=1e-6
    )


def test_within_class_is_the_inverse_of_the_shrunk_covariance_within_classes() -> None:
    scaled, unit = standard(), X.std(axis=0)
    centered = scaled - np.stack([scaled[c == Y].mean(axis=0) for c in range(3)])[Y]
    expected = np.linalg.inv(oas(centered, assume_centered=True)[0]) / np.outer(unit, unit)
    fitted = WithinClass().fit(X, Y)
    np.testing.assert_allclose(fitted.get_mahalanobis_matrix(), expected, rtol=1e-8)
    assert fitted.classes_.tolist() == [0, 1, 2]


def test_discriminants_have_the_largest_ratios() -> None:
    """Of the scatter between classes to the shrunk one within: no direction has a larger one."""
    scaled, unit = standard(), X.std(axis=0)
    means = np.stack([scaled[c == Y].mean(axis=0) for c in range(3)])[Y]
    within = oas(scaled - means, assume_centered=True)[0]
    values, vectors = eigh(means.T @ means / len(Y), within)
    fitted = Discriminant().fit(X, Y)
    expected = (vectors[:, -2:] @ vectors[:, -2:].T) / np.outer(unit, unit)
    assert values[-3] < 1e-9 < values[-2]
    np.testing.assert_allclose(fitted.get_mahalanobis_matrix(), expected, rtol=1e-7, atol=1e-12)


def test_discriminants_are_those_of_lda() -> None:
    """Of scaled features and about the same shrinkage: the same plane."""
    fitted = Discriminant().fit(X, Y)
    assert fitted.components_.shape == (2, 13)
    lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(standard(), Y)
    ours, theirs = fitted.transform(X), lda.transform(standard())
    ours, theirs = (np.linalg.qr(images - images.mean(axis=0))[0] for images in (ours, theirs))
    assert np.linalg.svd(ours.T @ theirs)[1].min() > 0.98
    images = fitted.transform(X)
    means = np.stack([images[c == Y].mean(axis=0) for c in range(3)])
    assert means[:, 0].var() > means[:, 1].var()


@pytest.mark.parametrize("n_components", [None, 1, 2])
def test_discriminants_of_a_stream_in_order_of_class(n_components: int | None) -> None:
    """There are none before the batches have had more classes than components."""
    stream = Discriminant(n_components)
    for n_classes, stop in enumerate(np.cumsum(np.bincount(Y)), start=1):
        stream.partial_fit(X[n_classes - 1 == Y], Y[n_classes - 1 == Y])
        if n_classes <= (n_components or 1):
            with pytest.raises(NotFittedError):
                stream.transform(X)
            continue
        expected = Discriminant(n_components).fit(X[:stop], Y[:stop]).components_
        np.testing.assert_allclose(stream.components_, expected, rtol=1e-6, atol=1e-9)
    assert stream.n_updates_ == 0
    stream.set_params(n_components=3).partial_fit(X, Y)
    with pytest.raises(NotFittedError):
        stream.transform(X)
    message = "^Discriminant has at most 2 components for 3 classes, got n_components=3: ask"
    with pytest.raises(ValueError, match=message):
        stream.fit(X, Y)
