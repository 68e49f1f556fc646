"""TripletSGD: settings, attributes, invariances, and a data set from end to end."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import ortho_group
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError

from calipers import PAPER_SETTINGS, TripletSGD
from calipers.arrays import FloatArray
from calipers.estimators.defaults import Pace
from calipers.evaluation import knn_error, knn_predict, split_error
from calipers.triplets import CrossedTriplets, DrawnTriplets, RowsInMemory, each_far_row_once
from plain import outer, plain_walk
from walks import METHODS, assert_same_matrix

X, Y = load_iris(return_X_y=True)
X = X + 1e-3 * np.random.default_rng(0).standard_normal(X.shape)  # no ties


def fit(*args: Any, rows: FloatArray = X, **settings: Any) -> TripletSGD:
    """Of the guard there are tests elsewhere."""
    settings = {"n_triplets": 1000, "guard": False, "random_state": 0, **settings}
    model = TripletSGD(*args, **settings)
    return cast(TripletSGD, model.fit(rows, Y))


def metric(*args: Any, **settings: Any) -> FloatArray:
    return fit(*args, **settings).get_mahalanobis_matrix()


# Settings


CHANGES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("ha-sgd", {}, {"n_stages": 2}),
    ("ha-sgd", {}, {"method": "mini-sgd"}),
    ("ha-sgd", {}, {"n_triplets": 900}),
    ("ha-sgd", {}, {"batch_size": 5}),
    ("sgd", {}, {"learning_rate": 0.5}),
    ("sgd", {}, {"smoothness": 2.0}),
    ("sgd", {}, {"radius": 2.0}),
    ("sgd", {}, {"n_neighbors": 4}),
    ("sgd", {}, {"n_components": 2}),
    ("sgd", {}, {"scale": "none"}),
    ("ha-sgd", {}, {"gradient_bound": "batch"}),
    ("ha-sgd", {}, {"gradient_bound": "bound"}),
    ("ha-sgd", {}, {"gradient_bound": "running"}),
    ("hr-sgd", {}, {"tau_max": 1.1}),
    ("mini-sgd", {}, {"batch_reduce": "sum"}),
    ("sgd", {}, {"average": False}),
    ("sgd", {"learning_rate": 30.0}, {"projection": "once"}),
    ("sgd", {}, {"projection": "never"}),
    ("sgd", {"start": "identity"}, {"start": "features"}),
    ("sgd", {"start": "identity"}, {"start": "classes"}),
    ("sgd", {}, {"random_state": 1}),
]


@pytest.mark.parametrize(("method", "base", "change"), CHANGES)
def test_every_parameter_changes_something(
    method: str, base: dict[str, Any], change: dict[str, Any]
) -> None:
    before, after = metric(method, **base), metric(**{"method": method, **base, **change})
    assert np.linalg.norm(before - after) > 1e-6 * np.linalg.norm(before)


def test_every_parameter_is_in_the_table_above() -> None:
    changed = {name for _, _, change in CHANGES for name in change}
    changed.add("guard")  # see tests/test_estimators_guarded.py
    assert changed == TripletSGD().get_params().keys()


def test_auto_is_mini_sgd() -> None:
    np.testing.assert_array_equal(metric(batch_size=10), metric("mini-sgd"))
    assert np.any(metric() != metric("mini-sgd"))
    assert fit().method_ == "mini-sgd"
    assert fit("sgd").method_ == "sgd"


def test_the_number_of_triplets_without_being_told() -> None:
    """The paper's for a method that is named; else batches of all triplets of some rows."""
    labels = np.arange(60) % 3
    rows = np.random.default_rng(0).standard_normal((60, 49))
    assert TripletSGD("as-sgd", random_state=0).fit(rows, labels).n_iter_ == 100_000
    assert TripletSGD("mini-sgd", random_state=0).fit(rows, labels).n_iter_ == 10_000
    assert TripletSGD(random_state=0).fit(rows, labels).n_iter_ == 2 * 1000 // 40
    assert TripletSGD(random_state=0).fit(rows[:, :48], labels).n_iter_ == 3 * 2000 // 20


@pytest.mark.parametrize(
    ("n_rows", "d", "n_triplets"),
    [
        (100, 48, 3 * 9 * 2000),
        (12_000, 48, 3 * 9 * 24_000),
        (10**6, 48, 3 * 9 * 40_000),
        (100, 49, 2 * 25 * 1000),
        (2000, 49, 2 * 25 * 3000),
        (10**6, 49, 2 * 25 * 4000),
    ],
)
def test_more_rows_more_triplets(n_rows: int, d: int, n_triplets: int) -> None:
    rows = RowsInMemory(np.broadcast_to(0.0, (n_rows, d)), np.arange(n_rows) % 2)
    assert sum(TripletSGD()._shares(rows)) == n_triplets
    assert sum(TripletSGD(n_neighbors=20, n_stages=1)._shares(rows)) == pytest.approx(
        n_triplets * {48: 400 / 9 / 3, 49: 400 / 25 / 2}[d] / 2
    )
    for told in (TripletSGD("mini-sgd"), TripletSGD("as-sgd"), TripletSGD(batch_size=10)):
        assert sum(told._shares(rows)) == pytest.approx(100_000, abs=10)


@pytest.mark.parametrize(
    ("d", "n_triplets", "expected"),
    [
        (48, 90_000, (180, 3, 25.0, 3.0, 2.0)),
        (49, 90_000, (1000, 5, 50.0, 6.0, 2.0)),
        (49, 5000, (125, 5, 6.25, 6.0, 2.0)),
        (49, 50, (25, 5, 1.25, 6.0, 2.0)),
        (49, 49, (10, 1, 1.0, 6.0, 2.0)),  # too few for all of an anchor, in each of two stages
    ],
)
def test_batches_and_steps_without_being_told(
    d: int, n_triplets: int, expected: tuple[float, ...]
) -> None:
    rows = RowsInMemory(np.broadcast_to(0.0, (60, d)), np.arange(60) % 2)
    not_told = TripletSGD(n_triplets=n_triplets)
    assert not_told._pace(rows) == expected
    for told in (TripletSGD("mini-sgd"), TripletSGD("ha-sgd"), TripletSGD(batch_size=10)):
        assert told.set_params(n_triplets=n_triplets)._pace(rows) == Pace()
    assert TripletSGD("as-sgd")._pace(rows) == Pace(1)
    assert TripletSGD(batch_size=100)._pace(rows) == Pace(100)
    assert TripletSGD(learning_rate=0.5, smoothness=7.0)._pace(rows)[2:4] == (0.5, 7.0)
    unlabelled = RowsInMemory(np.broadcast_to(0.0, (60, d)))
    assert not_told._pace(unlabelled) == Pace()


def test_what_is_not_told_is_taken() -> None:
    rows, labels = np.random.default_rng(0).standard_normal((60, 49)), np.arange(60) % 3
    told: dict[str, Any] = {"n_triplets": 50_000, "learning_rate": 50.0, "smoothness": 6.0}
    told |= {"n_neighbors": 5, "n_stages": 2}
    fitted, same = (
        TripletSGD(**settings, guard=False, random_state=0).fit(rows, labels)
        for settings in ({}, told)
    )
    np.testing.assert_array_equal(fitted.components_, same.components_)


def test_batch_size_is_one_where_the_method_says_so() -> None:
    for method in ("sgd", "as-sgd"):
        np.testing.assert_array_equal(metric(method), metric(method, batch_size=3))


def test_paper_settings_are_the_papers() -> None:
    assert dict(PAPER_SETTINGS) == {
        "n_triplets": 100_000,
        "batch_size": 10,
        "learning_rate": 1.0,
        "smoothness": 3.0,
        "radius": 1000.0,
        "n_neighbors": 1,
        "scale": "none",
        "gradient_bound": "triplet",
        "tau_max": None,
        "batch_reduce": "mean",
        "average": True,
        "n_stages": 1,
        "guard": False,
        "projection": "every",
        "start": "identity",
    }
    with pytest.raises(TypeError):
        PAPER_SETTINGS["radius"] = 1.0  # type: ignore[index]


@pytest.mark.parametrize("method", METHODS)
def test_paper_settings_are_the_plain_algorithm(method: str) -> None:
    """From labels to metric: the streams of random numbers are those documented."""
    settings: dict[str, Any] = {**PAPER_SETTINGS, "n_triplets": 600}
    fitted = TripletSGD(method, **settings, random_state=3).fit(X, Y)
    entropy = np.random.RandomState(3).randint(2**32, size=4, dtype=np.uint32).tolist()
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(entropy).spawn(3)]
    source = DrawnTriplets(RowsInMemory(X, Y), 600, n_neighbors=1, rng=streams[0])
    triplets = next(source.portions(600))
    b = 1 if method in ("sgd", "as-sgd") else 10
    W = None
    if method == "ha-sgd":
        A = np.array([outer(X, triplet) for triplet in triplets])
        margins = np.trace(A, axis1=1, axis2=2)
        norms = np.linalg.norm(A, axis=(1, 2)) / (1 + np.exp(3 * (margins - 1)))
        W = float(norms[streams[2].integers(600, size=100)].max())
    walk = plain_walk(
        X,
        triplets,
        method,
        uniforms=streams[1].random(600 // b),
        picks=streams[2].integers(b, size=600 // b) if method == "hr-sgd" else None,
        W=W,
    )
    assert fitted.n_updates_ == sum(walk.accepted)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), walk.average)


def test_the_default_is_the_plain_mini_sgd_of_all_triplets_of_an_anchor() -> None:
    """One stage of it, in the units of X: it does not matter that triplets share their rows."""
    settings: dict[str, Any] = {"scale": "none", "start": "identity", "n_stages": 1}
    fitted = TripletSGD(**settings, n_triplets=3600, guard=False, random_state=3).fit(X, Y)
    entropy = np.random.RandomState(3).randint(2**32, size=4, dtype=np.uint32).tolist()
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(entropy).spawn(3)]
    source = CrossedTriplets(RowsInMemory(X, Y), 3600, n_neighbors=3, rng=streams[0])
    triplets = next(source.portions(3600))
    once = each_far_row_once(triplets, 3)[:1000]
    reach = 2.0 * np.median(np.linalg.norm(X[once[:, 0]] - X[once[:, 2]], axis=1))
    walk = plain_walk(
        X,
        triplets,
        "mini-sgd",
        uniforms=np.zeros(20),
        batch_size=180,
        eta=25.0,
        L=3.0,
        crossed=3,
        reach=reach,
    )
    assert fitted.n_updates_ == 20
    assert_same_matrix(fitted.get_mahalanobis_matrix(), walk.average)


# Attributes


@pytest.mark.parametrize("method", METHODS)
def test_fitted_attributes(method: str) -> None:
    fitted = fit(method, n_triplets=1005)
    n_iterations = 1005 if method in ("sgd", "as-sgd") else 100
    assert fitted.components_.shape == (4, 4)
    assert fitted.n_iter_ == n_iterations
    assert 0 <= fitted.n_projections_ <= fitted.n_updates_ <= n_iterations
    if method in ("sgd", "mini-sgd"):
        assert fitted.n_updates_ == n_iterations
    assert fitted.n_features_in_ == 4
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.mining_seconds_ > 0
    assert fitted.solve_seconds_ > 0
    assert (fitted.loss_curve_ > 0).all()
    assert len(fitted.loss_curve_) == len(fitted.update_curve_) == len(fitted.triplet_curve_)
    assert fitted.update_curve_[-1] == fitted.n_updates_
    assert fitted.triplet_curve_[-1] == n_iterations * (1005 // n_iterations)
    assert (np.diff(fitted.triplet_curve_) > 0).all()


def test_theory_of_a_fit() -> None:
    fitted = fit("as-sgd", scale="none", start="identity", n_stages=1)
    facts = fitted.theory(delta=0.05)
    assert facts.delta == 0.05
    assert facts.n_updates == fitted.n_updates_ <= facts.sharp_update_bound <= facts.update_bound
    assert facts.n_triplets == 1000
    weights = np.diff(fitted.triplet_curve_, prepend=0)
    assert facts.summed_loss == pytest.approx(float(weights @ fitted.loss_curve_))
    assert not facts.applies
    assert fit("as-sgd", scale="none", start="identity", rows=0.05 * X).theory().applies
    with pytest.raises(NotFittedError):
        TripletSGD().theory()


def test_fewer_components_are_the_first() -> None:
    np.testing.assert_array_equal(fit(n_components=2).components_, fit().components_[:2])
    assert fit(n_components=2).transform(X).shape == (150, 2)


def test_refitting_forgets() -> None:
    model = TripletSGD(n_triplets=500, random_state=0)
    model.fit(X[:, :2], Y)
    np.testing.assert_array_equal(
        model.fit(X, Y).components_,
        TripletSGD(n_triplets=500, random_state=0).fit(X, Y).components_,
    )


# Triplets of one's own


def test_own_triplets_are_taken_in_order() -> None:
    triplets = np.random.default_rng(0).permuted(np.tile(np.arange(150), (500, 1)), axis=1)[:, :3]
    settings: dict[str, Any] = {**PAPER_SETTINGS, "n_triplets": 7}
    fitted = TripletSGD("sgd", **settings).fit_triplets(X, triplets)
    walk = plain_walk(X, triplets, "sgd", uniforms=np.zeros(500))
    assert fitted.n_iter_ == 500
    assert not hasattr(fitted, "classes_")
    assert_same_matrix(fitted.get_mahalanobis_matrix(), walk.average)


def test_own_triplets_are_obeyed() -> None:
    """Only the first feature tells near from far."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 5))
    anchor, a, b = rng.permuted(np.tile(np.arange(60), (2000, 1)), axis=1)[:, :3].T
    swap = np.abs(rows[anchor, 0] - rows[a, 0]) > np.abs(rows[anchor, 0] - rows[b, 0])
    triplets = np.column_stack([anchor, np.where(swap, b, a), np.where(swap, a, b)])
    M = TripletSGD(random_state=0).fit_triplets(rows, triplets).get_mahalanobis_matrix()
    assert M[0, 0] > 3 * np.diag(M)[1:].max()


# Invariances


@pytest.mark.parametrize("method", METHODS)
def test_rotation(method: str) -> None:
    Q = ortho_group.rvs(4, random_state=0)
    settings: dict[str, Any] = {"start": "identity", "n_stages": 2}
    rotated, plain = fit(method, rows=X @ Q, **settings), fit(method, **settings)
    assert rotated.n_updates_ == plain.n_updates_
    expected = Q.T @ plain.get_mahalanobis_matrix() @ Q
    assert_same_matrix(rotated.get_mahalanobis_matrix(), expected, 1e-7)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", ["triplets", "none"])
def test_translation(method: str, scale: str) -> None:
    shifted, plain = fit(method, scale=scale, rows=X + np.arange(4.0)), fit(method, scale=scale)
    assert shifted.n_updates_ == plain.n_updates_
    expected = plain.get_mahalanobis_matrix()
    assert_same_matrix(shifted.get_mahalanobis_matrix(), expected, 1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_scale_of_the_rows_does_not_matter_by_default(method: str) -> None:
    scaled, plain = fit(method, rows=1000.0 * X), fit(method)
    assert scaled.n_updates_ == plain.n_updates_
    expected = plain.get_mahalanobis_matrix()
    assert_same_matrix(1e6 * scaled.get_mahalanobis_matrix(), expected, 1e-7)
    assert fit(method, scale="none", rows=1000.0 * X).n_updates_ != fit(method).n_updates_ or (
        method in ("sgd", "mini-sgd")
    )


def test_neighbours_do_not_depend_on_the_length_of_the_metric() -> None:
    images = fit().transform(X)
    predicted = knn_predict(images[::2], Y[::2], images[1::2])
    for c in (1e-6, 0.37, 1e6):
        again = knn_predict(c * images[::2], Y[::2], c * images[1::2])
        np.testing.assert_array_equal(again, predicted)


# Determinism


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_bits(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    components = []
    for n_threads in ("1", "2", "1"):
        monkeypatch.setenv("CALIPERS_NUM_THREADS", n_threads)
        components.append(fit(method).components_)
    np.testing.assert_array_equal(components[0], components[1])
    np.testing.assert_array_equal(components[0], components[2])
    assert not np.array_equal(components[0], fit(method, random_state=1).components_)


def test_random_state_may_be_a_generator_of_old() -> None:
    given = np.random.RandomState(5)
    first = fit(random_state=given).components_
    np.testing.assert_array_equal(first, fit(random_state=5).components_)
    assert not np.array_equal(first, fit(random_state=given).components_)


def test_methods_share_their_triplets() -> None:
    """One random_state, one list of triplets: all see the same largest norm."""
    fits = [fit(method, n_neighbors=1, n_stages=1) for method in ("sgd", "as-sgd", "mini-sgd")]
    assert len({fitted.theory().largest_norm for fitted in fits}) == 1


# From end to end


def digits(seed: int) -> tuple[npt.NDArray[Any], ...]:
    """Few rows to learn from, many to test on."""
    rows, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(rows))
    learn, test = order[:300], order[300:]
    return rows[learn], labels[learn], rows[test], labels[test]


@pytest.mark.parametrize("method", ["ha-sgd", "as-sgd"])
def test_digits_are_told_apart_better(method: str) -> None:
    euclidean, learned = [], []
    for seed in range(6):
        rows, labels, test_rows, test_labels = digits(seed)
        fitted = TripletSGD(method, n_triplets=20_000, random_state=0).fit(rows, labels)
        euclidean.append(knn_error(rows, labels, test_rows, test_labels))
        images, test_images = fitted.transform(rows), fitted.transform(test_rows)
        learned.append(knn_error(images, labels, test_images, test_labels))
        # later triplets are better satisfied than the first ones were
        assert fitted.loss_curve_[-20:].mean() < fitted.loss_curve_[:5].mean()
    assert np.mean(learned) < 0.95 * np.mean(euclidean)


def test_counts_are_the_same_again() -> None:
    settings: dict[str, Any] = {**PAPER_SETTINGS, "n_triplets": 20_000}
    rows, labels, _, _ = digits(0)
    fitted = [TripletSGD("as-sgd", **settings, random_state=0).fit(rows, labels) for _ in range(2)]
    assert fitted[0].n_updates_ == fitted[1].n_updates_ > 0


def test_the_papers_count_on_dna(data_folder: Path) -> None:
    from calipers.datasets import load

    data = load("dna", data_dir=str(data_folder))
    fitted = TripletSGD("as-sgd", **PAPER_SETTINGS, random_state=0).fit(data.X_train, data.y_train)
    assert 600 <= fitted.n_updates_ <= 850
    assert split_error(data, fitted) < 0.5 * split_error(data)
