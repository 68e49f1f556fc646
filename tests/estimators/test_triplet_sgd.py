"""TripletSGD: parameters, recipes against the plain algorithms, invariances, data sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import ortho_group

from calipers import TripletSGD, recipes
from calipers.arrays import FloatArray
from calipers.data.samples import MemorySamples
from calipers.data.triplets import AllPairsTriplets, DrawnTriplets
from calipers.evaluation import knn_error
from calipers.recipes import Recipe
from learners import iris, random_triplets, streams
from reference.plain import outer, plain_walk, project
from reference.plain_rules import plain_never, plain_now_and_then, plain_once
from solver_runs import METHODS, assert_same_matrix

X, Y = iris()
TRIPLETS = random_triplets(150, 400)


def fit(*args: Any, samples: FloatArray = X, **settings: Any) -> TripletSGD:
    model = TripletSGD(*args, **{"n_triplets": 1000, "random_state": 0, **settings})
    fitted: TripletSGD = model.fit(samples, Y)
    return fitted


def metric(*args: Any, **settings: Any) -> FloatArray:
    return fit(*args, **settings).get_mahalanobis_matrix()


# Parameters


CHANGES: list[tuple[str | Recipe, dict[str, Any]]] = [
    ("ha-sgd", {"method": "mini-sgd"}),
    *((method, {"n_rounds": 2}) for method in ("ha-sgd", "all-pairs-sgd")),
    *((method, {"n_triplets": 900}) for method in ("ha-sgd", "all-pairs-sgd")),
    *((method, {"batch_size": 3}) for method in ("ha-sgd", "all-pairs-sgd")),
    *((method, {"n_neighbors": 4}) for method in ("sgd", "all-pairs-sgd")),
    *((method, {"learning_rate": 0.5}) for method in ("sgd", "all-pairs-sgd")),
    ("sgd", {"smoothness": 2.0}),
    ("sgd", {"radius": 2.0}),
    ("sgd", {"n_components": 2}),
    ("sgd", {"init": "identity"}),
    ("sgd", {"init": "within-class"}),
    ("sgd", {"init": np.diag([1.0, 2.0, 3.0, 4.0])}),
    ("sgd", {"max_samples": 80}),
    ("sgd", {"random_state": 1}),
    *(
        ("ha-sgd", {"method": recipes.ha_sgd(norm_bound=rule)})
        for rule in ("batch", "bound", "running")
    ),
    ("hr-sgd", {"method": recipes.hr_sgd(max_importance_weight=1.1)}),
    ("mini-sgd", {"method": recipes.mini_sgd(batch_reduce="sum")}),
    ("mini-sgd", {"method": recipes.mini_sgd(clip=0.5)}),
    ("sgd", {"method": recipes.sgd(average=False)}),
    ("sgd", {"method": recipes.sgd(margin_unit="one")}),
    *(("sgd", {"method": recipes.sgd(projection=rule)}) for rule in (9, "end", "frank-wolfe")),
]


@pytest.mark.parametrize(("method", "change"), CHANGES)
def test_every_parameter_changes_something(method: str | Recipe, change: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"method": method, "init": "scaled", "learning_rate": 3.0}
    if method == "all-pairs-sgd":
        usual["batch_size"] = 1
    before, after = metric(**usual), metric(**{**usual, **change})
    assert np.linalg.norm(before - after) > 1e-6 * np.linalg.norm(before)


def test_every_parameter_is_in_the_table_above_and_they_are_few() -> None:
    assert {name for _, change in CHANGES for name in change} == TripletSGD().get_params().keys()
    assert len(TripletSGD().get_params()) <= 12


# The paper's setting


@pytest.mark.parametrize(
    ("method", "choices"),
    [
        *((method, {}) for method in METHODS[:-1]),
        ("ha-sgd", {"norm_draws": 10}),
        ("ha-sgd-batch", {"norm_bound": "batch"}),
        ("hr-sgd-sum", {"batch_reduce": "sum", "max_importance_weight": 30.0}),
    ],
)
def test_the_papers_setting(method: str, choices: dict[str, Any]) -> None:
    one_by_one = method in ("sgd", "as-sgd")
    recipe = recipes.RECIPES["-".join(method.split("-")[:2])]
    assert TripletSGD.paper(method, random_state=7).get_params() == {
        "method": recipe(margin_unit="one", **choices),
        "n_components": None,
        "init": "identity",
        "n_neighbors": 1,
        "n_rounds": 1,
        "n_triplets": 100_000,
        "batch_size": 1 if one_by_one else 10,
        "learning_rate": 1.0,
        "smoothness": 3.0,
        "radius": 1000.0,
        "max_samples": None,
        "random_state": 7,
    }
    assert TripletSGD.paper(method, n_triplets=5, radius=7.0).n_triplets == 5


def test_the_paper_has_five_methods() -> None:
    with pytest.raises(ValueError, match=r"^method must be one of sgd, mini-sgd, as-sgd, .*, got"):
        TripletSGD.paper("all-pairs-sgd")
    with pytest.raises(TypeError, match="guard"):
        TripletSGD.paper("as-sgd", guard=False)


@pytest.mark.parametrize("method", METHODS)
def test_the_papers_setting_is_the_plain_algorithm(method: str) -> None:
    """From labels to metric: the streams of random numbers are those documented."""
    fitted = TripletSGD.paper(method, n_triplets=600, random_state=3).fit(X, Y)
    triplet_rng, accept_rng, pick_rng = streams(3)
    source = DrawnTriplets(MemorySamples(X, Y), 600, n_neighbors=1, rng=triplet_rng)
    triplets = next(source.portions(600))
    b = 1 if method in ("sgd", "as-sgd") else 10
    W = None
    if method == "ha-sgd":
        A = np.array([outer(X, triplet) for triplet in triplets])
        margins = np.trace(A, axis1=1, axis2=2)
        norms = np.linalg.norm(A, axis=(1, 2)) / (1 + np.exp(3 * (margins - 1)))
        W = float(norms[pick_rng.integers(600, size=10)].max())
    run = plain_walk(
        X,
        triplets,
        method,
        uniforms=accept_rng.random(600 // b),
        picks=pick_rng.integers(b, size=600 // b) if method == "hr-sgd" else None,
        W=W,
    )
    assert fitted.n_updates_ == sum(run.accepted)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), run.average)


def test_all_pairs_are_the_plain_mini_sgd() -> None:
    """One round in the units of X: it does not matter that triplets share their samples."""
    recipe = recipes.all_pairs_sgd(margin_unit="one", clip=2.0)
    fitted = TripletSGD(
        recipe,
        init="identity",
        n_neighbors=3,
        n_rounds=1,
        n_triplets=3600,
        batch_size=20,
        learning_rate=25.0,
        random_state=3,
    ).fit(X, Y)
    source = AllPairsTriplets(MemorySamples(X, Y), 3600, n_neighbors=3, rng=streams(3)[0])
    triplets = next(source.portions(3600))
    once = triplets.reshape(-1, 9, 3)[:, :3].reshape(-1, 3)[:1000]  # one for each negative
    clip_norm = 2.0 * float(np.median(np.linalg.norm(X[once[:, 0]] - X[once[:, 2]], axis=1)))
    run = plain_walk(
        X,
        triplets,
        "mini-sgd",
        uniforms=np.zeros(20),
        batch_size=180,
        eta=25.0,
        L=3.0,
        crossed=3,
        reach=clip_norm,
    )
    assert fitted.n_updates_ == 20
    assert_same_matrix(fitted.get_mahalanobis_matrix(), run.average)


# Own triplets, rules of projection


def own(recipe: Recipe, **settings: Any) -> FloatArray:
    learner = TripletSGD.paper(
        "mini-sgd", n_neighbors=None, n_triplets=None, random_state=0, **settings
    )
    fitted = learner.set_params(method=recipe).fit_triplets(X, TRIPLETS)
    M: FloatArray = fitted.get_mahalanobis_matrix()
    return M


def literal(**choices: Any) -> Recipe:
    return recipes.mini_sgd(margin_unit="one", **choices)


def test_own_triplets_are_taken_in_order() -> None:
    run = plain_walk(X, TRIPLETS, "mini-sgd", uniforms=np.zeros(40))
    assert_same_matrix(own(literal()), run.average)
    assert_same_matrix(own(literal(average=False)), run.last)
    first = plain_walk(X, TRIPLETS[:70], "mini-sgd", uniforms=np.zeros(7))
    learner = TripletSGD.paper("mini-sgd", n_neighbors=None, n_triplets=70)
    assert_same_matrix(learner.fit_triplets(X, TRIPLETS).get_mahalanobis_matrix(), first.average)


def test_rules_of_projection_are_the_plain_ones() -> None:
    numbers: dict[str, Any] = {"batch_size": 10, "R": 1000.0}
    last, average = plain_once(X, TRIPLETS, eta=0.1, L=3.0, gamma=0.01, **numbers)
    assert np.linalg.eigvalsh(last)[0] < 0.0
    assert_same_matrix(own(literal(projection="end"), learning_rate=0.1), project(average, np.inf))
    recipe = literal(projection="end", average=False)
    assert_same_matrix(own(recipe, learning_rate=0.1), project(last, np.inf))
    last, average = plain_now_and_then(X, TRIPLETS, eta=1.0, period=7, **numbers)
    assert np.linalg.eigvalsh(last)[0] < 0.0
    assert_same_matrix(own(literal(projection=7)), project(average, np.inf))
    assert_same_matrix(own(literal(projection=7, average=False)), project(last, np.inf))
    bound = max(float(np.linalg.norm(outer(X, triplet))) for triplet in TRIPLETS)
    _, average = plain_never(X, TRIPLETS, batch_size=10, L=3.0, trace=5.0, lipschitz=bound)
    many = literal(projection="frank-wolfe", norm_draws=10_000)  # so that the longest is met
    assert_same_matrix(own(many, radius=5.0), average)


# Attributes


@pytest.mark.parametrize("method", METHODS)
def test_counts(method: str) -> None:
    fitted = fit(method, n_triplets=1005, n_rounds=2)
    n_iterations = 2 * (1005 // fitted.batch_size_)
    assert fitted.n_iter_ == n_iterations
    assert 0 <= fitted.n_projections_ <= fitted.n_updates_ <= n_iterations
    if method in ("sgd", "mini-sgd"):
        assert fitted.n_updates_ == n_iterations
    assert len(fitted.loss_curve_) == len(fitted.update_curve_) == len(fitted.triplet_curve_)
    assert fitted.triplet_curve_[-1] == n_iterations * fitted.batch_size_
    assert (np.diff(fitted.triplet_curve_) > 0).all()


# Invariances


ALL_METHODS = (*METHODS, "all-pairs-sgd")


@pytest.mark.parametrize("method", ALL_METHODS)
def test_rotation(method: str) -> None:
    Q = ortho_group.rvs(4, random_state=0)
    settings: dict[str, Any] = {"init": "identity", "n_rounds": 2}
    rotated, plain = fit(method, samples=X @ Q, **settings), fit(method, **settings)
    assert rotated.n_updates_ == plain.n_updates_
    expected = Q.T @ plain.get_mahalanobis_matrix() @ Q
    assert_same_matrix(rotated.get_mahalanobis_matrix(), expected, 1e-7)


def test_clipped_outliers_do_not_spoil_the_rest() -> None:
    """Every twentieth sample is far from all others; anchors' differences are clipped."""

    def long_tailed(seed: int) -> tuple[FloatArray, npt.NDArray[Any], npt.NDArray[np.bool_]]:
        rng = np.random.default_rng(seed)
        y = rng.integers(2, size=400)
        samples = rng.standard_normal((400, 6))
        samples[:, 0] += 2.5 * y
        is_far = np.arange(400) % 20 == 0
        lengths = np.where(is_far, 30.0 * np.exp(1.5 * rng.standard_normal(400)), 1.0)
        return samples * lengths[:, None], y, is_far

    (samples, y, _), (other, labels, is_far) = long_tailed(2), long_tailed(102)
    clipped = recipes.all_pairs_sgd(clip=2.0)
    model = TripletSGD(clipped, init="identity", random_state=0).fit(samples, y)
    held_out = model.transform(other[~is_far])
    assert knn_error(model.transform(samples), y, held_out, labels[~is_far]) < 0.2
    heaps = np.repeat(np.arange(4.0), 30)[:, None]  # negatives that are the anchors
    fitted = TripletSGD(clipped, random_state=0).fit(heaps, np.arange(120) % 2)
    assert np.isfinite(fitted.components_).all()


# From end to end
