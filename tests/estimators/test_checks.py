"""The entry: wrong input is refused before anything is learned; sentences of our own in full."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from calipers import GMML, LEGO, NCA, TripletSGD, recipes
from learners import LEARNERS, little, noise

X, Y = noise()
WITH_NAN, WITH_INF = X.copy(), X.copy()
WITH_NAN[3, 1], WITH_INF[3, 1] = np.nan, -np.inf
REPRESENTATIVES = ("TripletSGD", "ITML", "GMML", "LMNN", "NCA")


def told(error: type[Exception], call: Any) -> str:
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


REFUSED: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "NaN": (WITH_NAN, Y, ValueError, "Input X contains NaN"),
    "infinity": (WITH_INF, Y, ValueError, "Input X contains infinity"),
    "sparse": (sparse.csr_matrix(X), Y, TypeError, "Sparse data was passed"),
    "texts": (X.astype(str)[:, :1] + "a", Y, ValueError, "could not convert string to float"),
    "complex": (X + 1j, Y, ValueError, "Complex data not supported"),
    "masked": (np.ma.array(X, mask=X > 1), Y, ValueError, "X has "),
    "three axes": (X[:, None], Y, ValueError, "Found array with dim 3"),
    "one axis": (X[:, 0], Y, ValueError, "Expected 2D array, got 1D array instead"),
    "no features": (X[:, :0], Y, ValueError, "Found array with 0 feature(s)"),
    "large": (
        1e100 * np.sign(X),
        Y,
        ValueError,
        "X has values up to 1e+100, whose fourth powers leave float64: multiply X so that its "
        "largest value is between 1e-75 and 1e+75.",
    ),
    "small": (1e-160 * np.sign(X), Y, ValueError, "X has values up to 1e-160, whose fourth powers"),
    "fewer labels": (X, Y[:29], ValueError, "Found input variables with inconsistent numbers"),
    "no labels": (X, None, ValueError, "{} requires y to be passed, but the target y is None"),
    "missing label": (X, np.where(Y == 1, np.nan, Y), ValueError, "Input y contains NaN or other"),
    "label of None": (X, [None, *Y[1:]], ValueError, "Input y contains NaN or other"),
    "infinite label": (X, np.where(Y == 1, np.inf, Y), ValueError, "Input y contains infinity"),
    "mixed labels": (
        X,
        np.array(["a", 1] * 15, dtype=object),
        ValueError,
        "{} needs labels of one type that can be sorted, got labels of types int, str: make texts "
        "of them, e.g. by y.astype(str).",
    ),
    "sets as labels": (
        X,
        [frozenset([label]) for label in Y],
        ValueError,
        "{} needs labels of one type that can be sorted, got labels of types frozenset",
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
}


@pytest.mark.parametrize("name", REPRESENTATIVES)
@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_fit(case: str, name: str) -> None:
    given_X, given_y, error, sentence = REFUSED[case]
    said = told(error, lambda: little(name).fit(given_X, given_y))
    assert said.startswith(sentence.format(name))


@pytest.mark.parametrize("name", LEARNERS)
def test_a_fit_or_a_batch_that_fails_changes_nothing(name: str) -> None:
    learner, before = little(name), vars(little(name))
    with pytest.raises(ValueError, match="NaN"):
        learner.fit(WITH_NAN, Y)
    assert vars(learner) == before
    before = dict(vars(learner.fit(X, Y)))
    columns = pd.DataFrame(1e100 * X[:, :3], columns=list("abc"))
    for how in ("fit", "partial_fit"):
        for samples, labels in ((columns, Y), (X[:20], Y), (X, np.full(30, None))):
            if hasattr(learner, how) and not (name in ("Euclidean", "Scaled") and len(labels) > 20):
                with pytest.raises(ValueError, match=r"X|y|labels|samples"):
                    getattr(learner, how)(samples, labels)
    for how, examples in (("fit_pairs", ([[0, 1]], [7])), ("fit_triplets", ([[0, 0, 1]],))):
        if hasattr(learner, how):
            with pytest.raises(ValueError, match=r"y\[0\] = 7|triplets\[0\]"):
                getattr(learner, how)(X, *examples)
    assert vars(learner).keys() == before.keys()
    assert all(value is before[key] for key, value in vars(learner).items())


def test_a_batch_that_fails_leaves_the_stream_as_it_was() -> None:
    learner = TripletSGD(random_state=0).partial_fit(X, Y)
    other = TripletSGD(random_state=0).partial_fit(X, Y)
    for samples, labels in ((WITH_NAN, Y), (X, Y.astype(str)), (X[:, :3], Y), (1e100 * X, Y)):
        with pytest.raises(ValueError, match=r"NaN|type|features|powers"):
            learner.partial_fit(samples, labels)
    learner.partial_fit(X, Y)
    np.testing.assert_array_equal(learner.components_, other.partial_fit(X, Y).components_)


def test_what_a_fit_learned_goes_with_the_next() -> None:
    learner = TripletSGD(n_triplets=300, random_state=0).fit(pd.DataFrame(X, columns=[*"abcd"]), Y)
    learner.fit_triplets(X, [[0, 3, 1], [1, 4, 2]] * 20)
    assert not hasattr(learner, "classes_")
    assert not hasattr(learner, "feature_names_in_")


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, np.asfortranarray, np.ndarray.tolist])
def test_tables_and_lists_of_the_same_numbers(kind: Any) -> None:
    given = kind(pd.DataFrame(X, columns=[*"abcd"]) if kind is pl.DataFrame else X)
    labels = pd.Series(Y, index=np.arange(30)[::-1])
    np.testing.assert_array_equal(
        GMML().fit(given, labels).components_, GMML().fit(X, Y).components_
    )


@pytest.mark.parametrize("name", ["TripletSGD", "LEGO", "MetricCV"])
def test_triplets_and_pairs_are_checked(name: str) -> None:
    """The sentences are those of tests/data."""
    with pytest.raises(ValueError, match=r"^triplets\[1\] = \(0, 1, 30\) points outside of X"):
        little(name).fit_triplets(X, [[0, 1, 2], [0, 1, 30]])
    if name != "TripletSGD":
        with pytest.raises(ValueError, match=r"^pairs\[1\] = \(4, 4\) holds one sample twice"):
            little(name).fit_pairs(X, [[1, 2], [4, 4]], [1, 1])


@pytest.mark.parametrize("method", ["fit_pairs", "fit_triplets", "partial_fit"])
def test_methods_exist_where_they_have_a_meaning(method: str) -> None:
    expected = {
        "fit_pairs": {"GMML", "KISSME", "RCA", "MMC", "LEGO", "ITML", "MetricCV"},
        "fit_triplets": {"TripletSGD", "SPML", "SCML", "OASIS", "LEGO", "ITML", "MetricCV"},
        "partial_fit": {
            *("TripletSGD", "Scaled", "WithinClass", "Discriminant", "RCA", "KISSME", "GMML")
        },
    }
    assert {name for name in LEARNERS if hasattr(little(name), method)} == expected[method]


TRIPLETS = np.tile([[0, 3, 1], [4, 1, 2]], (30, 1))
CONTRADICTIONS: list[tuple[Any, str, str]] = [
    (
        TripletSGD("as-sgd", batch_size=20),
        "fit",
        "TripletSGD(method='as-sgd') takes one triplet at a time, got batch_size=20: leave "
        "batch_size out, or choose 'mini-sgd', 'hr-sgd' or 'ha-sgd'.",
    ),
    (
        TripletSGD(init="within-class"),
        "fit_triplets",
        "TripletSGD(init='within-class') needs classes of the samples, and there are none: "
        "choose init='scaled' or 'identity'.",
    ),
    (
        TripletSGD(radius=1.9),
        "partial_fit",
        "TripletSGD starts at the identity, whose norm 2 (in 4 dimensions) exceeds radius=1.9: "
        "raise radius above it.",
    ),
    (
        TripletSGD(recipes.mini_sgd(projection="frank-wolfe"), radius=3.9),
        "fit",
        "TripletSGD starts at the identity, whose trace 4 (in 4 dimensions) exceeds radius=3.9: "
        "raise radius above it.",
    ),
    (
        GMML(n_components=5),
        "partial_fit",
        "GMML has n_components=5, but X has 4 features: set at most 4, or None for all.",
    ),
    (
        NCA(n_components=3, init=np.eye(4)[:2]),
        "fit",
        "NCA has n_components=3, but init has 2 rows: set at most 2, or pass an init with more "
        "rows.",
    ),
    (
        TripletSGD(init=np.eye(3)),
        "fit",
        "TripletSGD needs an init of 4 columns, one for each feature, got shape (3, 3): pass the L "
        "of a metric of X.",
    ),
    (
        TripletSGD("mini-sgd", n_triplets=9, batch_size=10),
        "fit",
        "TripletSGD has 9 triplets, fewer than the 10 of one batch: raise n_triplets, or lower "
        "batch_size or n_neighbors.",
    ),
    (
        TripletSGD(n_neighbors=30),
        "fit",
        "TripletSGD has n_neighbors=30, but X has 30 samples, 29 besides the anchor: lower "
        "n_neighbors to at most 29, or pass more samples.",
    ),
    (
        LEGO(near_distance=2.0, far_distance=2.0),
        "fit",
        "LEGO needs near_distance below far_distance, got near_distance=2 and far_distance=2 "
        "(those not set come from X): lower near_distance or raise far_distance.",
    ),
]


@pytest.mark.parametrize(("learner", "how", "sentence"), CONTRADICTIONS)
def test_settings_that_contradict_the_data(learner: Any, how: str, sentence: str) -> None:
    given = TRIPLETS if how == "fit_triplets" else Y
    assert told(ValueError, lambda: getattr(learner, how)(X, given)) == sentence


def test_all_samples_the_same() -> None:
    for name in ("TripletSGD", "ITML", "LMNN", "NCA", "MetricCV"):
        assert told(ValueError, lambda: little(name).fit(np.full((30, 4), 7.0), Y)) == (  # noqa: B023
            "All 30 samples of X are the same, so that there is no distance to learn: check how X "
            "was made."
        )


def test_parameters_are_checked_by_scikit_learn() -> None:
    for name, setting in (
        ("TripletSGD", "init"),
        ("LMNN", "max_iter"),
        ("Discriminant", "n_components"),
    ):
        with pytest.raises(ValueError, match=f"The '{setting}' parameter of {name} must be "):
            little(name, **{setting: "words"}).fit(X, Y)


def test_a_client_without_a_collection() -> None:
    assert told(ValueError, lambda: GMML().fit(X, Y, client="x")) == (
        "A client is for Dask collections, and X is none: leave client out."
    )


def test_memory_mapped_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calipers.data.samples.LARGEST_READ", 0)
    monkeypatch.setattr("calipers.data.samples.BLOCK_ELEMENTS", 8)

    def fit(values: Any, labels: Any) -> str:
        np.save(tmp_path / "X.npy", values)
        given = np.load(tmp_path / "X.npy", mmap_mode="r")
        return told(ValueError, lambda: little("TripletSGD").fit(given, labels))

    assert fit(WITH_NAN, Y).startswith("Input X contains NaN")
    assert fit(X, Y[:10]).startswith("Found input variables with inconsistent numbers of samples")
    assert fit(X, np.where(Y == 2, np.nan, Y)).startswith("Input y contains NaN")
    assert fit(X.reshape(-1, 2, 2), Y).startswith("Found array with dim 3")
