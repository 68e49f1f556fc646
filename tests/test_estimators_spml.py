"""SPML and other projection rules as estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from calipers import PAPER_SETTINGS, SPML, TripletSGD, datasets
from calipers.evaluation import split_error
from calipers.projections import onto_cone
from data_folder import FOLDER, needs_data
from plain_rules import plain_never, plain_now_and_then, plain_once, plain_spml
from walks import assert_same_matrix

X, Y = load_iris(return_X_y=True)
TRIPLETS = np.random.default_rng(0).permuted(np.tile(np.arange(150), (400, 1)), axis=1)[:, :3]


def make(**settings: Any) -> SPML:
    return SPML(**{"n_triplets": 500, "random_state": 0, **settings})


def test_spml_of_own_triplets_is_the_plain_last_iterate() -> None:
    fitted = make(ridge=1e-3).fit_triplets(X, TRIPLETS)
    last, _ = plain_spml(X, TRIPLETS, ridge=1e-3, margin=0.01, batch_size=10)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), last)
    assert fitted.n_updates_ == fitted.n_iter_ == 40
    assert 0 < fitted.n_projections_ <= 40
    assert fitted.triplet_curve_[-1] == 400


@pytest.mark.parametrize(
    "settings",
    [
        {"n_triplets": 400},
        {"batch_size": 5},
        {"ridge": 1e-2},
        {"margin": 1e6},
        {"n_neighbors": 4},
        {"n_components": 2},
        {"random_state": 1},
    ],
)
def test_every_setting_of_spml_counts(settings: dict[str, Any]) -> None:
    one, other = make(ridge=1e-1).fit(X, Y), make(**{"ridge": 1e-1, **settings}).fit(X, Y)
    assert not np.array_equal(one.get_mahalanobis_matrix(), other.get_mahalanobis_matrix())


def test_a_batch_larger_than_all_triplets_is_refused() -> None:
    with pytest.raises(ValueError, match="SPML has 5 triplets, fewer than one batch"):
        make(n_triplets=5).fit(X, Y)


def rule(projection: str | int, **settings: Any) -> TripletSGD:
    parts = {**PAPER_SETTINGS, "method": "mini-sgd", "projection": projection, **settings}
    return TripletSGD(**parts)


def test_once_is_the_plain_walk_projected_at_the_end() -> None:
    last, average = plain_once(X, TRIPLETS, batch_size=10, eta=0.1, L=3.0, R=1000.0, damping=0.01)
    fitted = rule("once", learning_rate=0.1).fit_triplets(X, TRIPLETS)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), average)
    fitted = rule("once", learning_rate=0.1, average=False).fit_triplets(X, TRIPLETS)
    assert np.linalg.eigvalsh(last)[0] < 0.0
    assert_same_matrix(fitted.get_mahalanobis_matrix(), onto_cone(last))


def test_now_and_then_is_the_plain_walk_projected_at_the_end() -> None:
    last, average = plain_now_and_then(X, TRIPLETS, batch_size=10, eta=1.0, R=1000.0, period=7)
    fitted = rule(7).fit_triplets(X, TRIPLETS)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), onto_cone(average))
    fitted = rule(7, average=False).fit_triplets(X, TRIPLETS)
    assert np.linalg.eigvalsh(last)[0] < 0.0
    assert_same_matrix(fitted.get_mahalanobis_matrix(), onto_cone(last))


def test_theorems_are_not_about_walks_that_spare_projections() -> None:
    with pytest.raises(ValueError, match="got projection=10: fit with projection='every'"):
        rule(10).fit(X, Y).theory()


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "sometimes", None])
def test_a_rule_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="The 'projection' parameter of TripletSGD must be"):
        rule(wrong).fit(X, Y)


def test_never_is_the_plain_mean() -> None:
    fitted = rule("never", radius=5.0).fit_triplets(X, TRIPLETS)
    _, average = plain_never(X, TRIPLETS, batch_size=10, L=3.0, trace=5.0)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), average)


@pytest.mark.parametrize("projection", [4, "once", "never"])
def test_rules_do_not_depend_on_the_units_of_the_rows(projection: str | int) -> None:
    settings = {"n_triplets": 500, "scale": "triplets", "random_state": 0, "radius": 20.0}
    one = rule(projection, **settings).fit(X, Y).get_mahalanobis_matrix()
    other = rule(projection, **settings).fit(1024.0 * X, Y).get_mahalanobis_matrix()
    assert_same_matrix(1024.0**2 * other, one, 1e-7)


def test_a_trace_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match=r"identity, whose trace 4 \(for 4 features\) exceeds"):
        rule("never", radius=3.9).fit(X, Y)


def test_theory_is_about_projected_walks() -> None:
    with pytest.raises(ValueError, match="projected at every update, got projection='never'"):
        rule("never").fit_triplets(X, TRIPLETS).theory()


@needs_data
@pytest.mark.parametrize(("name", "published"), [("letter", 3.1), ("dna", 9.1)])
def test_the_papers_errors_of_spml(name: str, published: float) -> None:
    data = datasets.load(name, data_dir=FOLDER)
    fitted = SPML(random_state=0).fit(data.X_train, data.y_train)
    assert fitted.n_updates_ == 10_000
    assert 100 * split_error(data, fitted) == pytest.approx(published, abs=1.5)
