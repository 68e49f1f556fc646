"""Euclidean: the identity, under the contract of the learners."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from calipers.estimators.euclidean import Euclidean

X = np.random.default_rng(0).standard_normal((20, 3))
Y = np.arange(20) % 3


@parametrize_with_checks([Euclidean()])  # type: ignore[untyped-decorator]
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_it_is_the_identity() -> None:
    fitted = Euclidean().fit(X)
    np.testing.assert_array_equal(fitted.get_mahalanobis_matrix(), np.eye(3))
    np.testing.assert_array_equal(fitted.transform(X), X)
    assert fitted.n_updates_ == 0
    expected = np.linalg.norm(X[:10] - X[10:], axis=1)
    pairs = np.stack([X[:10], X[10:]], axis=1)
    np.testing.assert_allclose(fitted.pair_distance(pairs), expected)


def test_labels_are_ignored() -> None:
    for labels in (None, Y, "nonsense"):
        np.testing.assert_array_equal(Euclidean().fit(X, labels).components_, np.eye(3))


def test_pipeline() -> None:
    plain = KNeighborsClassifier(3).fit(X, Y)
    model = make_pipeline(Euclidean(), KNeighborsClassifier(3)).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library: str) -> None:
    module = pytest.importorskip(library)
    frame = module.DataFrame({name: X[:, a] for a, name in enumerate("pqr")})
    images = Euclidean().set_output(transform=library).fit_transform(frame)
    assert isinstance(images, module.DataFrame)
    assert list(images.columns) == ["euclidean0", "euclidean1", "euclidean2"]


def test_pickle_and_clone() -> None:
    fitted = Euclidean().fit(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), X)
    assert not hasattr(clone(fitted), "components_")


def test_sparse_rows_are_refused() -> None:
    with pytest.raises(TypeError) as caught:
        Euclidean().fit(sparse.csr_array(X))
    assert str(caught.value) == (
        "Euclidean needs a dense X, got a sparse csr_array of shape (20, 3): reduce it first, "
        "e.g. with sklearn.decomposition.TruncatedSVD, or pass X.toarray()."
    )
