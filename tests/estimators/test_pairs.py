"""Pairs and triplets as scikit-learn data: thresholds by definition, probabilities, grids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import precision_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from calipers import (
    GMML,
    ITML,
    LMNN,
    MMC,
    RCA,
    SCML,
    Euclidean,
    FileError,
    PairClassifier,
    TripletClassifier,
    TripletSGD,
    load,
)
from calipers.estimators.pairs import find_threshold
from calipers.notices import DataWarning
from learners import iris

X, Y = iris()
RNG = np.random.default_rng(0)
INDICES = RNG.integers(150, size=(400, 2))
PAIRS, SIGNS = X[INDICES], np.where(Y[INDICES[:, 0]] == Y[INDICES[:, 1]], 1, -1)
DISTANCES = np.concatenate([RNG.gamma(4.0, 1.0, 300), RNG.gamma(9.0, 1.0, 500)])
IS_MATCH = np.arange(800) < 300


def test_thresholds_are_the_best_of_all() -> None:
    called = [threshold >= DISTANCES for threshold in [-1.0, *DISTANCES]]
    found = find_threshold(DISTANCES, IS_MATCH, "accuracy", 0.95) >= DISTANCES
    assert np.mean(found == IS_MATCH) == max(np.mean(each == IS_MATCH) for each in called)
    found = find_threshold(DISTANCES, IS_MATCH, "precision", 0.95) >= DISTANCES
    assert precision_score(IS_MATCH, found) >= 0.95
    precise = [each for each in called if IS_MATCH[each].sum() >= 0.95 * each.sum()]
    assert found[IS_MATCH].sum() == max(each[IS_MATCH].sum() for each in precise)


def test_a_precision_out_of_reach_calls_nothing_a_match() -> None:
    with pytest.warns(DataWarning, match="No threshold reaches min_rate=1: the highest precision"):
        model = PairClassifier(Euclidean(), strategy="precision", min_rate=1).fit(PAIRS, -SIGNS)
    assert set(model.predict(PAIRS)) == {-1}
    assert model.predict(np.zeros((1, 2, PAIRS.shape[2]))) == [-1]  # closer than any seen


def test_a_failed_fit_leaves_the_classifier_as_it_was() -> None:
    model = PairClassifier(GMML()).fit(PAIRS, SIGNS)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="needs at least 2 pairs of each kind"):
        model.fit(PAIRS[:5, :, :2], np.array(["b", "a", "a", "a", "a"]))
    assert vars(model) == before
    fresh = PairClassifier(GMML())
    with pytest.raises(
        ValueError,
        match="requires y to be passed, but the target y is None: pass one value for each",
    ):
        fresh.fit(PAIRS, None)
    with pytest.raises(NotFittedError):
        fresh.predict(PAIRS)


def test_probabilities_are_calibrated_on_pairs_not_learned_from() -> None:
    p = cross_val_predict(PairClassifier(GMML()), PAIRS, SIGNS, method="predict_proba")
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert roc_auc_score(SIGNS, p[:, 1]) > 0.9
    for low in (0.0, 0.2, 0.8):
        some = (p[:, 1] >= low) & (p[:, 1] < low + 0.2)
        assert abs((SIGNS[some] == 1).mean() - p[some, 1].mean()) < 0.12


def test_cross_validation_and_grids() -> None:
    assert cross_val_score(PairClassifier(GMML()), PAIRS, SIGNS).mean() > 0.8
    grid = {"metric__t": [0.1, 0.5], "strategy": ["accuracy", "precision"]}
    searched = GridSearchCV(PairClassifier(GMML()), grid, cv=3).fit(PAIRS, SIGNS)
    assert searched.best_score_ > 0.8
    assert "metric__t" in searched.best_params_


def test_pairs_of_indices() -> None:
    expected = PairClassifier(GMML()).fit(PAIRS, SIGNS)
    model = PairClassifier(GMML(), preprocessor=X).fit(INDICES, SIGNS)
    np.testing.assert_array_equal(model.predict(INDICES), expected.predict(PAIRS))
    np.testing.assert_array_equal(model.predict(PAIRS), expected.predict(PAIRS))
    assert model.n_features_in_ == 4
    assert clone(model).get_params()["metric"].t == 0.5


def test_pairs_of_names() -> None:
    expected = PairClassifier(GMML()).fit(PAIRS, SIGNS)
    names = np.char.add("flower ", INDICES.astype(str))

    def look_up(wanted: Any) -> Any:
        return X[[int(name.split()[1]) for name in wanted]]

    model = PairClassifier(GMML(), preprocessor=look_up).fit(names, SIGNS)
    np.testing.assert_array_equal(model.predict(names), expected.predict(PAIRS))


def test_a_metric_that_is_not_learned_from_pairs(tmp_path: Path) -> None:
    assert PairClassifier(Euclidean()).fit(PAIRS, SIGNS).score(PAIRS, SIGNS) > 0.8
    GMML().fit(X, Y).save(tmp_path / "metric")
    saved = PairClassifier(load(tmp_path / "metric")).fit(PAIRS, SIGNS)
    assert saved.score(PAIRS, SIGNS) > 0.85
    with pytest.raises(TypeError, match=r"LMNN has no fit_pairs: choose one that has, e\.g\. GMML"):
        PairClassifier(LMNN()).fit(PAIRS, SIGNS)


NAMED = np.where(SIGNS > 0, "yes", "no")
REFUSED: dict[str, Any] = {
    "masked pairs": (np.ma.masked_array(PAIRS, PAIRS > 5.0), SIGNS, r"^pairs has \d+ masked"),
    "missing": (PAIRS, np.where(SIGNS > 0, 1.0, np.nan), "^Input y contains NaN"),
    "no preprocessor": (INDICES, SIGNS, "got pairs of indices and no array that they index"),
    "shape": (X, Y, r"needs pairs of shape \(n, 2, n_features\), got \(150, 4\)"),
    "one kind": (PAIRS, np.ones(400), r"needs labels of two kinds, e.g. -1 and \+1, got 1"),
    "mixed": (PAIRS, np.array(["a", 1] * 200, dtype=object), "needs labels of one type that can"),
    "few": (PAIRS[:3], [1, 1, -1], r"at least 2 pairs of each kind"),
    "length": (PAIRS, SIGNS[1:], "inconsistent"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    pairs, y, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        PairClassifier(GMML()).fit(pairs, y)


def test_a_preprocessor_makes_a_sample_for_each_index_or_name() -> None:
    words = "returns a sample for each of the 800 names that it gets, got {}"
    for make, got in ((lambda rows: np.vstack([X[rows]] * 2), 1600), (lambda rows: X[:10], 10)):
        with pytest.raises(ValueError, match=words.format(got)):
            PairClassifier(GMML(), preprocessor=make).fit(INDICES, SIGNS)
    model = PairClassifier(Euclidean(), preprocessor=X).fit(INDICES, SIGNS)
    np.testing.assert_array_equal(model.transform([3, 1]), X[[3, 1]])
    np.testing.assert_array_equal(model.transform(X[[3, 1]]), X[[3, 1]])
    with pytest.raises(IndexError, match="index 150 is out of bounds"):
        model.predict([[0, 150]])
    with pytest.raises(ValueError, match="Indices of preprocessor start at 0, got -1"):
        model.predict([[0, -1]])


def test_a_threshold_of_ones_own() -> None:
    model = PairClassifier(ITML(random_state=0, tol=0.1)).fit(PAIRS, SIGNS)
    distances = model.metric_.pair_distance(PAIRS)
    model.set_threshold(1.5)
    np.testing.assert_array_equal(model.predict(PAIRS) == 1, distances <= 1.5)
    model.calibrate_threshold(PAIRS, SIGNS, strategy="precision", min_rate=0.9)
    assert model.threshold_ == find_threshold(distances, SIGNS == 1, "precision", 0.9)
    with pytest.raises(ValueError, match="strategy must be one of accuracy, precision, got 'best'"):
        model.calibrate_threshold(PAIRS, SIGNS, strategy="best")
    with pytest.raises(ValueError, match=r"and y_valid has \['no', 'yes'\]: pass the same two"):
        model.calibrate_threshold(PAIRS, NAMED)


@pytest.mark.parametrize("learner", [RCA(), MMC()], ids=lambda one: type(one).__name__)
def test_a_threshold_fits_the_metric_of_all_pairs(learner: Any) -> None:
    """Metrics of fewer matches have another scale, by which most new pairs were matches."""
    X, y = load_digits(return_X_y=True)
    indices = np.random.default_rng(1).integers(len(X), size=(2600, 2))
    match = y[indices[:, 0]] == y[indices[:, 1]]
    model = PairClassifier(learner).fit(X[indices[:600]], match[:600])
    distances = model.pair_distance(X[indices[600:]])
    best = find_threshold(distances, match[600:], "accuracy", 0.95)
    lost = np.mean((distances <= best) == match[600:])
    lost -= model.score(X[indices[600:]], match[600:])
    assert lost < 0.1


@pytest.mark.parametrize("labels", [SIGNS, SIGNS > 0, NAMED], ids=["signs", "bool", "text"])
def test_a_file_has_the_threshold_too(labels: Any, tmp_path: Path) -> None:
    model = PairClassifier(GMML(), strategy="precision").fit(PAIRS, labels)
    model.save(tmp_path / "pairs.safetensors")
    saved = PairClassifier.load(tmp_path / "pairs.safetensors", preprocessor=X)
    np.testing.assert_array_equal(saved.predict(INDICES), model.predict(PAIRS))
    assert saved.strategy == "precision"
    assert saved.threshold_ == model.threshold_
    for name in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(saved, name)(PAIRS), getattr(model, name)(PAIRS))
    assert saved.classes_.dtype == model.classes_.dtype
    metric = load(tmp_path / "pairs.safetensors")
    np.testing.assert_array_equal(metric.components_, model.metric_.components_)
    GMML().fit(X, Y).save(tmp_path / "metric.safetensors")
    with pytest.raises(FileError, match=r"metric.safetensors' holds no threshold: write the file"):
        PairClassifier.load(tmp_path / "metric.safetensors")


def test_triplets() -> None:
    anchors = RNG.integers(150, size=300)
    positive, negative = (
        np.array([RNG.choice(np.flatnonzero((Y[a] == Y) == same)) for a in anchors])
        for same in (True, False)
    )
    triplets = np.stack([anchors, positive, negative], axis=1)
    model = TripletClassifier(TripletSGD(random_state=0))
    assert cross_val_score(model, X[triplets]).mean() > 0.9
    fitted = TripletClassifier(TripletSGD(random_state=0), preprocessor=X).fit(triplets)
    right = fitted.metric_.pair_distance(X[triplets[:, :2]]) < fitted.metric_.pair_distance(
        X[triplets[:, [0, 2]]]
    )
    np.testing.assert_array_equal(fitted.predict(triplets), np.where(right, 1, -1))
    np.testing.assert_array_equal(fitted.predict(triplets[:, [0, 2, 1]]), np.where(right, -1, 1))
    assert fitted.score(triplets) == right.mean()


def test_triplets_in_a_grid_and_ties() -> None:
    triplets = RNG.standard_normal((200, 3, 4))
    triplets[:, 1, 0] = triplets[:, 0, 0]
    grid = {"metric__l1_weight": [1e-5, 10.0]}
    searched = GridSearchCV(TripletClassifier(SCML(random_state=0)), grid).fit(triplets)
    assert searched.best_params_ == {"metric__l1_weight": 1e-5}
    assert searched.best_score_ > 0.8
    assert set(cross_val_predict(searched.best_estimator_, triplets)) == {-1, 1}
    assert searched.predict(triplets[:1, [0, 1, 1]]).tolist() == [-1]  # as far: not nearer


@pytest.mark.parametrize("preprocessor", [None, X], ids=["samples", "indices"])
def test_a_classifier_has_the_methods_of_its_metric(preprocessor: Any) -> None:
    pairs = PAIRS if preprocessor is None else INDICES
    model = PairClassifier(GMML(), preprocessor=preprocessor).fit(pairs, SIGNS)
    metric = model.metric_
    np.testing.assert_array_equal(model.transform(X), metric.transform(X))
    np.testing.assert_array_equal(model.pair_distance(pairs), metric.pair_distance(PAIRS))
    np.testing.assert_array_equal(model.pair_score(pairs), metric.pair_score(PAIRS))
    assert model.get_metric()(*PAIRS[0]) == metric.get_metric()(*PAIRS[0])
    np.testing.assert_array_equal(model.get_mahalanobis_matrix(), metric.get_mahalanobis_matrix())
    triplets = TripletClassifier(Euclidean(), preprocessor=preprocessor)
    triplets.fit(np.concatenate([pairs, pairs[:, :1]], axis=1))
    expected = np.linalg.norm(PAIRS[:, 0] - PAIRS[:, 1], axis=1)
    np.testing.assert_allclose(triplets.pair_distance(pairs), expected)
