"""NCA and MLKR: the objective, mini-batches beside all samples at once, and what they find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_friedman1
from sklearn.neighbors import KNeighborsRegressor, NeighborhoodComponentsAnalysis

from calipers import MLKR, NCA
from calipers.evaluation import knn_error
from calipers.solvers.soft_neighbors import AllAnchors, expected_errors, squared_errors
from learners import iris

X, Y = iris()
FRIEDMAN, TARGETS = make_friedman1(300, 5, random_state=0)
CASES: dict[str, tuple[Any, Any, Any, Any]] = {
    "NCA": (NCA, expected_errors, X, Y),
    "MLKR": (MLKR, squared_errors, FRIEDMAN, TARGETS),
}
each = pytest.mark.parametrize("name", CASES)


def objective(name: str, L: Any) -> float:
    _, loss, samples, targets = CASES[name]
    return AllAnchors(loss, samples, targets).at(L).objective


@each
def test_all_samples_at_once_end_at_a_minimum(name: str) -> None:
    learner, loss, samples, targets = CASES[name]
    init = np.diag(1.0 / samples.std(axis=0)) / 2.0
    fitted = learner(init=init, batch_size=None, max_iter=2000, tol=1e-10).fit(samples, targets)
    assert fitted.converged_
    assert np.isclose(objective(name, fitted.components_), fitted.objective_)
    assert (np.diff(fitted.objective_curve_) <= 0.0).all()
    slope = AllAnchors(loss, samples, targets).at(fitted.components_).slope
    start = AllAnchors(loss, samples, targets).at(init).slope
    assert np.linalg.norm(slope @ fitted.components_.T) < 1e-2 * np.linalg.norm(start @ init.T)


# samples of a batch, and the share of the gain that may be missing
BATCHES = {"NCA": (64, 0.1), "MLKR": (256, 0.5)}


@each
def test_mini_batches_come_near(name: str) -> None:
    learner, _, samples, targets = CASES[name]
    whole = learner(batch_size=None, init="scaled", max_iter=1000).fit(samples, targets)
    batches = learner(batch_size=BATCHES[name][0], init="scaled", max_iter=600, random_state=0)
    found = objective(name, batches.fit(samples, targets).components_)
    first = whole.objective_curve_[0]
    assert found < whole.objective_ + BATCHES[name][1] * (first - whole.objective_)


def test_the_objective_is_not_above_scikit_learns() -> None:
    theirs = NeighborhoodComponentsAnalysis(init="identity", max_iter=300, random_state=0)
    theirs.fit(X, Y)
    ours = NCA(batch_size=None, init="identity", max_iter=300).fit(X, Y)
    assert ours.objective_ <= objective("NCA", theirs.components_) + 0.01


@pytest.mark.parametrize("n_components", [None, 2])
def test_digits(n_components: int | None) -> None:
    samples, labels = load_digits(return_X_y=True)
    train, test = slice(None, None, 2), slice(1, None, 2)
    fitted = NCA(n_components, random_state=0).fit(samples[train], labels[train])
    assert fitted.init_ == "identity"
    assert fitted.max_iter_ == fitted.n_iter_ == 119
    Z = fitted.transform(samples)
    error = knn_error(Z[train], labels[train], Z[test], labels[test])
    assert error < (0.4 if n_components else 0.025)


@pytest.mark.parametrize("n_components", [None, 1])
def test_mlkr_finds_the_feature_that_matters(n_components: int | None) -> None:
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((600, 6)) * [1, 1, 1, 5, 5, 5]
    targets = np.sin(2.0 * samples[:, 1])
    fitted = MLKR(n_components, max_iter=400, random_state=0).fit(samples[:300], targets[:300])
    Z = fitted.transform(samples)
    score = KNeighborsRegressor(5).fit(Z[:300], targets[:300]).score(Z[300:], targets[300:])
    assert score > 0.9
    assert not hasattr(fitted, "classes_")


@pytest.mark.parametrize("targets", [np.full(150, 7.0), np.zeros(150, dtype=int)])
def test_mlkr_needs_targets_that_differ(targets: Any) -> None:
    said = f"^MLKR needs targets that differ, got {targets[0]} for all 150 samples: pass others"
    with pytest.raises(ValueError, match=said):
        MLKR().fit(X, targets)


def test_mlkr_needs_numbers() -> None:
    with pytest.raises(ValueError, match="could not convert string to float"):
        MLKR().fit(X, np.array(["a", "b", "c"])[Y])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_resolved_values_give_the_same_bits() -> None:
    fitted = NCA(random_state=0).fit(X, Y)
    at_once = NCA(batch_size=None).fit(X, Y)
    assert at_once.max_iter_ == 48
    again = NCA(init=fitted.init_, max_iter=fitted.max_iter_, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(again.components_, fitted.components_)


@each
def test_steps_are_four_times_the_root(name: str) -> None:
    learner, _, samples, targets = CASES[name]
    fitted = learner(random_state=0).fit(samples, targets)
    assert fitted.max_iter_ == fitted.n_iter_ == int(4.0 * np.sqrt(len(samples)))


@each
@pytest.mark.parametrize("batch_size", [None, 64])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_origin_does_not_matter(name: str, batch_size: int | None) -> None:
    learner, _, samples, targets = CASES[name]
    samples = samples / samples.std(axis=0)
    fit = learner(init="identity", batch_size=batch_size, max_iter=10, random_state=0).fit
    here, far = (fit(samples + offset, targets).components_ for offset in (0.0, 1e7))
    np.testing.assert_allclose(far.T @ far, here.T @ here, rtol=1e-4, atol=1e-5)


def test_classes_that_are_apart_are_a_minimum() -> None:
    """The objective is rounding then, whose steps up and down are no reason for a warning."""
    samples = np.concatenate([X[:50], X[50:100] + 20.0])
    fitted = NCA(batch_size=None, max_iter=200).fit(samples, Y[:100])
    assert fitted.converged_
    assert 0.0 <= fitted.objective_ < 1e-10
