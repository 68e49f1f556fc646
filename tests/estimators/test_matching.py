"""Pairs and triplets as scikit-learn data: thresholds by definition, probabilities, grids."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import fbeta_score, precision_score, roc_auc_score
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
from calipers.estimators.thresholds import STRATEGIES, find_threshold, platt
from calipers.metric.file import write
from calipers.notices import DataWarning
from learners import iris

X, Y = iris()
RNG = np.random.default_rng(0)
INDICES = RNG.integers(150, size=(400, 2))
PAIRS, SIGNS = X[INDICES], np.where(Y[INDICES[:, 0]] == Y[INDICES[:, 1]], 1, -1)
DISTANCES = np.concatenate([RNG.gamma(4.0, 1.0, 300), RNG.gamma(9.0, 1.0, 500)])
IS_MATCH = np.arange(800) < 300


def shares(threshold: float) -> tuple[float, float, Any]:
    """Share of matches found, of others told apart, and what is called a match."""
    called = threshold >= DISTANCES
    return float(called[IS_MATCH].mean()), float(1 - called[~IS_MATCH].mean()), called


def every(worth: Any) -> float:
    """The best worth of all thresholds."""
    return float(max(worth(threshold) for threshold in [-1.0, *DISTANCES]))


def right(threshold: float) -> float:
    return float(np.mean(shares(threshold)[2] == IS_MATCH))


def f2(threshold: float) -> float:
    return float(fbeta_score(IS_MATCH, shares(threshold)[2], beta=2.0, zero_division=0.0))


def test_thresholds_are_the_best_of_all() -> None:
    def found(strategy: str, **more: Any) -> float:
        return find_threshold(DISTANCES, IS_MATCH, strategy, **more)

    assert right(found("accuracy")) == every(right)
    assert np.isclose(f2(found("f_beta", beta=2.0)), every(f2))
    tpr, tnr, _ = shares(found("max_tpr", min_rate=0.9))
    assert tnr >= 0.9
    assert tpr == every(lambda t: shares(t)[0] if shares(t)[1] >= 0.9 else 0.0)
    tpr, tnr, _ = shares(found("max_tnr", min_rate=0.9))
    assert tpr >= 0.9
    assert tnr == every(lambda t: shares(t)[1] if shares(t)[0] >= 0.9 else 0.0)
    tpr, _, called = shares(found("precision", min_rate=0.95))
    assert precision_score(IS_MATCH, called) >= 0.95
    assert tpr == every(
        lambda t: shares(t)[0] if IS_MATCH[shares(t)[2]].sum() >= 0.95 * shares(t)[2].sum() else 0
    )
    tpr, tnr, _ = shares(found("equal-error-rate"))
    assert abs(tpr - tnr) < 0.01


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
        ValueError, match="requires y to be passed, but the target y is None: pass a label for each"
    ):
        fresh.fit(PAIRS, None)
    with pytest.raises(NotFittedError):
        fresh.predict(PAIRS)


def test_probabilities_of_distances_far_from_0() -> None:
    distances = np.abs(np.random.default_rng(0).normal(size=60))
    is_match = distances + np.random.default_rng(1).normal(size=60) < 0.6
    slope, intercept = platt(distances, is_match)
    np.testing.assert_allclose(
        platt(1e6 + distances, is_match), [slope, intercept - 1e6 * slope], rtol=1e-5
    )


@pytest.mark.parametrize("scale", [1e-165, 1e155])
def test_probabilities_do_not_depend_on_the_scale(scale: float) -> None:
    distances = np.abs(np.random.default_rng(0).normal(size=60))
    is_match = distances < 0.6
    slope, intercept = platt(distances, is_match)
    np.testing.assert_allclose(
        platt(scale * distances, is_match), [slope / scale, intercept], rtol=1e-6
    )


def test_probabilities_of_distances_that_are_nearly_0() -> None:
    sigmoid = platt(np.arange(1.0, 9.0) * 1e-320, np.arange(8) < 4)
    assert np.isfinite(sigmoid).all()


def test_settings_may_be_numbers_of_numpy(tmp_path: Path) -> None:
    beta: Any = np.int64(2)
    model = PairClassifier(GMML(), strategy="f_beta", beta=beta).fit(PAIRS, SIGNS)
    model.save(tmp_path / "pairs.safetensors")
    assert PairClassifier.load(tmp_path / "pairs.safetensors").beta == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy(strategy: str) -> None:
    model = PairClassifier(GMML(), strategy=strategy, min_rate=0.8).fit(PAIRS, SIGNS)
    predicted = model.predict(PAIRS)
    assert set(predicted) <= {-1, 1}
    np.testing.assert_array_equal(predicted == 1, model.decision_function(PAIRS) >= 0.0)
    assert model.score(PAIRS, SIGNS) > 0.75


@pytest.mark.parametrize("labels", [[0, 1], [False, True], ["differs", "match"]])
def test_any_two_labels(labels: list[Any]) -> None:
    y = np.array(labels)[(SIGNS + 1) // 2]
    model = PairClassifier(GMML()).fit(PAIRS, y)
    assert model.classes_.tolist() == labels
    expected = PairClassifier(GMML()).fit(PAIRS, SIGNS)
    np.testing.assert_array_equal(model.predict(PAIRS) == labels[1], expected.predict(PAIRS) == 1)


def test_probabilities_are_calibrated_on_pairs_not_learned_from() -> None:
    p = cross_val_predict(PairClassifier(GMML()), PAIRS, SIGNS, method="predict_proba")
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert roc_auc_score(SIGNS, p[:, 1]) > 0.9
    for low in (0.0, 0.2, 0.8):
        some = (p[:, 1] >= low) & (p[:, 1] < low + 0.2)
        assert abs((SIGNS[some] == 1).mean() - p[some, 1].mean()) < 0.12


def test_cross_validation_and_grids() -> None:
    assert cross_val_score(PairClassifier(GMML()), PAIRS, SIGNS).mean() > 0.8
    grid = {"metric__t": [0.1, 0.5], "strategy": ["accuracy", "equal-error-rate"]}
    searched = GridSearchCV(PairClassifier(GMML()), grid, cv=3).fit(PAIRS, SIGNS)
    assert searched.best_score_ > 0.85
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
    with pytest.raises(ValueError, match="pairs from flower 0 to flower 98 for the 150 samples"):
        PairClassifier(GMML(), preprocessor=X).fit(names, SIGNS)


SCORES = ("f1", "neg_log_loss", "neg_brier_score", "roc_auc", "average_precision", "recall")


@pytest.mark.parametrize("scoring", SCORES)
@pytest.mark.parametrize("given", [PAIRS, INDICES, PAIRS.tolist()], ids=["3-D", "2-D", "lists"])
def test_every_score_of_scikit_learn(scoring: str, given: Any) -> None:
    model = PairClassifier(GMML(), preprocessor=X)
    assert np.isfinite(cross_val_score(model, given, SIGNS.tolist(), scoring=scoring)).all()


def test_a_metric_that_is_not_learned_from_pairs(tmp_path: Path) -> None:
    assert PairClassifier(Euclidean()).fit(PAIRS, SIGNS).score(PAIRS, SIGNS) > 0.8
    GMML().fit(X, Y).save(tmp_path / "metric")
    saved = PairClassifier(load(tmp_path / "metric")).fit(PAIRS, SIGNS)
    assert saved.score(PAIRS, SIGNS) > 0.85
    with pytest.raises(TypeError, match=r"LMNN has no fit_pairs: choose one that has, e\.g\. GMML"):
        PairClassifier(LMNN()).fit(PAIRS, SIGNS)


def test_a_threshold_of_ones_own() -> None:
    model = PairClassifier(ITML(random_state=0, tol=0.1)).fit(PAIRS, SIGNS)
    distances = model.metric_.pair_distance(PAIRS)
    model.set_threshold(1.5)
    np.testing.assert_array_equal(model.predict(PAIRS) == 1, distances <= 1.5)
    model.calibrate_threshold(PAIRS, SIGNS, strategy="max_tpr", min_rate=0.9)
    assert model.threshold_ == find_threshold(distances, SIGNS == 1, "max_tpr", min_rate=0.9)


NAMED = np.where(SIGNS > 0, "yes", "no")
REFUSED: dict[str, Any] = {
    "masked pairs": (np.ma.masked_array(PAIRS, PAIRS > 5.0), SIGNS, r"^pairs has \d+ masked"),
    "masked labels": (PAIRS, np.ma.masked_array(SIGNS, SIGNS > 0), r"^y has \d+ masked values"),
    "times": (PAIRS.astype("M8[s]"), SIGNS, "^pairs is of datetime64"),
    "complex": (PAIRS + 1j, SIGNS, "^Complex data not supported: pairs is of complex128"),
    "missing": (PAIRS, np.where(SIGNS > 0, 1.0, np.nan), "^Input y contains NaN or other signs"),
    "none": (PAIRS, np.where(SIGNS > 0, "a", np.array(None)), "^Input y contains NaN or other"),
    "mixed": (PAIRS, [1, "a"] * 200, "needs labels of one type, got labels of types int, str"),
    "no preprocessor": (INDICES, SIGNS, "got pairs of indices and no array that they index"),
    "shape": (X, Y, r"needs pairs of shape \(n, 2, n_features\), got \(150, 4\)"),
    "one kind": (PAIRS, np.ones(400), r"needs labels of two kinds, e.g. -1 and \+1, got 1"),
    "few": (PAIRS[:3], [1, 1, -1], r"at least 2 pairs of each kind"),
    "length": (PAIRS, SIGNS[1:], "inconsistent"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    pairs, y, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        PairClassifier(GMML()).fit(pairs, y)


def test_a_preprocessor_that_is_refused() -> None:
    def refused(preprocessor: Any, kind: type[Exception], words: str) -> None:
        with pytest.raises(kind, match=words):
            PairClassifier(GMML(), preprocessor=preprocessor).fit(INDICES, SIGNS)

    words = r"needs a preprocessor that returns a sample for each of the 800 names .* got \({}\)"
    refused(lambda rows: np.vstack([X[rows], X[rows]]), ValueError, words.format("1600, 4"))
    refused(lambda rows: X[rows[:10]], ValueError, words.format("10, 4"))
    refused(lambda rows: X[rows, 0], ValueError, words.format("800,"))
    refused(dict(enumerate(X)), TypeError, "needs an array or a function for preprocessor, got a d")
    refused(np.ma.masked_array(X, X > 5.0), ValueError, r"^preprocessor has \d+ masked values")
    model = PairClassifier(GMML(), preprocessor=X).fit(INDICES, SIGNS)
    found = model.predict(INDICES.astype(object))  # whole numbers all the same
    np.testing.assert_array_equal(found, model.predict(INDICES))


def test_labels_that_a_threshold_is_not_calibrated_by() -> None:
    model = PairClassifier(GMML()).fit(PAIRS, SIGNS)
    for y, words in (
        (SIGNS + 3, r"was fitted to the labels \[-1, 1\], and y_valid has \[2, 4\]: pass the same"),
        (NAMED, r"and y_valid has \['no', 'yes'\]"),
        (np.where(SIGNS > 0, 1.0, np.nan), "^Input y contains NaN or other signs of a missing"),
        (np.ones(400), "needs labels of two kinds"),
    ):
        with pytest.raises(ValueError, match=words):
            model.calibrate_threshold(PAIRS, y)
    with pytest.raises(ValueError, match="threshold must be a finite number, got nan"):
        model.set_threshold(np.nan)


@pytest.mark.parametrize("learner", [RCA(), MMC()], ids=lambda one: type(one).__name__)
def test_a_threshold_fits_the_metric_of_all_pairs(learner: Any) -> None:
    """Metrics of fewer matches have another scale, by which most new pairs were matches."""
    X, y = load_digits(return_X_y=True)
    indices = np.random.default_rng(1).integers(len(X), size=(2600, 2))
    match = y[indices[:, 0]] == y[indices[:, 1]]
    model = PairClassifier(learner).fit(X[indices[:600]], match[:600])
    distances = model.pair_distance(X[indices[600:]])
    best = find_threshold(distances, match[600:], "accuracy")
    lost = np.mean((distances <= best) == match[600:])
    lost -= model.score(X[indices[600:]], match[600:])
    assert lost < 0.1


@pytest.mark.parametrize("labels", [SIGNS, SIGNS > 0, NAMED], ids=["signs", "bool", "text"])
def test_a_file_has_the_threshold_too(labels: Any, tmp_path: Path) -> None:
    model = PairClassifier(GMML(), strategy="equal-error-rate").fit(PAIRS, labels)
    model.save(tmp_path / "pairs.safetensors")
    saved = PairClassifier.load(tmp_path / "pairs.safetensors", preprocessor=X)
    np.testing.assert_array_equal(saved.predict(INDICES), model.predict(PAIRS))
    assert saved.strategy == "equal-error-rate"
    assert saved.threshold_ == model.threshold_
    for name in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(saved, name)(PAIRS), getattr(model, name)(PAIRS))
    assert saved.classes_.dtype == model.classes_.dtype
    metric = load(tmp_path / "pairs.safetensors")
    np.testing.assert_array_equal(metric.components_, model.metric_.components_)
    saved.set_threshold(2.0).save(tmp_path / "again.safetensors")
    assert PairClassifier.load(tmp_path / "again.safetensors").threshold_ == 2.0


@pytest.mark.parametrize(
    "fact",
    [
        None,
        3,
        {},
        {"threshold_": 1.0},
    ],
    ids=str,
)
def test_a_file_without_a_threshold(fact: Any, tmp_path: Path) -> None:
    contents = GMML().fit(X, Y)._contents()
    facts = contents.facts if fact is None else {"pair_classifier": fact}
    write(replace(contents, facts=facts), tmp_path / "metric")
    with pytest.raises(FileError, match=r"metric' holds no threshold: write the file by PairClas"):
        PairClassifier.load(tmp_path / "metric")


def test_labels_that_no_file_has(tmp_path: Path) -> None:
    model = PairClassifier(GMML()).fit(PAIRS, NAMED.astype("S"))
    with pytest.raises(FileError, match=r"^Labels \[b'no', b'yes'\] cannot be saved: fit to texts"):
        model.save(tmp_path / "metric")


def test_settings_that_are_refused() -> None:
    fitted = PairClassifier(GMML(), preprocessor=X).fit(INDICES, SIGNS)
    with pytest.raises(ValueError, match="needs min_rate, a number from 0 to 1, got None"):
        fitted.calibrate_threshold(INDICES, SIGNS, strategy="max_tpr")
    with pytest.raises(ValueError, match="strategy must be one of accuracy, "):
        fitted.calibrate_threshold(INDICES, SIGNS, strategy="best")
    for beta in ("two", -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="beta must be a number that is not negative"):
            fitted.calibrate_threshold(INDICES, SIGNS, strategy="f_beta", beta=beta)
    with pytest.raises(ValueError, match="threshold must be a finite number"):
        fitted.set_threshold("near")
    with pytest.raises(ValueError, match=r"pairs from 0 to 150 for the 150 samples"):
        fitted.predict([[0, 150]])


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


OF_TUPLES = ("predict", "decision_function", "predict_proba", "pair_distance", "pair_score")
OF_NOTHING = ("get_metric", "get_mahalanobis_matrix")


@pytest.mark.parametrize("model", [PairClassifier(GMML()), TripletClassifier(SCML())], ids=str)
def test_nothing_is_answered_before_a_fit(model: Any) -> None:
    calls: dict[str, tuple[Any, ...]] = {
        **dict.fromkeys(OF_TUPLES, (PAIRS,)),
        **dict.fromkeys(OF_NOTHING, ()),
        "transform": (X,),
        "calibrate_threshold": (PAIRS, SIGNS),
        "set_threshold": (1.0,),
    }
    lacking = {"predict_proba", "calibrate_threshold", "set_threshold"}
    for name in calls.keys() - (lacking if isinstance(model, TripletClassifier) else set()):
        with pytest.raises(NotFittedError):
            getattr(model, name)(*calls[name])


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


@pytest.mark.parametrize(
    "settings", [{"strategy": "max_tpr"}, {"strategy": "precision", "min_rate": None}], ids=str
)
def test_settings_are_checked_before_anything_is_learned(settings: Any) -> None:
    class Never(GMML):
        def fit_pairs(self, *data: Any, **more: Any) -> Any:
            raise AssertionError("it learned first")

    with pytest.raises(ValueError, match="needs min_rate, a number from 0 to 1, got None"):
        PairClassifier(Never(), **settings).fit(PAIRS, SIGNS)


def test_precision_alone_is_an_f_score() -> None:
    model = PairClassifier(GMML(), strategy="f_beta", beta=0.0).fit(PAIRS, SIGNS)
    distances = model.metric_.pair_distance(PAIRS)
    is_match = np.asarray(SIGNS) > 0
    best = max(is_match[distances <= limit].mean() for limit in distances)
    assert precision_score(SIGNS, model.predict(PAIRS)) == best


@pytest.mark.parametrize("classifier", [PairClassifier, TripletClassifier])
def test_transform_takes_indices_of_the_preprocessor(classifier: Any) -> None:
    model = classifier(Euclidean(), preprocessor=X)
    tuples = INDICES if classifier is PairClassifier else np.column_stack([INDICES, INDICES[:, 0]])
    model.fit(tuples, SIGNS)
    np.testing.assert_array_equal(model.transform([3, 1]), X[[3, 1]])
    np.testing.assert_array_equal(model.transform(X[[3, 1]]), X[[3, 1]])
    with pytest.raises(ValueError, match=r"got indices from 3 to 150 for the 150 samples of prep"):
        model.transform([3, 150])
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        classifier(Euclidean()).fit(X[tuples], SIGNS).transform(X[0])
