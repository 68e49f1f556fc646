"""Weights of samples: how often each counts; 0 leaves it out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from scipy.special import softmax
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

from calipers import LFDA, MLKR, NCA, Discriminant, Scaled, WithinClass, memmap
from calipers.solvers import soft_neighbors
from calipers.solvers.factored import FactoredSolver
from calipers.solvers.soft_neighbors import AllAnchors, expected_errors, squared_errors
from learners import LEARNERS, iris, little

X, Y = iris()
RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 4, size=len(X))
WEIGHTS = np.array(COUNTS + 0.5, dtype=np.float64)
CLOSED = ("Scaled", "WithinClass", "Discriminant", "LFDA", "RCA", "KISSME", "GMML")
WEIGHTED = (*CLOSED, "NCA", "MLKR")
each_closed = pytest.mark.parametrize("name", CLOSED)
each_weighted = pytest.mark.parametrize("name", WEIGHTED)


def test_who_takes_weights() -> None:
    taking = {name for name in LEARNERS if has_fit_parameter(little(name), "sample_weight")}
    assert taking == set(WEIGHTED)


def few(n: int = 15, d: int = 30) -> tuple[Any, Any, Any]:
    """As in scikit-learn's check: fewer samples than features."""
    rng = np.random.RandomState(42)
    return rng.rand(n, d), rng.randint(0, 3, size=n), rng.randint(0, 5, size=n)


@each_closed
@pytest.mark.parametrize("which", ["iris", "few"])
def test_a_weight_is_a_number_of_copies(name: str, which: str) -> None:
    samples, labels, counts = (X, Y, COUNTS) if which == "iris" else few()
    weighted = little(name).fit(samples, labels, sample_weight=counts)
    repeated = little(name).fit(samples.repeat(counts, axis=0), labels.repeat(counts))
    M = repeated.get_mahalanobis_matrix()
    atol = 1e-11 * np.abs(M).max()
    np.testing.assert_allclose(weighted.get_mahalanobis_matrix(), M, atol=atol)
    assert not np.allclose(little(name).fit(samples, labels).get_mahalanobis_matrix(), M)


@pytest.mark.parametrize("k", [1, 2, 50])
def test_the_kth_neighbour_may_be_a_copy(k: int) -> None:
    counts = COUNTS[:40]
    weighted = LFDA(n_neighbors=k).fit(X[30:70], Y[30:70], sample_weight=counts)
    repeated = LFDA(n_neighbors=k).fit(X[30:70].repeat(counts, axis=0), Y[30:70].repeat(counts))
    np.testing.assert_allclose(
        weighted.get_mahalanobis_matrix(), repeated.get_mahalanobis_matrix(), rtol=1e-8
    )


@each_weighted
def test_equal_weights_are_none_and_zero_is_absent(name: str) -> None:
    ones = little(name).fit(X, Y, sample_weight=np.ones(len(X)))
    np.testing.assert_array_equal(ones.components_, little(name).fit(X, Y).components_)
    kept = COUNTS > 0
    absent = little(name).fit(X[kept], Y[kept], sample_weight=COUNTS[kept])
    zero = little(name).fit(X, Y, sample_weight=COUNTS)
    np.testing.assert_array_equal(zero.components_, absent.components_)
    usual = little(name).fit(X[kept], Y[kept])
    assert not np.allclose(usual.components_, absent.components_)


@each_closed
def test_a_stream_of_weighted_batches_is_one_fit(name: str) -> None:
    stream = little(name)
    if not hasattr(stream, "partial_fit"):
        assert name == "LFDA"  # which needs all distances
        return
    order = np.random.default_rng(1).permutation(len(X))
    for some in np.array_split(order, 4):
        stream.partial_fit(X[some], Y[some], sample_weight=COUNTS[some])
    expected = little(name).fit(X, Y, sample_weight=COUNTS)
    np.testing.assert_allclose(
        stream.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), rtol=1e-8
    )


@pytest.mark.parametrize("learner", [Scaled(), Scaled(2), WithinClass(), Discriminant()], ids=str)
def test_a_stream_is_one_fit(learner: Any) -> None:
    stream = type(learner)(**learner.get_params())
    for some in np.array_split(np.random.default_rng(1).permutation(len(X)), 4):
        stream.partial_fit(X[some], Y[some])
    np.testing.assert_allclose(stream.components_, learner.fit(X, Y).components_, rtol=1e-8)


@each_weighted
def test_blocks_of_a_file(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = little(name).fit(X, Y, sample_weight=COUNTS + 1)
    np.save(tmp_path / "X.npy", X)
    monkeypatch.setattr(memmap, "LARGEST_READ", 0)
    monkeypatch.setattr(memmap, "BLOCK_ELEMENTS", 100)
    file = np.load(tmp_path / "X.npy", mmap_mode="r")
    got = little(name).fit(file, Y, sample_weight=COUNTS + 1)
    np.testing.assert_allclose(got.components_, expected.components_, rtol=1e-7)


def by_definition(loss: Any, L: Any, targets: Any, weights: Any) -> float:
    """References by weight; a sample is not its own neighbour, whatever its weight."""
    squared = np.sum((X[:, None] @ L.T - X @ L.T) ** 2, axis=2) - np.log(weights)
    np.fill_diagonal(squared, np.inf)
    p = np.asarray(softmax(-squared, axis=1))
    if loss is squared_errors:
        return float(weights @ (p @ targets - targets) ** 2)
    return float(weights @ (1.0 - np.sum(p * (targets[:, None] == targets), axis=1)))


@pytest.mark.parametrize("loss", [expected_errors, squared_errors])
def test_terms_and_references_count_by_weight(loss: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soft_neighbors, "_BLOCK_DISTANCES", 1000)
    weights, L = WEIGHTS, RNG.standard_normal((2, 4))
    targets = Y if loss is expected_errors else X[:, 0]
    value = AllAnchors(loss, X, targets, weights).at(L)
    assert np.isclose(value.objective, by_definition(loss, L, targets, weights), rtol=1e-11)
    for place in np.ndindex(L.shape):
        up, down = L.copy(), L.copy()
        up[place] += 1e-5
        down[place] -= 1e-5
        change = by_definition(loss, up, targets, weights)
        change -= by_definition(loss, down, targets, weights)
        assert np.isclose(value.slope[place], change / 2e-5, rtol=1e-4, atol=1e-6)


def test_the_objective_of_a_fit() -> None:
    weights = WEIGHTS
    for learner, loss, targets in (
        (NCA(batch_size=None, max_iter=500), expected_errors, Y),
        (MLKR(batch_size=None, max_iter=500), squared_errors, X[:, 0]),
    ):
        fitted = learner.fit(X, targets, sample_weight=weights)
        expected = by_definition(loss, fitted.components_, targets, weights)
        assert np.isclose(fitted.objective_, expected, rtol=1e-8)


def test_a_batch_of_all_samples_steps_along_the_same_gradient() -> None:
    weights, L, n = WEIGHTS, RNG.standard_normal((2, 4)), len(X)
    everyone = np.tile(np.arange(n), 4)[None]
    weighted = FactoredSolver(L, Y, n_anchors=n, n_examples=10, weights=weights)
    weighted.advance(X, everyone)
    start = AllAnchors(expected_errors, X, Y, weights)
    apart = soft_neighbors.squared_distances(X @ L.T, X @ L.T)[Y[:, None] != Y]
    scaled = L * np.sqrt(soft_neighbors.width_factor(apart))
    slope, step = start.at(scaled).slope, scaled - weighted.L
    cosine = np.vdot(slope, step) / np.linalg.norm(slope) / np.linalg.norm(step)
    assert np.isclose(cosine, 1.0)


@each_weighted
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            np.ones(3),
            r"needs a sample_weight of shape \(150,\), .*, got \(3,",
        ),
        (2.0, r"needs a sample_weight of shape \(150,\), .*, got \(\)"),
        (np.full(150, -1.0), "of at least 0, and some above zero, got weights from -1 to -1"),
        (np.zeros(150), "of at least 0, and some above zero, got weights from 0 to 0"),
        (np.full(150, np.nan), "sample_weight contains NaN"),
    ],
)
def test_wrong_weights(name: str, weights: Any, message: str) -> None:
    learner = little(name).fit(X, Y)
    before = learner.components_
    with pytest.raises(ValueError, match=message):
        learner.fit(X, Y, sample_weight=weights)
    assert learner.components_ is before


@pytest.mark.parametrize("name", ["KISSME", "GMML"])
def test_weights_that_make_no_pair(name: str) -> None:
    with pytest.raises(ValueError, match="counts samples, and these make not even one pair"):
        little(name).fit(X, Y, sample_weight=np.full(len(X), 1 / len(X)))


@each_weighted
def test_metadata_is_routed(name: str) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        learner = little(name).set_fit_request(sample_weight=True)
        model = make_pipeline(learner, KNeighborsClassifier(3)).fit(X, Y, sample_weight=COUNTS)
        expected = little(name).fit(X, Y, sample_weight=COUNTS)
        np.testing.assert_array_equal(model[0].components_, expected.components_)
        scoring = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        weights = {"sample_weight": COUNTS + 1}
        scores = cross_val_score(model, X, Y, params=weights, scoring=scoring)
    assert scores.mean() > 0.9
