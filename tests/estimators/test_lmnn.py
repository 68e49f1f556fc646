"""LMNN: the descent, what it says, and data that are odd to it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from calipers.estimators.lmnn import LMNN
from calipers.notices import DataWarning
from reference.lmnn_by_definition import X, Y, by_definition, data, fit, problem
from watch import Watch

# The descent


def test_ever_lower_and_exact_at_the_end() -> None:
    rows, labels = data(60, 5)
    fitted = fit(rows, labels)
    assert fitted.converged_
    assert (np.diff(fitted.objective_curve_) < 0).all()
    assert len(fitted.objective_curve_) == fitted.n_updates_ + 1 == fitted.n_iter_ + 1 > 5
    assert fitted.objective_curve_[-1] == fitted.objective_
    M = fitted.get_mahalanobis_matrix()
    assert np.linalg.eigvalsh(M)[0] >= -1e-10 * np.linalg.norm(M)
    objective, _, n_active = by_definition(M, rows, labels)
    assert fitted.objective_ == pytest.approx(objective, rel=1e-9)
    assert abs(fitted.n_active_ - n_active) <= 2  # those at a kink may differ by rounding


def test_start_and_path_do_not_matter() -> None:
    """Scale, rotation and origin of the rows change the path, not the minimum."""
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    expected = fit(tol=1e-8).objective_
    for rows in (1e6 * X, 1e-6 * X, X @ rotation, X + 50.0):
        assert fit(rows, tol=1e-8).objective_ == pytest.approx(expected, rel=1e-5)


def test_no_more_rows_than_features() -> None:
    rows, labels = data(12, 30)
    fitted = fit(rows, labels)
    M = fitted.get_mahalanobis_matrix()
    objective, _, _ = by_definition(M, rows, labels)
    assert fitted.objective_ == pytest.approx(objective, rel=1e-9)
    assert np.linalg.matrix_rank(M) > 12  # outside the span of the rows it is as at the start


# Settings and attributes


def test_too_few_iterations_are_said() -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        fitted = LMNN(max_iter=2).fit(X, Y)
    assert [str(warning.message) for warning in caught] == [
        "LMNN stopped after max_iter=2 steps, while the objective still fell: raise max_iter or "
        "tol."
    ]
    assert caught[0].filename == __file__
    assert not fitted.converged_
    assert fitted.n_iter_ == 2
    assert (np.diff(fitted.objective_curve_) < 0).all()


def test_callbacks_see_every_step() -> None:
    watch = Watch()
    fitted = LMNN().set_callbacks(watch).fit(X, Y)
    assert len(watch.seen) == fitted.n_iter_ + 1  # the whole fit is a task, too
    objectives = [problem().at(L).objective for L in watch.seen]
    np.testing.assert_allclose(objectives[:-1], fitted.objective_curve_[1:], rtol=1e-9)
    np.testing.assert_array_equal(watch.seen[-1], fitted.components_)
    np.testing.assert_array_equal(fitted.components_, fit().components_)


# Odd data


def test_small_classes_have_fewer_targets() -> None:
    labels = np.where(np.arange(30) < 3, 7, Y)
    fitted = LMNN().fit(X, labels)
    objective, _, _ = by_definition(fitted.get_mahalanobis_matrix(), X, labels)
    assert fitted.objective_ == pytest.approx(objective, rel=1e-9)


def test_singletons_are_impostors_only() -> None:
    labels = np.where(np.arange(30) < 2, 100 + np.arange(30), Y)
    with pytest.warns(DataWarning, match=r"^2 of 5 classes have one sample only \(100, 101\)"):
        fitted = fit(X, labels)
    objective, _, _ = by_definition(fitted.get_mahalanobis_matrix(), X, labels)
    assert fitted.objective_ == pytest.approx(objective, rel=1e-9)


def test_constant_and_repeated_features() -> None:
    fitted = fit(np.column_stack([X, np.full(30, 3.0), X[:, 0]]))
    assert fitted.converged_
    assert fitted.objective_ <= fit().objective_ * (1 + 1e-3)
    assert len(fitted.notes_) == 1
