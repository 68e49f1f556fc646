"""Bad input and settings that make no sense: the full sentence for each, from every learner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from calipers import MetricCV, TripletSGD, recipes
from calipers.data import memmap
from calipers.estimators.inputs import encoded
from learners import FROM_TRIPLETS, STEPWISE, each_from_triplets, for_triplets, little, noise

X, Y = noise()
WITH_NAN, WITH_INF = X.copy(), X.copy()
WITH_NAN[3, 1], WITH_INF[3, 1] = np.nan, -np.inf
CLOSED_FORMS = ("WithinClass", "Discriminant", "LFDA", "RCA", "KISSME", "GMML")
LEARN_FROM_LABELS = (*STEPWISE, "MMC", "MCML", *CLOSED_FORMS, "MetricCV")


def told(error: type[Exception], call: Any) -> str:
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


# X and y


REFUSED_BY_FIT: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "length": (
        X,
        Y[:29],
        ValueError,
        "Found input variables with inconsistent numbers of samples: [30, 29]",
    ),
    "one class": (
        X,
        np.full(30, "cat"),
        ValueError,
        "{} needs samples of at least 2 classes, got 1 class ('cat'): pass labels with more than "
        "one class, or your own triplets to TripletSGD.fit_triplets.",
    ),
    "no class repeats": (
        X,
        np.arange(30),
        ValueError,
        "{} needs a class with at least 2 samples, but each of the 30 samples has a class of its "
        "own: pass labels that repeat (for targets of regression, use MLKR).",
    ),
    "sparse": (
        sparse.csr_matrix(X),
        Y,
        TypeError,
        "{} needs a dense X, got a sparse csr_matrix of shape (30, 4): reduce it first, e.g. with "
        "sklearn.decomposition.TruncatedSVD, or pass X.toarray().",
    ),
    "no labels": (
        X,
        None,
        ValueError,
        "{} requires y to be passed, but the target y is None: pass a label for each, or learn "
        "from your own triplets by TripletSGD.fit_triplets.",
    ),
    "labels without an order": (
        X,
        [frozenset({label % 2}) for label in range(30)],
        ValueError,
        "{} needs labels that can be put in one order, got frozenset({{0}}) and frozenset({{1}}): "
        "make them texts or numbers.",
    ),
    "whole numbers beyond float64": (
        [[10**400, *sample[1:]] for sample in X.tolist()],
        Y,
        ValueError,
        "X has whole numbers beyond float64 (int too large to convert to float): divide them, or "
        "leave them out.",
    ),
}
REFUSED_BY_STEPS: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "fewer samples than neighbours": (
        X[:5],
        [0, 0, 1, 1, 1],
        ValueError,
        "{} has n_neighbors=5, but X has 5 samples, 4 besides the "
        "anchor: lower n_neighbors to at most 4, or pass more samples.",
    ),
    "all samples equal": (
        np.full((30, 4), 7.0),
        Y,
        ValueError,
        "All 30 samples of X are the same, so that there is no distance to learn: check how X was "
        "made.",
    ),
    "overflow": (
        1e154 * np.sign(X),
        Y,
        ValueError,
        "X has values up to 1e+154, whose fourth powers overflow float64: divide X so that they "
        "stay below 1e+75.",
    ),
    "underflow": (
        1e-160 * np.sign(X),
        Y,
        ValueError,
        "X has no value above 1e-160, so that fourth powers vanish in float64: multiply X so "
        "that its largest value is above 1e-75.",
    ),
    "tiny differences": (
        np.column_stack([np.ones(30), 1e-100 * Y]),
        Y,
        ValueError,
        "Samples of X differ by 1e-100 only, so that fourth powers vanish in float64: multiply X "
        "so that they differ by more than 1e-75, without features that are constant and large.",
    ),
}


@pytest.mark.parametrize("name", LEARN_FROM_LABELS)
@pytest.mark.parametrize("case", REFUSED_BY_FIT)
def test_refused_by_fit(case: str, name: str) -> None:
    given_X, given_y, error, sentence = REFUSED_BY_FIT[case]
    if name == "MLKR" and "class" in case:
        pytest.skip("targets are no classes")
    assert told(error, lambda: little(name).fit(given_X, given_y)) == sentence.format(name)


@pytest.mark.parametrize("name", STEPWISE)
@pytest.mark.parametrize("case", REFUSED_BY_STEPS)
def test_refused_by_learners_that_take_steps(case: str, name: str) -> None:
    given_X, given_y, error, sentence = REFUSED_BY_STEPS[case]
    if name in ("OASIS", "NCA", "MLKR") and case == "tiny differences":
        pytest.skip("inner products need no differences, and these scale them")
    if name in ("NCA", "MLKR") and case == "fewer samples than neighbours":
        pytest.skip("they have no such number")
    if name == "LMNN":
        sentence = sentence.replace("differ by 1e-100", "differ by 2e-100")
    by_init = name in ("TripletSGD", "NCA", "MLKR")
    settings = {"init": "identity"} if by_init else {"n_neighbors": 5}
    said = told(error, lambda: little(name, **settings).fit(given_X, given_y))
    assert said == sentence.format(name)


def test_tiny_differences_are_learned_from_where_features_are_scaled() -> None:
    given_X, given_y, _, _ = REFUSED_BY_STEPS["tiny differences"]
    fitted = little("TripletSGD", init="scaled").fit(given_X, given_y)
    assert np.isfinite(fitted.components_).all()


@pytest.mark.parametrize("name", [*LEARN_FROM_LABELS, "Euclidean", "Scaled"])
def test_not_finite(name: str) -> None:
    """scikit-learn's sentence, which goes on with advice about imputing for NaN in X."""
    for given_X, kind in ((WITH_NAN, "NaN"), (WITH_INF, "infinity")):
        what = f"^Input X contains {kind}"
        with pytest.raises(ValueError, match=what):
            little(name).fit(given_X, Y)
        with pytest.raises(ValueError, match=what):
            little(name).fit(X, Y).transform(given_X)
        if name in FROM_TRIPLETS:
            with pytest.raises(ValueError, match=what):
                for_triplets(name).fit_triplets(given_X, [[0, 1, 2]])
    if name in LEARN_FROM_LABELS:
        with pytest.raises(ValueError, match=r"^Input y contains NaN"):
            little(name).fit(X, np.where(np.arange(30) == 4, np.nan, Y))


def test_a_client_without_a_collection() -> None:
    assert told(ValueError, lambda: little("TripletSGD").fit(X, Y, client="x")) == (
        "TripletSGD was given a Dask client for an X that is no Dask collection: pass a dask array "
        "or dataframe, or leave client out."
    )


# Triplets and pairs: the sentences are those of tests/triplets/test_check.py


@each_from_triplets
def test_triplets_and_samples_for_them_are_checked(name: str) -> None:
    learner = for_triplets(name)
    with pytest.raises(ValueError, match=r"^triplets\[1\] = \(0, 1, 30\) points outside of X"):
        learner.fit_triplets(X, [[0, 1, 2], [0, 1, 30]])
    with pytest.raises(TypeError, match=f"^{name} needs a dense X, got a sparse csr_array"):
        learner.fit_triplets(sparse.csr_array(X), [[0, 1, 2]])


@pytest.mark.parametrize("name", ["LEGO", "ITML", "MetricCV"])
def test_pairs_and_samples_for_them_are_checked(name: str) -> None:
    learner = MetricCV() if name == "MetricCV" else little(name)
    with pytest.raises(ValueError, match=r"^pairs\[1\] = \(4, 4\) holds one sample twice"):
        learner.fit_pairs(X, [[1, 2], [4, 4]], [1, 1])
    with pytest.raises(ValueError, match=r"^y\[1\] = 0 is neither \+1 \(similar\) nor -1"):
        learner.fit_pairs(X, [[0, 1], [1, 2]], [1, 0])
    with pytest.raises(TypeError, match=f"^{name} needs a dense X, got a sparse csr_array"):
        learner.fit_pairs(sparse.csr_array(X), [[0, 1]], [1])


@pytest.mark.parametrize("name", ["LEGO", "ITML"])
def test_near_must_be_below_far(name: str) -> None:
    learner = little(name, near_distance=2.0, far_distance=2.0)
    assert told(ValueError, lambda: learner.fit(X, Y)) == (
        f"{name} needs near_distance below far_distance, got near_distance=2 and far_distance=2 "
        "(those not set come from X): lower near_distance or raise far_distance."
    )


# Settings


POSITIVE = "a float in the range (0.0, inf)"
COUNT = "an int in the range [1, inf)"
INTERVALS: dict[str, dict[str, str]] = {
    "TripletSGD": {
        **dict.fromkeys(
            ("n_components", "n_neighbors", "n_rounds", "n_triplets", "batch_size"),
            f"{COUNT} or None",
        ),
        "learning_rate": f"{POSITIVE} or None",
        "smoothness": POSITIVE,
        "radius": POSITIVE,
    },
    "SPML": {"n_triplets": COUNT, "batch_size": COUNT, "n_neighbors": COUNT, "ridge": POSITIVE},
    "SCML": {"n_basis": COUNT, "batch_size": COUNT, "learning_rate": POSITIVE},
    "OASIS": {"n_triplets": COUNT, "n_neighbors": COUNT, "aggressiveness": POSITIVE},
    "LEGO": {"learning_rate": POSITIVE, "near_distance": f"{POSITIVE} or None"},
    "ITML": {"slack_weight": POSITIVE, "far_distance": f"{POSITIVE} or None", "max_iter": COUNT},
    "LMNN": {"n_neighbors": COUNT, "max_iter": COUNT, "n_components": f"{COUNT} or None"},
    "MetricCV": {"cv": "an int in the range [2, inf)", "n_components": f"{COUNT} or None"},
    **{
        name: {"n_components": f"{COUNT} or None"}
        for name in ("Euclidean", "Scaled", *CLOSED_FORMS)
    },
}


@pytest.mark.parametrize(
    ("name", "setting"), [(name, setting) for name, table in INTERVALS.items() for setting in table]
)
def test_numbers_out_of_range(name: str, setting: str) -> None:
    for value in (0, -1.0, np.nan, "ten"):
        said = told(ValueError, lambda: little(name, **{setting: value}).fit(X, Y))  # noqa: B023
        expected = f"The {setting!r} parameter of {name} must be {INTERVALS[name][setting]}. "
        assert said == f"{expected}Got {value!r} instead."


def test_weights_and_tolerances_out_of_range() -> None:
    for value in (0.0, 1.5):
        with pytest.raises(ValueError, match=r"parameter of LMNN must be a float in the range \(0"):
            little("LMNN", push_weight=value).fit(X, Y)
    for name in ("LMNN", "ITML"):
        with pytest.raises(ValueError, match=r"must be a float in the range \[0\.0, inf\)"):
            little(name, tol=-1.0).fit(X, Y)


TRIPLETS = np.tile([[0, 3, 1], [4, 1, 2]], (30, 1))
MAKES_NO_SENSE: list[tuple[dict[str, Any], str, str]] = [
    *(
        (
            {"method": method, "batch_size": 20},
            how,
            f"TripletSGD(method={method!r}) takes one triplet at a time, got batch_size=20: leave "
            "batch_size out, or choose 'mini-sgd', 'hr-sgd' or 'ha-sgd'.",
        )
        for method in ("as-sgd", "sgd", recipes.as_sgd(average=False))
        for how in ("fit", "fit_triplets", "partial_fit")
    ),
    (
        {"n_neighbors": 3},
        "fit_triplets",
        "n_neighbors=3 has no meaning for fit_triplets, which searches no neighbours: leave "
        "n_neighbors out.",
    ),
    (
        {"n_neighbors": 3},
        "partial_fit_triplets",
        "n_neighbors=3 has no meaning for partial_fit_triplets, which searches no neighbours: "
        "leave n_neighbors out.",
    ),
    (
        {"n_rounds": 2},
        "partial_fit",
        "n_rounds=2 has no meaning for partial_fit, which goes through every batch once: leave "
        "n_rounds out.",
    ),
    (
        {"n_triplets": 20},
        "partial_fit",
        "n_triplets=20 has no meaning for partial_fit, which takes every new sample as an anchor: "
        "leave n_triplets out.",
    ),
    *(
        (
            {"init": "within-class"},
            how,
            "TripletSGD(init='within-class') needs classes of the samples, and there are none: "
            "choose init='scaled' or 'identity'.",
        )
        for how in ("fit_triplets", "partial_fit_triplets")
    ),
    (
        {"n_triplets": 61},
        "fit_triplets",
        "TripletSGD has n_triplets=61, but 60 triplets were given: lower n_triplets or "
        "leave it out.",
    ),
    *(
        ({**settings, "radius": radius}, how, sentence)
        for settings, radius, sentence in (
            (
                {},
                1.9,
                "TripletSGD starts at the identity, whose norm 2 (for 4 features) exceeds "
                "radius=1.9: raise radius above it.",
            ),
            (
                {"method": recipes.mini_sgd(projection="frank-wolfe")},
                3.9,
                "TripletSGD starts at the identity, whose trace 4 (for 4 features) exceeds "
                "radius=3.9: raise radius above it.",
            ),
        )
        for how in ("fit", "fit_triplets", "partial_fit")
    ),
    *(
        (
            {"n_components": 5},
            how,
            "TripletSGD has n_components=5, but X has 4 features: set at most 4, or None for all.",
        )
        for how in ("fit", "fit_triplets", "partial_fit", "partial_fit_triplets")
    ),
    (
        {"method": "mini-sgd", "n_triplets": 9, "batch_size": 10},
        "fit",
        "TripletSGD has 9 triplets, fewer than one batch of batch_size=10 anchors (10 triplets): "
        "raise n_triplets or lower batch_size.",
    ),
    (
        {"n_triplets": 15, "n_neighbors": 4},
        "fit",
        "TripletSGD has n_triplets=15, fewer than the 16 of one anchor with n_neighbors=4: raise "
        "n_triplets or lower n_neighbors.",
    ),
    (
        {"init": "classes"},
        "fit",
        "The 'init' parameter of TripletSGD must be one of 'auto', 'identity', 'scaled', "
        "'within-class', got 'classes'. Did you mean 'within-class'?",
    ),
    (
        {"init": "gmml"},
        "fit",
        "The 'init' parameter of TripletSGD must be one of 'auto', 'identity', 'scaled', "
        "'within-class', got 'gmml'. For another metric pass its L, as in "
        "init=metric.components_.",
    ),
    (
        {"init": np.eye(3)},
        "fit",
        "TripletSGD needs init to be a name or a matrix L of numbers with 4 columns, one for each "
        "feature, got an array of shape (3, 3) and type float64.",
    ),
    *(
        (
            {"init": wrong * np.eye(4)},
            "fit",
            "TripletSGD needs an init matrix of finite numbers that are not all 0: check how it "
            "was made.",
        )
        for wrong in (0.0, np.nan)
    ),
]


@pytest.mark.parametrize("name", ["TripletSGD", "NCA", "MLKR"])
def test_a_learner_is_no_init_but_its_components_are(name: str) -> None:
    fitted = little("GMML").fit(X, Y)
    for init in (fitted, type(fitted)(), type(fitted)):
        learner = little(name).set_params(init=init)
        assert told(ValueError, lambda learner=learner: learner.fit(X, Y)) == (
            f"{name} needs init to be a name or a matrix L, got a GMML, whose fit a clone would "
            "forget: pass its L once it is fitted, as in init=metric.components_."
        )
    little(name, init=fitted.components_).fit(X, Y)


@pytest.mark.parametrize(("settings", "how", "sentence"), MAKES_NO_SENSE)
def test_settings_that_make_no_sense_together(
    settings: dict[str, Any], how: str, sentence: str
) -> None:
    given = TRIPLETS if "triplets" in how else Y
    assert told(ValueError, lambda: getattr(TripletSGD(**settings), how)(X, given)) == sentence


# Memory-mapped files


def test_memory_mapped_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memmap, "LARGEST_READ", 0)
    monkeypatch.setattr(memmap, "BLOCK_ELEMENTS", 8)

    def fit(values: Any, labels: Any) -> str:
        np.save(tmp_path / "X.npy", values)
        given = np.load(tmp_path / "X.npy", mmap_mode="r")
        return told(ValueError, lambda: little("TripletSGD").fit(given, labels))

    assert fit(WITH_NAN, Y) == (
        "Input X contains NaN or infinity: nan in sample 3, feature 1; fill or remove such "
        "samples first."
    )
    assert fit(X, Y[:10]) == "y has 10 labels for the 30 samples of X: give one for each."
    assert fit(X, None).startswith("TripletSGD requires y to be passed")
    assert fit(X, np.where(Y == 2, np.nan, Y)).startswith("Input y contains NaN")
    assert fit(X.reshape(-1, 2, 2), Y).startswith(
        "TripletSGD needs X of shape (n_samples, n_features) with numbers, got a memory map of "
    )


@pytest.mark.parametrize("kind", [int, str, float])
def test_labels_are_encoded_as_numpy_does(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calipers.estimators.inputs._LABELS_AT_ONCE", 7)
    labels = (Y * 3 - 5).astype(kind)
    for got, expected in zip(encoded(labels), np.unique(labels, return_inverse=True), strict=True):
        np.testing.assert_array_equal(got, expected)
