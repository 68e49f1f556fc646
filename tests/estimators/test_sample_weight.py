"""Weights of samples: how often each counts; 0 leaves it out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from scipy.special import kl_div, softmax
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

from calipers import (
    GMML,
    LMNN,
    Euclidean,
    MetricCV,
)
from calipers.solvers import soft_neighbors
from calipers.solvers.large_margin import LargeMargin
from calipers.solvers.low_rank import FactoredSolver
from calipers.solvers.soft_neighbors import (
    AllAnchors,
    divergences,
    expected_errors,
    separations,
    squared_errors,
)
from learners import FROM_TRIPLETS, LEARNERS, iris, little

X, Y = iris()
RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 4, size=len(X))
WEIGHTS = np.array(COUNTS + 0.5, dtype=np.float64)
CLOSED = ("Scaled", "WithinClass", "Discriminant", "LFDA", "RCA", "KISSME", "GMML")
OF_NEIGHBOURS = ("NCA", "MLKR", "MCML", "LMNN")  # whose terms leave out the sample itself
WEIGHTED = (*CLOSED, "MMC", *OF_NEIGHBOURS, *FROM_TRIPLETS, "MetricCV")
each_closed = pytest.mark.parametrize("name", CLOSED)
each_weighted = pytest.mark.parametrize("name", WEIGHTED)


def test_every_learner_takes_weights() -> None:
    taking = {name for name in LEARNERS if has_fit_parameter(little(name), "sample_weight")}
    assert taking == {*LEARNERS} == {*WEIGHTED, "Euclidean"}


def few(n: int = 15, d: int = 30) -> tuple[Any, Any, Any]:
    """As in scikit-learn's check: fewer samples than features."""
    rng = np.random.RandomState(42)
    return rng.rand(n, d), rng.randint(0, 3, size=n), rng.randint(0, 5, size=n)


@pytest.mark.parametrize(
    ("name", "which", "digits"),
    [*((name, which, 11) for name in CLOSED for which in ("iris", "few")), ("MMC", "iris", 7)],
)
def test_a_weight_is_a_number_of_copies(name: str, which: str, digits: int) -> None:
    samples, labels, counts = (X, Y, COUNTS) if which == "iris" else few()
    weighted = little(name).fit(samples, labels, sample_weight=counts)
    repeated = little(name).fit(samples.repeat(counts, axis=0), labels.repeat(counts))
    M = repeated.get_mahalanobis_matrix()
    atol = 10.0**-digits * np.abs(M).max()
    np.testing.assert_allclose(weighted.get_mahalanobis_matrix(), M, atol=atol)
    assert not np.allclose(little(name).fit(samples, labels).get_mahalanobis_matrix(), M)


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


@pytest.mark.parametrize("name", [*FROM_TRIPLETS, "MetricCV"])
def test_anchors_are_drawn_by_the_ratio_of_weights(name: str) -> None:
    usual = little(name).fit(X, Y)
    thrice = little(name).fit(X, Y, sample_weight=np.full(len(X), 3.0))
    np.testing.assert_array_equal(thrice.components_, usual.components_)
    drawn = little(name).fit(X, Y, sample_weight=WEIGHTS)
    eighth = little(name).fit(X, Y, sample_weight=WEIGHTS / 8)
    np.testing.assert_array_equal(drawn.components_, eighth.components_)
    M = usual.get_mahalanobis_matrix()
    assert not np.allclose(drawn.get_mahalanobis_matrix(), M, rtol=1e-3)


def test_metric_cv_weighs_errors() -> None:
    """Where samples that the candidates err on count almost nothing, so do the errors."""
    noise = np.arange(len(X)) % 10 == 0
    labels = np.where(noise, (Y + 1) % 3, Y)
    learner = MetricCV([("euclidean", Euclidean())], random_state=0)
    plain = learner.fit(X, labels).best_score_
    assert learner.fit(X, labels, sample_weight=np.where(noise, 1e-6, 1.0)).best_score_ > plain


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


@pytest.mark.parametrize("name", ["LFDA", "GMML", "NCA", "TripletSGD"])
def test_blocks_of_a_file(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = little(name).fit(X, Y, sample_weight=COUNTS + 1)
    np.save(tmp_path / "X.npy", X)
    monkeypatch.setattr("calipers.data.samples.LARGEST_READ", 0)
    monkeypatch.setattr("calipers.data.samples.BLOCK_ELEMENTS", 100)
    file = np.load(tmp_path / "X.npy", mmap_mode="r")
    got = little(name).fit(file, Y, sample_weight=COUNTS + 1)
    atol = 1e-7 * np.abs(expected.components_).max()
    np.testing.assert_allclose(got.components_, expected.components_, rtol=1e-7, atol=atol)


def by_definition(loss: Any, L: Any, targets: Any, weights: Any) -> float:
    """References by weight; a sample is not its own neighbour, whatever its weight."""
    squared = np.sum((X[:, None] @ L.T - X @ L.T) ** 2, axis=2)
    is_same = (targets[:, None] == targets) & ~np.eye(len(X), dtype=bool)
    if loss is separations:
        return float(weights @ np.where(targets[:, None] == targets, 0.0, squared**0.5) @ weights)
    shifted = squared - np.log(weights)
    np.fill_diagonal(shifted, np.inf)
    p = np.asarray(softmax(-shifted, axis=1))
    if loss is squared_errors:
        return float(weights @ (p @ targets - targets) ** 2)
    if loss is divergences:
        wanted = is_same * weights / np.sum(is_same * weights, axis=1)[:, None]
        return float(weights @ np.sum(kl_div(wanted, p) + wanted - p, axis=1))
    return float(weights @ (1.0 - np.sum(p * is_same, axis=1)))


@pytest.mark.parametrize("loss", [expected_errors, squared_errors, divergences, separations])
def test_terms_and_references_count_by_weight(loss: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soft_neighbors, "_BLOCK_DISTANCES", 1000)
    weights, L = WEIGHTS, RNG.standard_normal((2, 4))
    targets = X[:, 0] if loss is squared_errors else Y
    value = AllAnchors(loss, X, targets, weights).at(L)
    assert np.isclose(value.objective, by_definition(loss, L, targets, weights), rtol=1e-11)
    for place in np.ndindex(L.shape):
        up, down = L.copy(), L.copy()
        up[place] += 1e-5
        down[place] -= 1e-5
        change = by_definition(loss, up, targets, weights)
        change -= by_definition(loss, down, targets, weights)
        assert np.isclose(value.slope[place], change / 2e-5, rtol=1e-4, atol=1e-6)


def large_margin_by_definition(L: Any, weights: Any, k: int = 3, push: float = 0.5) -> float:
    squared = np.sum((X[:, None] @ L.T - X @ L.T) ** 2, axis=2)
    total = 0.0
    for i in range(len(X)):
        raw = np.sum((X - X[i]) ** 2, axis=1)
        other = Y[i] != Y
        raw[other | (np.arange(len(X)) == i)] = np.inf
        for j in np.argsort(raw)[:k]:
            hinges = np.maximum(0.0, 1.0 + squared[i, j] - squared[i, other])
            total += weights[i] * (1.0 - push) * squared[i, j]
            total += weights[i] * push * float(hinges @ weights[other])
    return total


def test_the_objective_of_lmnn() -> None:
    problem = LargeMargin(X, Y, WEIGHTS, n_neighbors=3, push_weight=0.5)
    L = RNG.standard_normal((3, 4))
    value = problem.at(L)
    relative = WEIGHTS / WEIGHTS.mean()
    assert np.isclose(value.objective, large_margin_by_definition(L, relative), rtol=1e-11)
    slope = value.slope
    for place in np.ndindex(L.shape):
        step = np.zeros_like(L)
        step[place] = 1e-6
        up, down = (large_margin_by_definition(L + s * step, relative) for s in (1, -1))
        assert np.isclose(slope[place], (up - down) / 2e-6, rtol=1e-4)
    fitted = LMNN(tol=1e-8).fit(X, Y, sample_weight=WEIGHTS)
    expected = large_margin_by_definition(fitted.components_, relative)
    assert np.isclose(fitted.objective_, expected, rtol=1e-8)
    assert expected < large_margin_by_definition(LMNN(tol=1e-8).fit(X, Y).components_, relative)


def test_a_batch_of_all_samples_steps_along_the_same_gradient() -> None:
    weights, L, n = WEIGHTS, RNG.standard_normal((2, 4)), len(X)
    everyone = np.tile(np.arange(n), 2)[None]
    weighted = FactoredSolver(L, Y, n_examples=10, weights=weights)
    weighted.advance(X, everyone)
    start = AllAnchors(expected_errors, X, Y, weights)
    apart = soft_neighbors.squared_distances(X @ L.T, X @ L.T)[Y[:, None] != Y]
    scaled = L * np.sqrt(soft_neighbors.width_factor(apart))
    slope, step = start.at(scaled).slope, scaled - weighted.L
    cosine = np.vdot(slope, step) / np.linalg.norm(slope) / np.linalg.norm(step)
    assert np.isclose(cosine, 1.0)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"sample_weight.shape == \(3,\), expected \(150,\)"),
        (np.full(150, -1.0), "Negative values in data passed to `sample_weight`"),
        (np.zeros(150), "Sample weights must contain at least one non-zero number"),
        (np.full(150, np.nan), "Input sample_weight contains NaN"),
        (np.full(150, 1e300), "sample_weight says how often .*, and sums to 1.5e\\+302: divide it"),
        (np.ma.array(np.ones(150), mask=Y == 0), "sample_weight has 50 masked values"),
    ],
)
def test_wrong_weights(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GMML().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("name", ["KISSME", "GMML", "MMC"])
def test_weights_that_make_no_pair(name: str) -> None:
    with pytest.raises(ValueError, match="counts samples, and these make not even one pair"):
        little(name).fit(X, Y, sample_weight=np.full(len(X), 1 / len(X)))


def test_metadata_is_routed() -> None:
    name = "GMML"
    with sklearn.config_context(enable_metadata_routing=True):
        learner = little(name).set_fit_request(sample_weight=True)
        model = make_pipeline(learner, KNeighborsClassifier(3)).fit(X, Y, sample_weight=COUNTS)
        expected = little(name).fit(X, Y, sample_weight=COUNTS)
        np.testing.assert_array_equal(model[0].components_, expected.components_)
        scoring = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        weights = {"sample_weight": COUNTS + 1}
        scores = cross_val_score(model, X, Y, params=weights, scoring=scoring)
    assert scores.mean() > 0.9
