"""Weights of samples: how often each counts; 0 leaves it out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.special import kl_div, softmax
from sklearn.base import clone
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

from calipers import (
    GMML,
    LFDA,
    LMNN,
    MCML,
    MLKR,
    MMC,
    NCA,
    RCA,
    Discriminant,
    Euclidean,
    MetricCV,
    Scaled,
    WithinClass,
    memmap,
)
from calipers.solvers import large_margin, soft_neighbors
from calipers.solvers.all_pairs import divergences, separations
from calipers.solvers.factored import FactoredSolver
from calipers.solvers.large_margin import LargeMargin
from calipers.solvers.soft_neighbors import AllAnchors, expected_errors, squared_errors
from learners import FROM_TRIPLETS, LEARNERS, iris, little

X, Y = iris()
RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 4, size=len(X))
WEIGHTS = np.array(COUNTS + 0.5, dtype=np.float64)
RNG_WEIGHTS = np.random.default_rng(2).random(len(X))
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


@pytest.mark.parametrize("name", ["Euclidean", "Scaled", "MMC"])
def test_few_components_are_those_of_the_copies(name: str) -> None:
    learner = little(name, n_components=2)
    weighted = learner.fit(X, Y, sample_weight=COUNTS).components_
    repeated = learner.fit(X.repeat(COUNTS, axis=0), Y.repeat(COUNTS)).components_
    np.testing.assert_allclose(weighted, repeated, atol=1e-7 * np.abs(repeated).max())
    assert not np.allclose(learner.fit(X, Y).components_, repeated)


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


@pytest.mark.parametrize("name", [*FROM_TRIPLETS, "MetricCV"])
@pytest.mark.parametrize("rank", [None, 2])
def test_anchors_are_drawn_by_the_ratio_of_weights(name: str, rank: int | None) -> None:
    usual = little(name, n_components=rank).fit(X, Y)
    thrice = little(name, n_components=rank).fit(X, Y, sample_weight=np.full(len(X), 3.0))
    np.testing.assert_array_equal(thrice.components_, usual.components_)
    drawn = little(name, n_components=rank).fit(X, Y, sample_weight=WEIGHTS)
    eighth = little(name, n_components=rank).fit(X, Y, sample_weight=WEIGHTS / 8)
    np.testing.assert_array_equal(drawn.components_, eighth.components_)
    M = usual.get_mahalanobis_matrix()
    assert not np.allclose(drawn.get_mahalanobis_matrix(), M, rtol=1e-3)


def test_metric_cv_passes_weights_on() -> None:
    candidates = [("scaled", Scaled()), ("gmml", GMML())]
    chosen = MetricCV(candidates, random_state=0).fit(X, Y, sample_weight=COUNTS)
    alone = chosen.best_estimator_.fit(X, Y, sample_weight=COUNTS).components_
    np.testing.assert_array_equal(chosen.components_, alone)


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


def test_the_objective_of_a_fit() -> None:
    weights = WEIGHTS
    for learner, loss, targets in (
        (NCA(batch_size=None, max_iter=500), expected_errors, Y),
        (MLKR(batch_size=None, max_iter=500), squared_errors, X[:, 0]),
    ):
        fitted = learner.fit(X, targets, sample_weight=weights)
        expected = by_definition(loss, fitted.components_, targets, weights)
        assert np.isclose(fitted.objective_, expected, rtol=1e-8)


def test_the_objective_of_mcml() -> None:
    fitted = MCML().fit(X, Y, sample_weight=WEIGHTS)
    expected = by_definition(divergences, fitted.components_, Y, WEIGHTS) / WEIGHTS.sum()
    assert np.isclose(fitted.objective_, expected, rtol=1e-8)
    usual = by_definition(divergences, MCML().fit(X, Y).components_, Y, WEIGHTS) / WEIGHTS.sum()
    assert expected < usual


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
    slope = problem.gradient(value)
    for place in np.ndindex(L.shape):
        step = np.zeros_like(L)
        step[place] = 1e-6
        up, down = (large_margin_by_definition(L + s * step, relative) for s in (1, -1))
        assert np.isclose(slope[place], (up - down) / 2e-6, rtol=1e-4)
    fitted = LMNN(tol=1e-8).fit(X, Y, sample_weight=WEIGHTS)
    expected = large_margin_by_definition(fitted.components_, relative)
    assert np.isclose(fitted.objective_, expected, rtol=1e-8)
    assert expected < large_margin_by_definition(LMNN(tol=1e-8).fit(X, Y).components_, relative)


def test_lmnn_has_the_same_bits_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_margin, "_BLOCK_NUMBERS", 7 * len(X))
    got = []
    for threads in ("1", "4"):
        monkeypatch.setenv("CALIPERS_NUM_THREADS", threads)
        got.append(LMNN().fit(X, Y, sample_weight=RNG_WEIGHTS).components_)
    np.testing.assert_array_equal(got[0], got[1])


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


@each_weighted
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            np.ones(3),
            r"needs a sample_weight of shape \(150,\), .*, got shape \(3,",
        ),
        (2.0, r"needs a sample_weight of shape \(150,\), .*, got shape \(\)"),
        (np.ones((150, 1)), r"got shape \(150, 1\): pass an array with one axis"),
        (np.full(150, -1.0), "of at least 0, .* above zero, got sample_weight from -1 to -1"),
        (np.zeros(150), "of at least 0, .* above zero, got sample_weight from 0 to 0"),
        (np.full(150, np.nan), "needs finite weights .* got sample_weight from nan to nan"),
        (np.full(150, np.inf), "needs finite weights .* got sample_weight from inf to inf"),
        ([None] * 150, "needs finite weights .* got sample_weight from nan to nan"),
        (["1"] * 150, r"needs numbers for sample_weight, got something else \(an array of type <U"),
        ([1, 10**400] * 75, r"needs numbers for .* \(int too large to convert to float\)"),
        (np.full(150, 1j), r"needs numbers .* \(an array of type complex128\)"),
        (np.full(150, pd.NA, dtype=object), "needs numbers for sample_weight, got something"),
        (pd.Series([pd.NA] * 150, dtype="Int64"), "needs finite weights .* from nan to nan"),
        (np.ma.array(np.ones(150), mask=Y == 0), "sample_weight has 50 masked values"),
    ],
)
def test_wrong_weights(name: str, weights: Any, message: str) -> None:
    learner = little(name).fit(X, Y)
    before = learner.components_
    with pytest.raises(ValueError, match=message):
        learner.fit(X, Y, sample_weight=weights)
    assert learner.components_ is before


KINDS = {
    "list": COUNTS.tolist(),
    "int": COUNTS.astype(np.int8),
    "float32": COUNTS.astype(np.float32),
    "object": COUNTS.astype(object),
    "column": pd.DataFrame({"w": COUNTS}, index=np.arange(150)[::-1])["w"],
    "nullable": pd.Series(COUNTS, dtype="Int64"),
    "polars": pl.Series(COUNTS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_every_library(kind: str) -> None:
    expected = GMML().fit(X, Y, sample_weight=COUNTS).components_
    got = GMML().fit(X, Y, sample_weight=KINDS[kind]).components_
    np.testing.assert_array_equal(got, expected)


def test_bools_are_a_selection() -> None:
    expected = GMML().fit(X[COUNTS > 1], Y[COUNTS > 1]).components_
    got = GMML().fit(X, Y, sample_weight=COUNTS > 1).components_
    np.testing.assert_allclose(got, expected, rtol=1e-9)


@pytest.mark.parametrize("name", [name for name in WEIGHTED if name != "LFDA"])
@pytest.mark.parametrize("scale", [2.0**60, 2.0**1000, 2.0**1020])
def test_counts_beyond_float64_are_ratios(name: str, scale: float) -> None:
    """More than 2^53 samples are so many that one more makes no difference."""
    most = little(name).fit(X, Y, sample_weight=2.0**43 * WEIGHTS).get_mahalanobis_matrix()
    got = little(name).fit(X, Y, sample_weight=scale * WEIGHTS).get_mahalanobis_matrix()
    np.testing.assert_allclose(got, most, rtol=1e-9, atol=1e-7 * np.abs(most).max())  # of L-BFGS


@pytest.mark.parametrize("name", [name for name in WEIGHTED if name != "LFDA"])
def test_a_share_that_vanishes_leaves_a_sample_out(name: str) -> None:
    kept = np.arange(len(X)) % 3 > 0
    got = little(name).fit(X, Y, sample_weight=np.where(kept, 1e300, 1e-300))
    expected = little(name).fit(X[kept], Y[kept], sample_weight=np.full(kept.sum(), 1e300))
    L, atol = expected.components_, 1e-8 * np.abs(expected.components_).max()
    np.testing.assert_allclose(got.components_, L, atol=atol)


@pytest.mark.parametrize("name", ["Scaled", "WithinClass", "Discriminant", "RCA", "GMML"])
def test_a_stream_counts_samples_and_knows_no_ratio_of_its_batches(name: str) -> None:
    stream = little(name).partial_fit(X, Y, sample_weight=WEIGHTS)
    with pytest.raises(ValueError, match=r"weights up to 3\.33e\+300, and partial_fit counts"):
        stream.partial_fit(X, Y, sample_weight=np.full(150, 5e302 / 150))


@pytest.mark.parametrize("name", ["LEGO", "ITML"])
def test_limits_need_two_samples_that_count(name: str) -> None:
    alone = np.where(np.arange(len(X)) == 3, 1e300, 1e290)
    with pytest.raises(
        ValueError, match="sample_weight, is on samples that are the same: set near"
    ):
        little(name).fit(X, Y, sample_weight=alone)
    little(name, near_distance=1.0, far_distance=2.0).fit(X, Y, sample_weight=alone)


@pytest.mark.parametrize("name", ["KISSME", "GMML", "MMC"])
@pytest.mark.parametrize("weights", [np.full(len(X), 1 / len(X)), 1.0 / np.bincount(Y)[Y]])
def test_weights_that_make_no_pair(name: str, weights: Any) -> None:
    with pytest.raises(ValueError, match="counts samples, and these make not even one pair"):
        little(name).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("weight", [1e-310, 1e-3, 1 / 150, 8.0, 50.0])
def test_lfda_refuses_weights_by_which_no_neighbour_differs(weight: float) -> None:
    with pytest.raises(ValueError, match="In no class does a sample have a neighbour"):
        LFDA().fit(X, Y, sample_weight=np.full(len(X), weight))


@pytest.mark.parametrize("scale", [0.01, 7.0])
@pytest.mark.parametrize("name", OF_NEIGHBOURS)
def test_only_ratios_matter_among_neighbours(name: str, scale: float) -> None:
    one, other = (little(name).fit(X, Y, sample_weight=c * WEIGHTS) for c in (1.0, scale))
    M, expected = other.get_mahalanobis_matrix(), one.get_mahalanobis_matrix()
    np.testing.assert_allclose(M, expected, atol=1e-4 * np.abs(expected).max())


def test_singletons_are_counted_in_samples() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weights = np.where(Y == 0, 1.0 / np.bincount(Y)[0], 1.0)
        little("MMC").fit(X, Y, sample_weight=weights)


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


@pytest.mark.parametrize("learner", [GMML(), RCA(), LFDA(), MMC()], ids=repr)
@pytest.mark.parametrize("weight", [1e300, 2.0**54, 0.0])
def test_weights_of_unlabeled_samples_do_not_matter(learner: Any, weight: float) -> None:
    is_labeled, weights = Y < 2, np.where(Y < 2, 3.0, weight)
    alone = clone(learner).fit(X[is_labeled], Y[is_labeled], sample_weight=weights[is_labeled])
    beside = clone(learner).fit(X, Y, sample_weight=weights, unlabeled=2)
    np.testing.assert_array_equal(beside.components_, alone.components_)


def test_samples_with_a_label_need_a_weight() -> None:
    with pytest.raises(ValueError, match="weights of 0 for all 100 samples with a label: give"):
        RCA().fit(X, Y, sample_weight=np.where(Y < 2, 0.0, 1.0), unlabeled=2)


@pytest.mark.parametrize("learner", [Scaled(), RCA()], ids=repr)
@pytest.mark.parametrize("exponent", [-1073, -1060, -520, 200])
def test_ratios_of_very_small_and_large_weights_are_exact(learner: Any, exponent: int) -> None:
    once = clone(learner).fit(X, Y).get_mahalanobis_matrix()
    other = clone(learner).fit(X, Y, sample_weight=np.full(len(X), 2.0**exponent))
    np.testing.assert_allclose(other.get_mahalanobis_matrix(), once, rtol=1e-9)


def test_a_stream_counts_up_to_two_to_the_53() -> None:
    weights = np.ones(len(X))
    weights[0] = 2.0**52
    assert Scaled().partial_fit(X, sample_weight=weights).components_ is not None
    weights[0] = 2.0**53
    with pytest.raises(ValueError, match="multiply the weights of all batches by one number"):
        Scaled().partial_fit(X, sample_weight=weights)
