"""What holds for every learner: bits, layouts, order of components, odd data, what is said."""

from __future__ import annotations

import warnings
from inspect import isclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import ortho_group
from sklearn.datasets import load_digits

import calipers
from calipers import estimators
from calipers.data import samples
from calipers.evaluation import knn_error
from calipers.notices import DataWarning
from learners import (
    FROM_TRIPLETS,
    LEARNERS,
    STEPWISE,
    each_from_triplets,
    each_learner,
    for_triplets,
    iris,
    little,
    metric_of,
    noise,
    random_triplets,
)
from solver_runs import assert_same_matrix

X, Y = iris()
FEW, FEW_LABELS = noise()


def test_every_learner_is_in_this_suite() -> None:
    learners = {name for name, value in vars(estimators).items() if isclass(value)} | {"MetricCV"}
    assert learners == set(LEARNERS)
    assert learners <= set(calipers.__all__)


# Parameters


CHANGES: dict[str, list[dict[str, Any]]] = {
    "SPML": [{"batch_size": 5}, {"ridge": 1e-2}, {"margin": 1e6}],
    "SCML": [{"n_basis": 20}, {"batch_size": 5}, {"l1_weight": 0.1}, {"learning_rate": 0.5}],
    "OASIS": [{"aggressiveness": 0.01}, {"form": "distance"}],
    "LEGO": [{"learning_rate": 0.5}, {"near_distance": 0.2}, {"far_distance": 8.0}],
    "ITML": [
        *({"slack_weight": 0.5}, {"near_distance": 0.2}, {"far_distance": 8.0}),
        *({"max_iter": 2}, {"tol": 0.1}),
    ],
    "LMNN": [{"push_weight": 0.2}, {"max_iter": 3}, {"tol": 0.1}],
    "NCA": [{"batch_size": 16}, {"init": "within-class"}, {"max_iter": 3}, {"tol": 0.5}],
    "MLKR": [{"batch_size": 16}, {"init": "identity"}, {"max_iter": 3}, {"tol": 0.5}],
    "LFDA": [],
    "GMML": [{"t": 0.1}],
}
EVERYWHERE = [*({"n_triplets": 40}, {"n_neighbors": 2}, {"n_components": 2}, {"random_state": 1})]
CASES = [
    (name, change)
    for name in CHANGES
    for change in [*CHANGES[name], *EVERYWHERE]
    if change.keys() <= LEARNERS[name].get_params().keys()
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "change"), CASES)
def test_every_parameter_changes_something(name: str, change: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"ridge": 1e-1} if name == "SPML" else {}
    if name in ("NCA", "MLKR") and "tol" in change:  # not of mini-batches
        usual = {"batch_size": None}
    if name in ("NCA", "MLKR") and "random_state" in change:  # a larger batch holds all samples
        usual = {"batch_size": 16}
    before = metric_of(little(name, **usual), X, Y)
    after = metric_of(little(name, **{**usual, **change}), X, Y)
    assert np.linalg.norm(before - after) > 1e-6 * np.linalg.norm(before)


@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_is_in_the_table_above(name: str) -> None:
    changed = {key for learner, change in CASES if learner == name for key in change}
    assert changed == LEARNERS[name].get_params().keys()


# Components


@each_learner
def test_components_are_ordered_by_the_variance_of_the_samples(name: str) -> None:
    """A prefix keeps more of the variance under the metric than any other directions do."""
    fitted = little(name).fit(X, Y)
    if name in ("Euclidean", "Scaled"):  # features as they are; principal axes where fewer
        fitted = little(name, n_components=4).fit(X, Y)
    covariance = np.atleast_2d(np.cov(fitted.transform(X).T))
    variances = np.diag(covariance)
    assert (np.diff(variances) <= 1e-9 * variances[0]).all()
    np.testing.assert_allclose(covariance, np.diag(variances), atol=1e-9 * variances[0])
    # the factor of others is that of its rank
    if name not in ("TripletSGD", "MetricCV", "Discriminant", "LFDA", "NCA", "MLKR"):
        for k in range(1, len(variances)):
            few = little(name, n_components=k).fit(X, Y).components_
            np.testing.assert_allclose(few, fitted.components_[:k], rtol=1e-9, atol=1e-12)


@each_learner
def test_components_are_as_many_as_asked_for(name: str) -> None:
    fitted = little(name, n_components=2).fit(X, Y)
    assert fitted.components_.shape == (2, 4)
    assert fitted.transform(X).shape == (150, 2)
    with pytest.raises(ValueError, match=f"^{name} has n_components=5, but X has 4"):
        little(name, n_components=5).fit(X, Y)


@each_from_triplets
def test_fitted_attributes(name: str) -> None:
    fitted = little(name).fit(X, Y)
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.n_features_in_ == 4
    assert fitted.n_updates_ == fitted.update_curve_[-1] > 0
    assert min(fitted.mining_seconds_, fitted.solve_seconds_) > 0
    assert fitted.notes_ == []
    assert not fitted.interrupted_
    assert (fitted.loss_curve_ >= 0).all()
    assert fitted.loss_curve_.max() > 0
    assert len(fitted.loss_curve_) == len(fitted.update_curve_)
    if name in ("SPML", "SCML", "OASIS"):
        assert fitted.triplet_curve_[-1] == 500
        assert fitted.n_iter_ == (500 if name == "OASIS" else 50)
    if name == "LEGO":
        assert fitted.n_iter_ == fitted.pair_curve_[-1] == 1000
    assert not hasattr(for_triplets(name).fit_triplets(X, random_triplets(150, 50)), "classes_")


# The same bits


DIGITS, DIGIT_LABELS = load_digits(return_X_y=True)
DIGITS = (DIGITS + np.random.default_rng(0).random(DIGITS.shape))[:700]
DIGIT_LABELS = DIGIT_LABELS[:700]


def mapped(folder: Path, values: npt.NDArray[Any], mode: Any = "r") -> npt.NDArray[Any]:
    np.save(folder / "X.npy", values)
    loaded: npt.NDArray[Any] = np.load(folder / "X.npy", mmap_mode=mode)
    return loaded


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every mapped file is read by blocks, of 100 samples."""
    monkeypatch.setattr("calipers.data.samples.LARGEST_READ", 0)
    monkeypatch.setattr("calipers.data.samples.BLOCK_ELEMENTS", 6400)
    monkeypatch.setattr(samples, "_TAKEN_AT_ONCE", 64)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("small_blocks")
@each_learner
def test_a_memory_mapped_file(name: str, tmp_path: Path) -> None:
    less: Any = {"ITML": {"tol": 0.1}, "LMNN": {"max_iter": 3}, "MCML": {"max_iter": 3}}
    less = less.get(name, {})
    for view in (slice(None), np.s_[::2, 3:40]):
        file = mapped(tmp_path, DIGITS)[view]
        labels = DIGIT_LABELS[:: 1 if view == slice(None) else 2]
        expected = little(name, **less).fit(np.array(file), labels)
        got = little(name, **less).fit(file, labels)
        np.testing.assert_array_equal(got.components_, expected.components_)
        assert got.n_updates_ == expected.n_updates_


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("init", ["auto", "within-class"])
def test_a_memory_mapped_file_of_any_type(tmp_path: Path, dtype: Any, init: str) -> None:
    values = DIGITS.astype(dtype)
    expected = little("TripletSGD", init=init).fit(values, DIGIT_LABELS)
    got = little("TripletSGD", init=init).fit(mapped(tmp_path, values), DIGIT_LABELS)
    np.testing.assert_array_equal(got.components_, expected.components_)
    triplets = random_triplets(700, 300)
    if init != "within-class":
        expected, got = (
            for_triplets("TripletSGD", init=init).fit_triplets(given, triplets)
            for given in (values, mapped(tmp_path, values))
        )
        np.testing.assert_array_equal(got.components_, expected.components_)


WHOLE = np.random.default_rng(1).integers(0, 9, size=(40, 5)).astype(np.float64)
WHOLE_LABELS = np.arange(40) % 4


def layouts() -> dict[str, Any]:
    doubled = np.zeros((80, 5))
    doubled[::2] = WHOLE
    read_only = WHOLE.copy()
    read_only.flags.writeable = False
    return {
        "list": WHOLE.tolist(),
        "read-only": read_only,
        "every other": doubled[::2],
        "negative strides": WHOLE[::-1].copy()[::-1],
        "Fortran order": np.asfortranarray(WHOLE),
        "float32": WHOLE.astype(np.float32),
        "uint8": WHOLE.astype(np.uint8),
        "object": WHOLE.astype(object),
    }


@pytest.mark.parametrize("name", ["TripletSGD", "ITML", "GMML", "LMNN", "NCA"])
def test_any_layout_and_labels_give_the_same_metric_and_are_left_alone(name: str) -> None:
    expected = little(name).fit(WHOLE, WHOLE_LABELS)
    for kind, given in layouts().items():
        before = np.array(given)
        fitted = little(name).fit(given, WHOLE_LABELS)
        # samples in other coordinates are rounded to float32 again, which runs carry on
        rtol = 1e-5 if kind == "float32" else 1e-13
        np.testing.assert_allclose(fitted.components_, expected.components_, rtol, rtol)
        np.testing.assert_array_equal(np.array(given), before)
    words = np.array(["a", "b", "c", "d"], dtype=object)[WHOLE_LABELS]
    numbers = [WHOLE_LABELS.astype(float), WHOLE_LABELS.tolist()]
    for labels in (words, words.astype(str), *numbers):
        fitted = little(name).fit(WHOLE, labels)
        np.testing.assert_array_equal(fitted.components_, expected.components_)
        assert fitted.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))


# Invariances


@pytest.mark.parametrize("name", ["SPML", "OASIS", "LEGO", "ITML", "LMNN", "Euclidean"])
def test_rotation(name: str) -> None:
    Q = ortho_group.rvs(4, random_state=0)
    M = metric_of(little(name), X, Y)
    rotated = metric_of(little(name), X @ Q, Y)
    assert_same_matrix(rotated, Q.T @ M @ Q, 1e-2 if name in ("LMNN", "MCML") else 1e-7)


@each_learner
def test_translation_matters_to_inner_products_only(name: str) -> None:
    shifted, plain = (metric_of(little(name), given, Y) for given in (X + np.arange(4.0), X))
    if name == "OASIS":
        assert np.linalg.norm(shifted - plain) > 1e-3 * np.linalg.norm(plain)
    else:
        assert_same_matrix(shifted, plain, 1e-2 if name in ("LMNN", "MCML") else 1e-7)


@pytest.mark.parametrize("unit", [1e-74, 1e74])
@each_learner
def test_extreme_scales(unit: float, name: str) -> None:
    fitted = little(name).fit(unit * X, Y)
    assert np.isfinite(fitted.components_).all()
    if name in ("TripletSGD", "ITML", "Scaled", "WithinClass", "Discriminant"):
        expected = little(name).fit(X, Y)
        assert fitted.n_updates_ == expected.n_updates_
        exponent = 1.0 if name == "ITML" else unit
        np.testing.assert_allclose(
            exponent * fitted.components_, expected.components_, rtol=1e-5, atol=1e-6
        )


# Odd data


@each_from_triplets
def test_constant_features_are_as_at_the_start(name: str) -> None:
    samples = X.copy()
    samples[:, 1] = 0.0
    fitted = little(name).fit(samples, Y)
    M = fitted.get_mahalanobis_matrix()
    np.testing.assert_allclose(M[1, [0, 2, 3]], 0.0, atol=1e-12 * M.max())
    if name in ("OASIS", "LEGO", "ITML"):
        assert M[1, 1] == pytest.approx(1.0)
    assert fitted.notes_ == [
        "1 of 4 features are constant (the first has index 1): no distance depends on them, and "
        "their part of the metric keeps its initial value."
    ]


@pytest.mark.parametrize("name", [name for name in STEPWISE if name != "MLKR"])
def test_a_singleton_class_is_said_once_and_the_warning_points_at_the_call(name: str) -> None:
    labels = FEW_LABELS.astype(object)
    labels[0] = "alone"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = little(name).fit(FEW, labels.astype(str))
    (told,) = [warning for warning in caught if warning.category is DataWarning]
    assert str(told.message) == (
        "1 of 4 classes have one sample only ('alone'): such a class has no positive, so its "
        "sample serves as a negative only."
    )
    assert told.filename == __file__
    assert len(fitted.classes_) == 4


def test_notes() -> None:
    assert little("TripletSGD", n_neighbors=10).fit(FEW, FEW_LABELS).notes_ == [
        "3 of 3 classes have no more than n_neighbors=10 samples: in such a class an anchor "
        "draws its positives among all other samples."
    ]
    labels = np.where(np.arange(30) < 5, np.arange(30), 100 + FEW_LABELS)
    singletons = r"^5 of 8 classes have one sample only \(0, 1, 2, \.\.\.\)"
    with pytest.warns(DataWarning, match=singletons):
        little("TripletSGD").fit(FEW, labels)


# From end to end


@pytest.mark.parametrize("name", [*STEPWISE, "Discriminant", "MetricCV"])
def test_noise_is_found_out(name: str) -> None:
    """Three features tell the classes apart, ten louder ones do not."""
    euclidean, learned = [], []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        labels = rng.integers(3, size=400)
        telling = 3.0 * np.eye(3)[labels] + 0.7 * rng.standard_normal((400, 3))
        samples = np.hstack([telling, 2.0 * rng.standard_normal((400, 10))])
        more = {"n_triplets": 200 if name == "ITML" else 5000} if name in FROM_TRIPLETS else {}
        images = little(name, **more).fit(samples[::2], labels[::2]).transform(samples)
        euclidean.append(knn_error(samples[::2], labels[::2], samples[1::2], labels[1::2]))
        learned.append(knn_error(images[::2], labels[::2], images[1::2], labels[1::2]))
    assert np.mean(learned) < 0.5 * np.mean(euclidean)
