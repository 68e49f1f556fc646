"""Bad input: the full sentence for each kind, and what is only noted."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from calipers import ITML, LEGO, OASIS, SPML, TripletSGD
from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.inputs import DataWarning


def data(n: int = 30, d: int = 4) -> tuple[FloatArray, IndexArray]:
    return np.random.default_rng(0).standard_normal((n, d)), np.arange(n) % 3


def small(**settings: Any) -> TripletSGD:
    return TripletSGD(**{"method": "as-sgd", "n_triplets": 50, "random_state": 0, **settings})


LEARNERS: dict[str, Any] = {
    learner.__name__: learner for learner in (TripletSGD, SPML, OASIS, LEGO, ITML)
}
each_learner = pytest.mark.parametrize("name", LEARNERS)


def little(name: str, **settings: Any) -> Any:
    """Any learner, as TripletSGD is set here by default."""
    return LEARNERS[name](**{"n_triplets": 50, "n_neighbors": 5, "random_state": 0, **settings})


X, Y = data()
WITH_NAN, WITH_INF = X.copy(), X.copy()
WITH_NAN[3, 1], WITH_INF[3, 1] = np.nan, -np.inf
ONE_MISSING_LABEL = np.where(np.arange(30) == 4, np.nan, Y)

# X, y, type of error, sentence
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
        "TripletSGD needs rows of at least 2 classes, got 1 class ('cat'): pass labels with "
        "more than one class, or your own triplets to TripletSGD.fit_triplets.",
    ),
    "no class repeats": (
        X,
        np.arange(30),
        ValueError,
        "TripletSGD needs a class with at least 2 rows, but each of the 30 rows has a class of "
        "its own: pass labels that repeat (classes, not targets or ids).",
    ),
    "fewer rows than neighbours": (
        X[:5],
        [0, 0, 1, 1, 1],
        ValueError,
        "TripletSGD was asked for n_neighbors=5 nearest rows, but X has 5 rows, 4 beside the "
        "anchor: lower n_neighbors to at most 4, or pass more rows.",
    ),
    "all rows equal": (
        np.full((30, 4), 7.0),
        Y,
        ValueError,
        "All 30 rows of X are the same, so that there is no distance to learn: check how X was "
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
        "Rows of X differ by 1e-100 only, so that fourth powers vanish in float64: multiply X so "
        "that they differ by more than 1e-75, without features that are constant and large.",
    ),
    "sparse": (
        sparse.csr_matrix(X),
        Y,
        TypeError,
        "TripletSGD needs a dense X, got a sparse csr_matrix of shape (30, 4): reduce it first, "
        "e.g. with sklearn.decomposition.TruncatedSVD, or pass X.toarray().",
    ),
}


@each_learner
@pytest.mark.parametrize("case", REFUSED_BY_FIT)
def test_refused_by_fit(case: str, name: str) -> None:
    given_X, given_y, error, sentence = REFUSED_BY_FIT[case]
    if name == "OASIS" and case == "tiny differences":
        pytest.skip("inner products need no differences")
    with pytest.raises(error) as caught:
        little(name).fit(given_X, given_y)
    assert str(caught.value) == sentence.replace("TripletSGD", name)


@pytest.mark.parametrize(
    ("given_X", "given_y", "what", "kind"),
    [
        (WITH_NAN, Y, "X", "NaN"),
        (WITH_INF, Y, "X", "infinity"),
        (X, ONE_MISSING_LABEL, "y", "NaN"),
    ],
)
@each_learner
def test_not_finite(given_X: Any, given_y: Any, what: str, kind: str, name: str) -> None:
    """scikit-learn's sentence, which goes on with advice about imputing for NaN in X."""
    with pytest.raises(ValueError, match=f"^Input {what} contains {kind}"):
        little(name).fit(given_X, given_y)
    if what == "X":
        with pytest.raises(ValueError, match=f"^Input X contains {kind}"):
            little(name).fit_triplets(given_X, [[0, 1, 2]])
        with pytest.raises(ValueError, match=f"^Input X contains {kind}"):
            little(name).fit(X, Y).transform(given_X)


REFUSED_TRIPLETS: dict[str, tuple[Any, type[Exception], str]] = {
    "out of range": (
        [[0, 1, 2], [0, 1, 30]],
        ValueError,
        "triplets[1] = (0, 1, 30) points past the last row of X (30 rows): use row numbers from "
        "0 to 29.",
    ),
    "negative": (
        [[0, -1, 2]],
        ValueError,
        "triplets[0] = (0, -1, 2) has a negative row number: count the rows of X from 0 to 29.",
    ),
    "wrong shape": (
        [[0, 1], [1, 2]],
        ValueError,
        "triplets must have shape (n_triplets, 3), one (anchor, near, far) per row, got shape "
        "(2, 2): reshape or transpose it.",
    ),
    "float": (
        [[0.0, 1.0, 2.0]],
        TypeError,
        "triplets must hold integer row numbers of X, got dtype float64: convert with "
        "triplets.astype(int) if the values are whole row numbers.",
    ),
    "i = j": (
        [[4, 4, 2]],
        ValueError,
        "triplets[0] = (4, 4, 2) has its anchor as its near row: the near row must differ from "
        "the anchor, drop or replace this triplet.",
    ),
    "i = k": (
        [[4, 2, 4]],
        ValueError,
        "triplets[0] = (4, 2, 4) has its anchor as its far row: the far row must differ from "
        "the anchor, drop or replace this triplet.",
    ),
    "none": (
        np.empty((0, 3), dtype=int),
        ValueError,
        "triplets is empty, at least one (anchor, near, far) triplet is needed: pass an integer "
        "array of shape (n_triplets, 3).",
    ),
}


@each_learner
@pytest.mark.parametrize("case", REFUSED_TRIPLETS)
def test_refused_triplets(case: str, name: str) -> None:
    triplets, error, sentence = REFUSED_TRIPLETS[case]
    with pytest.raises(error) as caught:
        little(name).fit_triplets(X, triplets)
    assert str(caught.value) == sentence


@each_learner
def test_sparse_rows_for_triplets_are_refused_too(name: str) -> None:
    with pytest.raises(TypeError) as caught:
        little(name).fit_triplets(sparse.csr_array(X), [[0, 1, 2]])
    assert str(caught.value).startswith(f"{name} needs a dense X, got a sparse csr_array")


REFUSED_PAIRS: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "out of range": (
        [[0, 1], [0, 30]],
        [1, -1],
        ValueError,
        "pairs[1] = (0, 30) points past the last row of X (30 rows): use row numbers from 0 to 29.",
    ),
    "negative": (
        [[0, -1]],
        [1],
        ValueError,
        "pairs[0] = (0, -1) has a negative row number: count the rows of X from 0 to 29.",
    ),
    "wrong shape": (
        [[0, 1, 2]],
        [1],
        ValueError,
        "pairs must have shape (n_pairs, 2), one (one, other) per row, got shape (1, 3): reshape "
        "or transpose it.",
    ),
    "ragged": (
        [[0, 1], [2]],
        [1, 1],
        ValueError,
        "pairs must have shape (n_pairs, 2), got rows of different lengths: give every pair "
        "exactly two row numbers (one, other).",
    ),
    "float": (
        [[0.0, 1.0]],
        [1],
        TypeError,
        "pairs must hold integer row numbers of X, got dtype float64: convert with "
        "pairs.astype(int) if the values are whole row numbers.",
    ),
    "one row": (
        [[1, 2], [4, 4]],
        [1, 1],
        ValueError,
        "pairs[1] = (4, 4) is a row and itself: the two rows must differ, drop or replace this "
        "pair.",
    ),
    "none": (
        np.empty((0, 2), dtype=int),
        [],
        ValueError,
        "pairs is empty, at least one (one, other) pair is needed: pass an integer array of shape "
        "(n_pairs, 2).",
    ),
    "signs of another number": (
        [[0, 1], [1, 2]],
        [1],
        ValueError,
        "y must have shape (2,), one +1 (near) or -1 (far) for each of the 2 pairs, got shape "
        "(1,): pass as many as there are pairs.",
    ),
    "other signs": (
        [[0, 1], [1, 2]],
        [1, 0],
        ValueError,
        "y[1] = 0 is neither +1 (near) nor -1 (far): give every pair one of the two.",
    ),
    "words for signs": (
        [[0, 1]],
        ["near"],
        ValueError,
        "y[0] = 'near' is neither +1 (near) nor -1 (far): give every pair one of the two.",
    ),
    "NaN for a sign": (
        [[0, 1]],
        [np.nan],
        ValueError,
        "y[0] = nan is neither +1 (near) nor -1 (far): give every pair one of the two.",
    ),
}


@pytest.mark.parametrize("name", ["LEGO", "ITML"])
@pytest.mark.parametrize("case", REFUSED_PAIRS)
def test_refused_pairs(case: str, name: str) -> None:
    pairs, signs, error, sentence = REFUSED_PAIRS[case]
    with pytest.raises(error) as caught:
        little(name).fit_pairs(X, pairs, signs)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("name", ["LEGO", "ITML"])
def test_rows_for_pairs_are_checked_too(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name} needs a dense X, got a sparse csr_array"):
        little(name).fit_pairs(sparse.csr_array(X), [[0, 1]], [1])
    with pytest.raises(ValueError, match=r"^Input X contains NaN"):
        little(name).fit_pairs(WITH_NAN, [[0, 1]], [1])


@pytest.mark.parametrize("name", ["LEGO", "ITML"])
def test_near_must_be_below_far(name: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        little(name, near_distance=2.0, far_distance=2.0).fit(X, Y)
    assert str(caught.value) == (
        f"{name} needs near_distance below far_distance, got near_distance=2 and far_distance=2 "
        "(those not set are taken from X): lower near_distance or raise far_distance."
    )


def interval(name: str, kind: str, limits: str, got: str) -> str:
    return (
        f"The {name!r} parameter of TripletSGD must be {kind} in the range {limits}. "
        f"Got {got} instead."
    )


REFUSED_EVERYWHERE: list[tuple[str, Any, str]] = [
    ("n_neighbors", 0, interval("n_neighbors", "an int", "[1, inf)", "0")),
    (
        "n_components",
        5,
        "TripletSGD was asked for n_components=5, but X has 4 features: ask for at most 4, or "
        "None for all.",
    ),
]


@each_learner
@pytest.mark.parametrize(("setting", "value", "sentence"), REFUSED_EVERYWHERE)
def test_settings_refused_by_every_learner(
    setting: str, value: Any, sentence: str, name: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        little(name, **{setting: value}).fit(X, Y)
    assert str(caught.value) == sentence.replace("TripletSGD", name)


@pytest.mark.parametrize(
    ("name", "setting", "allowed"),
    [
        ("SPML", "n_triplets", "an int in the range [1, inf)"),
        ("OASIS", "n_triplets", "an int in the range [1, inf)"),
        ("LEGO", "n_triplets", "an int in the range [1, inf)"),
        ("ITML", "n_triplets", "an int in the range [1, inf)"),
        ("SPML", "ridge", "a float in the range (0.0, inf)"),
        ("OASIS", "aggressiveness", "a float in the range (0.0, inf)"),
        ("LEGO", "learning_rate", "a float in the range (0.0, inf)"),
        ("LEGO", "near_distance", "a float in the range (0.0, inf) or None"),
        ("LEGO", "far_distance", "a float in the range (0.0, inf) or None"),
        ("ITML", "slack_weight", "a float in the range (0.0, inf)"),
        ("ITML", "near_distance", "a float in the range (0.0, inf) or None"),
        ("ITML", "far_distance", "a float in the range (0.0, inf) or None"),
    ],
)
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_settings_refused_by_one_learner(
    name: str, setting: str, allowed: str, value: float
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        little(name, **{setting: value}).fit(X, Y)
    assert str(caught.value) == (
        f"The {setting!r} parameter of {name} must be {allowed}. Got {value} instead."
    )


REFUSED_SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"n_triplets": 0}, interval("n_triplets", "an int", "[1, inf) or None", "0")),
    ({"n_triplets": 10.0}, interval("n_triplets", "an int", "[1, inf) or None", "10.0")),
    ({"batch_size": 0}, interval("batch_size", "an int", "[1, inf)", "0")),
    ({"learning_rate": 0.0}, interval("learning_rate", "a float", "(0.0, inf)", "0.0")),
    ({"learning_rate": np.nan}, interval("learning_rate", "a float", "(0.0, inf)", "nan")),
    ({"learning_rate": np.inf}, interval("learning_rate", "a float", "(0.0, inf)", "inf")),
    ({"smoothness": -1.0}, interval("smoothness", "a float", "(0.0, inf)", "-1.0")),
    ({"radius": 0.0}, interval("radius", "a float", "(0.0, inf)", "0.0")),
    ({"n_neighbors": 0}, interval("n_neighbors", "an int", "[1, inf)", "0")),
    (
        {"n_components": 0},
        "The 'n_components' parameter of TripletSGD must be an int in the range [1, inf) or "
        "None. Got 0 instead.",
    ),
    (
        {"tau_max": 0.0},
        "The 'tau_max' parameter of TripletSGD must be a float in the range (0.0, inf) or None. "
        "Got 0.0 instead.",
    ),
    (
        {"method": "as_sgd"},
        "The 'method' parameter of TripletSGD must be one of 'auto', 'sgd', 'mini-sgd', 'as-sgd', "
        "'hr-sgd', 'ha-sgd', got 'as_sgd'. Did you mean 'as-sgd'?",
    ),
    (
        {"method": "HR-SGD"},
        "The 'method' parameter of TripletSGD must be one of 'auto', 'sgd', 'mini-sgd', 'as-sgd', "
        "'hr-sgd', 'ha-sgd', got 'HR-SGD'. Did you mean 'hr-sgd'?",
    ),
    (
        {"method": "xxxxxxxx"},
        "The 'method' parameter of TripletSGD must be one of 'auto', 'sgd', 'mini-sgd', 'as-sgd', "
        "'hr-sgd', 'ha-sgd', got 'xxxxxxxx'.",
    ),
    (
        {"radius": 1.9},
        "TripletSGD starts at the identity, whose norm 2 (for 4 features) exceeds radius=1.9: "
        "raise radius above it.",
    ),
    (
        {"n_components": 5},
        "TripletSGD was asked for n_components=5, but X has 4 features: ask for at most 4, or "
        "None for all.",
    ),
    (
        {"method": "mini-sgd", "n_triplets": 9},
        "TripletSGD has 9 triplets, fewer than one batch of batch_size=10: raise n_triplets or "
        "lower batch_size.",
    ),
]


@pytest.mark.parametrize(("settings", "sentence"), REFUSED_SETTINGS)
def test_refused_settings(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        small(**settings).fit(X, Y)
    assert str(caught.value) == sentence
    if "n_triplets" not in settings:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            small(**settings).fit_triplets(X, [[0, 1, 2]] * 20)
        assert str(caught.value) == sentence


@pytest.mark.parametrize("name", ["scale", "gradient_bound", "batch_reduce"])
def test_refused_choices(name: str) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of TripletSGD must be a str"):
        small(**{name: "nonsense"}).fit(X, Y)


@each_learner
def test_a_class_of_one_row_is_said_once(name: str) -> None:
    labels = Y.astype(object)
    labels[0] = "alone"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = little(name).fit(X, labels.astype(str))
    assert [str(warning.message) for warning in caught] == [
        "1 of 4 classes have one row only ('alone'): they have no near row, so they serve as far "
        "rows only."
    ]
    assert caught[0].category is DataWarning
    assert len(fitted.classes_) == 4


def test_many_classes_of_one_row_are_named_by_three() -> None:
    labels = np.where(np.arange(30) < 5, np.arange(30), 100 + Y)
    with pytest.warns(DataWarning) as caught:
        small().fit(X, labels)
    assert str(caught[0].message).startswith("5 of 8 classes have one row only (0, 1, 2, ...): ")


@each_learner
def test_the_warning_points_at_the_call(name: str) -> None:
    labels = np.where(np.arange(30) < 1, 7, Y)
    with pytest.warns(DataWarning) as caught:
        little(name).fit(X, labels)
    assert caught[0].filename == __file__


def test_constant_features_are_noted() -> None:
    given = X.copy()
    given[:, [1, 3]] = 5.0
    fitted = small(average=False).fit(given, Y)
    assert fitted.notes_ == [
        "2 of 4 features are constant (the first is number 1): no distance depends on them, their "
        "part of the metric is as at the start."
    ]
    M = fitted.get_mahalanobis_matrix()
    assert M[1, 1] == pytest.approx(M[3, 3])
    np.testing.assert_allclose(M[1, [0, 2, 3]], 0.0, atol=1e-14)


def test_duplicated_rows_are_noted() -> None:
    fitted = small().fit(np.vstack([X, X[:3]]), np.concatenate([Y, Y[:3]]))
    assert fitted.notes_ == ["3 of 33 rows repeat another row: they are neighbours at distance 0."]


def test_small_classes_are_noted() -> None:
    fitted = small(n_neighbors=10).fit(X, Y)
    assert fitted.notes_ == [
        "3 of 3 classes have no more than n_neighbors=10 rows: near rows are drawn among all "
        "others of such a class."
    ]


def test_nothing_to_note() -> None:
    assert small().fit(X, Y).notes_ == []


def test_rows_that_equal_their_far_rows() -> None:
    """Label noise on duplicated rows: every far difference is zero."""
    given, labels = np.repeat(X[:10], 2, axis=0), np.arange(20) % 2
    for scale in ("triplets", "none"):
        M = small(n_neighbors=1, scale=scale).fit(given, labels).get_mahalanobis_matrix()
        assert np.isfinite(M).all()
        assert np.linalg.eigvalsh(M)[0] >= -1e-10


@pytest.mark.parametrize("factor", [1e-74, 1e-30, 1e30, 2e74])
@pytest.mark.parametrize("method", ["as-sgd", "hr-sgd"])
def test_extreme_scales_that_are_accepted(factor: float, method: str) -> None:
    """The default measures rows by their own distances: the metric only changes units."""
    plain = small(method=method, n_triplets=500).fit(X, Y)
    scaled = small(method=method, n_triplets=500).fit(factor * X, Y)
    assert scaled.n_updates_ == plain.n_updates_
    np.testing.assert_allclose(factor * scaled.components_, plain.components_, rtol=1e-6, atol=1e-9)
    literal = small(method=method, n_triplets=500, scale="none").fit(factor * X, Y)
    assert np.isfinite(literal.components_).all()


def variants(given: FloatArray) -> dict[str, Any]:
    doubled = np.zeros((2 * len(given), given.shape[1]))
    doubled[::2] = given
    read_only = given.copy()
    read_only.flags.writeable = False
    return {
        "list": given.tolist(),
        "read-only": read_only,
        "every other row": doubled[::2],
        "negative strides": given[::-1].copy()[::-1],
        "Fortran order": np.asfortranarray(given),
        "float32": given.astype(np.float32),
        "int64": given.astype(np.int64),
        "uint8": given.astype(np.uint8),
        "object": given.astype(object),
    }


WHOLE = np.random.default_rng(1).integers(0, 9, size=(40, 5)).astype(np.float64)
WHOLE_LABELS = np.arange(40) % 4


@each_learner
@pytest.mark.parametrize("kind", list(variants(WHOLE)))
def test_any_array_gives_the_same_metric_and_is_left_alone(kind: str, name: str) -> None:
    given = variants(WHOLE)[kind]
    before = np.array(given)
    fitted = little(name).fit(given, WHOLE_LABELS)
    expected = little(name).fit(WHOLE, WHOLE_LABELS)
    # float32 has a compiled loop of its own, whose sums the compiler may order otherwise
    tolerance = 1e-9 if kind == "float32" else 0.0
    np.testing.assert_allclose(
        fitted.components_, expected.components_, rtol=tolerance, atol=tolerance
    )
    np.testing.assert_allclose(fitted.transform(given), expected.transform(WHOLE), rtol=1e-8)
    np.testing.assert_array_equal(np.array(given), before)


def test_bool_rows() -> None:
    given = WHOLE > 4
    expected = small().fit(given.astype(float), WHOLE_LABELS)
    np.testing.assert_array_equal(
        small().fit(given, WHOLE_LABELS).components_, expected.components_
    )


def test_rows_mapped_from_a_file(tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=WHOLE.shape)
    mapped[:] = WHOLE
    mapped.flush()
    given = np.memmap(tmp_path / "rows", dtype=np.float64, mode="r", shape=WHOLE.shape)
    expected = small().fit(WHOLE, WHOLE_LABELS)
    np.testing.assert_array_equal(
        small().fit(given, WHOLE_LABELS).components_, expected.components_
    )


@pytest.mark.parametrize(
    "labels",
    [
        WHOLE_LABELS.astype(float),
        WHOLE_LABELS.astype(str),
        np.array(["a", "b", "c", "d"], dtype=object)[WHOLE_LABELS],
        WHOLE_LABELS.tolist(),
        (100 - WHOLE_LABELS).astype(np.int8)[::-1][::-1],
    ],
)
def test_any_labels(labels: Any) -> None:
    fitted = small().fit(WHOLE, labels)
    assert fitted.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))
    expected = small().fit(WHOLE, WHOLE_LABELS)
    np.testing.assert_array_equal(fitted.components_, expected.components_)


def test_given_triplets_are_left_alone() -> None:
    triplets = np.array([[0, 3, 1], [4, 1, 2], [5, 2, 0]] * 30)
    triplets.flags.writeable = False
    fitted = small().fit_triplets(X, triplets)
    assert fitted.n_iter_ == 90
