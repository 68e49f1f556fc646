"""LMNN: the objective against its definition, the descent, and the contract."""

from __future__ import annotations

import pickle
import warnings
from typing import Any, cast

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators import large_margin
from calipers.estimators.inputs import DataWarning
from calipers.estimators.large_margin import Finder, Frame, LargeMargin
from calipers.estimators.lmnn import LMNN
from calipers.metric import factor


def data(n: int = 30, d: int = 4, seed: int = 0) -> tuple[FloatArray, IndexArray]:
    """Three classes that overlap."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return rng.standard_normal((n, d)) + 0.7 * labels[:, None], labels


X, Y = data()
WINE, WINE_Y = load_wine(return_X_y=True)


def problem(rows: FloatArray = X, labels: IndexArray = Y, **settings: Any) -> LargeMargin:
    return LargeMargin(rows, labels, **{"n_neighbors": 3, "push_weight": 0.5, **settings})


def metrics(n: int, d: int = 4, seed: int = 0) -> list[FloatArray]:
    roots = np.random.default_rng(seed).standard_normal((n, d, d))
    return [root.T @ root for root in roots]


def fit(rows: FloatArray = X, labels: Any = Y, **settings: Any) -> LMNN:
    return cast(LMNN, LMNN(**settings).fit(rows, labels))


def by_definition(
    M: FloatArray, rows: FloatArray, labels: IndexArray, k: int = 3, mu: float = 0.5
) -> tuple[float, FloatArray, int]:
    """Objective, its derivative by M, and the violated triplets, in a triple loop."""
    n = len(rows)
    objective, G, n_active = 0.0, np.zeros_like(M), 0
    for i in range(n):
        same = [j for j in range(n) if labels[j] == labels[i] and j != i]
        same.sort(key=lambda j: (float(np.sum((rows[i] - rows[j]) ** 2)), j))
        for j in same[:k]:
            near = rows[i] - rows[j]
            objective += (1 - mu) * float(near @ M @ near)
            G += (1 - mu) * np.outer(near, near)
            for far in rows[labels != labels[i]]:
                difference = rows[i] - far
                hinge = 1 + float(near @ M @ near) - float(difference @ M @ difference)
                if hinge > 0:
                    objective += mu * hinge
                    G += mu * (np.outer(near, near) - np.outer(difference, difference))
                    n_active += 1
    return objective, G, n_active


# The objective


@pytest.mark.parametrize("mu", [0.5, 0.1, 1.0])
@pytest.mark.parametrize("k", [1, 3, 9])
def test_objective_is_the_definition(k: int, mu: float) -> None:
    for M in metrics(4):
        objective, G, n_active = by_definition(M, X, Y, k, mu)
        L = factor(M)
        asked = problem(n_neighbors=k, push_weight=mu)
        value = asked.at(L)
        assert value.objective == pytest.approx(objective, rel=1e-12)
        assert value.n_active == n_active
        np.testing.assert_allclose(asked.gradient(value), 2 * L @ G, rtol=1e-9, atol=1e-8)


def test_objective_of_more_coordinates_than_are_summed_at_once() -> None:
    rows, labels = data(30, 70)
    for M in (0.01 * np.eye(70), *(0.001 * M for M in metrics(2, 70))):
        objective, _, n_active = by_definition(M, rows, labels)
        value = problem(rows, labels).at(factor(M))
        assert value.objective == pytest.approx(objective, rel=1e-10)
        assert value.n_active == n_active > 0


def test_objective_does_not_depend_on_coordinates_or_origin() -> None:
    asked, moved = problem(), problem(X + 2.0**20)
    for M in metrics(3):
        far, near = moved.at(factor(M)), asked.at(factor(M))
        np.testing.assert_allclose(moved.gradient(far), asked.gradient(near), rtol=1e-7, atol=1e-6)
    frame = Frame.of(moved)
    moved.change_coordinates(frame.T)
    for M in metrics(3):
        L = factor(M) @ np.linalg.inv(frame.T).T
        assert moved.at(L).objective == pytest.approx(asked.at(factor(M)).objective, rel=1e-8)
        np.testing.assert_allclose(frame.metric(L, 1.0), M, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(frame.metric(frame.identity, 1.0), np.eye(4), atol=1e-12)


def test_gradient_is_the_slope() -> None:
    rng = np.random.default_rng(1)
    asked = problem()
    for _ in range(10):
        L, direction = rng.standard_normal((2, 3, 4))
        up, down = asked.at(L + 1e-6 * direction), asked.at(L - 1e-6 * direction)
        assert up.n_active == down.n_active  # no kink between
        slope = float(np.vdot(asked.gradient(asked.at(L)), direction))
        assert (up.objective - down.objective) / 2e-6 == pytest.approx(slope, rel=1e-5)


def test_objective_is_convex_in_the_metric() -> None:
    asked = problem()
    ends = [(M, asked.at(factor(M)).objective) for M in metrics(8)]
    for (A, at_a), (B, at_b) in zip(ends[::2], ends[1::2], strict=True):
        for share in (0.1, 0.5, 0.9):
            between = asked.at(factor(share * A + (1 - share) * B)).objective
            assert between <= share * at_a + (1 - share) * at_b + 1e-9


def walk(asked: LargeMargin, n_steps: int = 40) -> list[tuple[float, int]]:
    rng = np.random.default_rng(0)
    L, values = np.eye(asked.X.shape[1]), []
    for step in range(n_steps):
        value = asked.at(L)
        values.append((value.objective, value.n_active))
        L = L + (0.3 if step % 7 == 0 else 0.005) * rng.standard_normal(L.shape)
    return values


def test_lists_are_used_again_and_leave_no_impostor_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, labels = data(300, 5)
    found: list[slice] = []
    find = Finder.find

    def counted(self: Finder, block: slice) -> Any:
        found.append(block)
        return find(self, block)

    monkeypatch.setattr(Finder, "find", counted)
    with_lists = walk(problem(rows, labels))
    n_found = len(found)
    monkeypatch.setattr(large_margin, "_KEPT_PAIRS", 0)
    assert walk(problem(rows, labels)) == with_lists
    n_blocks = len(problem(rows, labels).blocks)
    assert n_blocks == 3
    assert len(found) - n_found == 40 * n_blocks
    assert n_found < 0.75 * 40 * n_blocks


def test_a_radius_that_grows_while_its_row_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first row's target moves away, until a row that stays is within the radius."""
    monkeypatch.setattr(large_margin, "_SEARCHED_PER_WEIGHED", 0)  # lists end for no other reason
    rows = np.array([[0.0, 0.0], [0.5, 0.0], [-0.5, 0.0], [0.0, 1.4], [0.0, -1.4]])
    labels = np.array([0, 0, 1, 1, 1])
    asked = problem(rows, labels, n_neighbors=1)
    for stretch in (1.0, 1.6, 2.0):
        L = np.diag([stretch, 1.0])
        value, expected = asked.at(L), problem(rows, labels, n_neighbors=1).at(L)
        assert (value.objective, value.n_active) == (expected.objective, expected.n_active)


def test_finder_finds_all_within_reach_and_few_beyond() -> None:
    rows, labels = data(200, 6)
    order = np.argsort(labels, kind="stable")
    rows, labels = rows[order], labels[order]
    own = np.stack([np.searchsorted(labels, labels, side) for side in ("left", "right")], axis=1)
    distance = np.sqrt(np.sum((rows[:, None] - rows) ** 2, axis=2))
    reach, allowed = np.quantile(distance, 0.1, axis=1), 0.2 * np.linalg.norm(rows, axis=1)
    reach[7] = 0.0
    for unit in (1e-30, 1.0, 1e30):
        finder = Finder(unit * rows, own, unit * reach, unit * allowed)
        starts, columns = finder.find(slice(0, 200))
        for i in range(200):
            listed = columns[starts[i] : starts[i + 1]].tolist()
            if reach[i] == 0.0:
                assert not listed
                continue
            beyond = np.where(labels != labels[i], distance[i] - reach[i] - allowed, np.inf)
            assert set(np.flatnonzero(beyond < 0)) <= set(listed)
            assert set(listed) <= set(np.flatnonzero(beyond < 1e-3))


# The descent


def test_ever_lower_and_exact_at_the_end() -> None:
    rows, labels = data(150, 5)
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


def projected_gradient(rows: FloatArray, labels: IndexArray, n_steps: int) -> float:
    """The textbook's way: in M, a step is taken if the objective does not rise."""
    M = np.eye(rows.shape[1])
    objective, G, _ = by_definition(M, rows, labels)
    rate = 1e-3 * float(np.linalg.norm(M) / np.linalg.norm(G))
    for _ in range(n_steps):
        values, vectors = np.linalg.eigh(M - rate * G)
        other = (vectors * np.maximum(values, 0.0)) @ vectors.T
        other_objective, other_G, _ = by_definition(other, rows, labels)
        if other_objective <= objective:
            M, objective, G = other, other_objective, other_G
            rate *= 1.2
        else:
            rate *= 0.5
    return objective


def test_as_low_as_projected_gradients() -> None:
    expected = projected_gradient(X, Y, 100)
    assert fit(tol=1e-7).objective_ <= expected * (1 + 1e-6)
    assert fit().objective_ <= expected * (1 + 1e-3)


def test_start_and_path_do_not_matter() -> None:
    """Scale, rotation and origin of the rows change the path, not the minimum."""
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    expected = fit(tol=1e-8).objective_
    for rows in (1e6 * X, 1e-6 * X, X @ rotation, X + 50.0):
        assert fit(rows, tol=1e-8).objective_ == pytest.approx(expected, rel=1e-5)


def test_features_of_very_different_scales() -> None:
    fitted = fit(WINE, WINE_Y)
    assert fitted.n_iter_ < 100
    assert fitted.objective_ == pytest.approx(fit(WINE, WINE_Y, tol=1e-8).objective_, rel=1e-3)


def test_no_more_rows_than_features() -> None:
    rows, labels = data(12, 30)
    fitted = fit(rows, labels)
    M = fitted.get_mahalanobis_matrix()
    objective, _, _ = by_definition(M, rows, labels)
    assert fitted.objective_ == pytest.approx(objective, rel=1e-9)
    assert np.linalg.matrix_rank(M) > 12  # outside the span of the rows it is as at the start


def test_separable_classes_with_all_weight_on_the_push() -> None:
    rows = np.array([[0.0], [0.1], [5.0], [5.1]])
    fitted = fit(rows, [0, 0, 1, 1], n_neighbors=1, push_weight=1.0)
    assert fitted.objective_ == 0.0
    assert fitted.n_active_ == 0
    assert fitted.converged_


def test_all_targets_at_distance_zero() -> None:
    rows = np.repeat(np.arange(6.0)[:, None] * [1.0, 2.0], 2, axis=0)
    fitted = fit(rows, np.repeat([0, 1, 0, 1, 0, 1], 2), n_neighbors=1)
    assert fitted.objective_ == pytest.approx(0.0, abs=1e-9)
    assert np.isfinite(fitted.components_).all()


# Settings and attributes


@pytest.mark.parametrize(
    "change",
    [{"n_neighbors": 2}, {"push_weight": 0.2}, {"max_iter": 3}, {"tol": 0.1}, {"n_components": 2}],
)
def test_every_parameter_changes_something(change: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        M, other = fit().get_mahalanobis_matrix(), fit(**change).get_mahalanobis_matrix()
    assert np.linalg.norm(M - other) > 1e-6 * np.linalg.norm(M)


def test_fewer_components_are_the_first() -> None:
    np.testing.assert_array_equal(fit(n_components=2).components_, fit().components_[:2])


def test_fitted_attributes() -> None:
    fitted = fit()
    assert fitted.components_.shape == (4, 4)
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.mining_seconds_ > 0
    assert fitted.solve_seconds_ > 0
    assert fitted.notes_ == []


def test_too_few_iterations_are_said() -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        fitted = fit(max_iter=2)
    assert [str(warning.message) for warning in caught] == [
        "LMNN stopped after max_iter=2 steps, while the objective still fell: raise max_iter or "
        "tol."
    ]
    assert caught[0].filename == __file__
    assert not fitted.converged_
    assert fitted.n_iter_ == 2
    assert (np.diff(fitted.objective_curve_) < 0).all()


def test_same_bits_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, labels = data(400, 6)
    bits = []
    for n_threads in ("1", "2", "1"):
        monkeypatch.setenv("CALIPERS_NUM_THREADS", n_threads)
        bits.append(fit(rows, labels).components_.tobytes())
    assert bits[0] == bits[1] == bits[2]


def test_float32_rows_are_taken_for_what_they_are() -> None:
    rows = X.astype(np.float32)
    expected = fit(rows.astype(np.float64)).components_
    np.testing.assert_array_equal(LMNN().fit(rows, Y).components_, expected)


# Bad input


def alone(n: int) -> IndexArray:
    """Labels of which the first n are classes of their own."""
    return np.where(np.arange(30) < n, 100 + np.arange(30), Y)


REFUSED: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "length": (
        X,
        Y[:29],
        ValueError,
        "Found input variables with inconsistent numbers of samples: [30, 29]",
    ),
    "no class repeats": (
        X,
        np.arange(30),
        ValueError,
        "LMNN needs a class with at least 2 rows, but each of the 30 rows has a class of its own: "
        "pass labels that repeat (classes, not targets or ids).",
    ),
    "fewer rows than neighbours": (
        X[:3],
        [0, 0, 1],
        ValueError,
        "LMNN was asked for n_neighbors=3 nearest rows, but X has 3 rows, 2 beside the anchor: "
        "lower n_neighbors to at most 2, or pass more rows.",
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
    "tiny differences": (
        np.column_stack([np.ones(30), 1e-100 * Y]),
        Y,
        ValueError,
        "Rows of X differ by 2e-100 only, so that fourth powers vanish in float64: multiply X so "
        "that they differ by more than 1e-75, without features that are constant and large.",
    ),
    "sparse": (
        sparse.csr_array(X),
        Y,
        TypeError,
        "LMNN needs a dense X, got a sparse csr_array of shape (30, 4): reduce it first, e.g. "
        "with sklearn.decomposition.TruncatedSVD, or pass X.toarray().",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    rows, labels, error, sentence = REFUSED[case]
    with pytest.raises(error) as caught:
        fit(rows, labels)
    assert str(caught.value) == sentence


def test_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^LMNN needs rows of at least 2 classes, got 1 class"):
        fit(X, np.zeros(30))


@pytest.mark.parametrize("kind", [np.nan, np.inf])
def test_not_finite(kind: float) -> None:
    rows = X.copy()
    rows[3, 1] = kind
    with pytest.raises(ValueError, match=r"^Input X contains (NaN|infinity)"):
        fit(rows)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_neighbors": 0}, "an int in the range [1, inf). Got 0 instead."),
        ({"push_weight": 0.0}, "a float in the range (0.0, 1.0]. Got 0.0 instead."),
        ({"push_weight": 1.5}, "a float in the range (0.0, 1.0]. Got 1.5 instead."),
        ({"max_iter": 0}, "an int in the range [1, inf). Got 0 instead."),
        ({"tol": -1.0}, "a float in the range [0.0, inf). Got -1.0 instead."),
        ({"n_components": 0}, "an int in the range [1, inf) or None. Got 0 instead."),
    ],
)
def test_refused_settings(settings: dict[str, Any], sentence: str) -> None:
    (name,) = settings
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        fit(**settings)
    assert str(caught.value) == f"The {name!r} parameter of LMNN must be {sentence}"


def test_more_components_than_features() -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        fit(n_components=5)
    assert str(caught.value) == (
        "LMNN was asked for n_components=5, but X has 4 features: ask for at most 4, or None for "
        "all."
    )


def test_small_classes_have_fewer_targets_and_it_is_said_once() -> None:
    labels = np.where(np.arange(30) < 3, 7, Y)
    with pytest.warns(DataWarning) as caught:
        fitted = fit(X, labels)
    assert [str(warning.message) for warning in caught] == [
        "1 of 4 classes have no more than n_neighbors=3 rows (7): their rows have all others of "
        "the class as targets."
    ]
    assert caught[0].filename == __file__
    objective, _, _ = by_definition(fitted.get_mahalanobis_matrix(), X, labels)
    assert fitted.objective_ == pytest.approx(objective, rel=1e-9)


def test_classes_of_one_row_are_impostors_only() -> None:
    with pytest.warns(DataWarning) as caught:
        fitted = fit(X, alone(2))
    assert [str(warning.message) for warning in caught] == [
        "2 of 5 classes have one row only (100, 101): they have no near row, so they serve as far "
        "rows only."
    ]
    objective, _, _ = by_definition(fitted.get_mahalanobis_matrix(), X, alone(2))
    assert fitted.objective_ == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-74, 1e-30, 1e30, 1e74])
def test_extreme_scales(unit: float) -> None:
    plain, scaled = fit(), fit(unit * X)
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-4)
    assert np.isfinite(scaled.components_).all()


def test_constant_and_repeated_features() -> None:
    rows = np.column_stack([X, np.full(30, 3.0), X[:, 0]])
    fitted = fit(rows)
    assert fitted.converged_
    assert fitted.objective_ <= fit().objective_ * (1 + 1e-3)
    assert len(fitted.notes_) == 1


# The contract


@parametrize_with_checks([LMNN()])  # type: ignore[untyped-decorator]
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_pipeline() -> None:
    model = make_pipeline(LMNN(), KNeighborsClassifier(3)).fit(WINE[::2], WINE_Y[::2])
    plain = KNeighborsClassifier(3).fit(WINE[::2], WINE_Y[::2])
    assert model.score(WINE[1::2], WINE_Y[1::2]) > plain.score(WINE[1::2], WINE_Y[1::2]) + 0.15


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library: str) -> None:
    module = pytest.importorskip(library)
    frame = module.DataFrame({name: X[:, a] for a, name in enumerate("pqrs")})
    model = LMNN().set_output(transform=library).fit(frame, Y)
    images = model.transform(frame)
    assert isinstance(images, module.DataFrame)
    assert list(images.columns) == ["lmnn0", "lmnn1", "lmnn2", "lmnn3"]
    assert model.feature_names_in_.tolist() == list("pqrs")
    np.testing.assert_allclose(images.to_numpy(), fit().transform(X))


def test_pickle_and_clone() -> None:
    fitted = fit(push_weight=0.3)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    fresh = clone(fitted)
    assert not hasattr(fresh, "components_")
    np.testing.assert_array_equal(fresh.fit(X, Y).components_, fitted.components_)


class Watch:
    """A callback that keeps the metric of every step, and stops after some."""

    def __init__(self, stop_after: int = 10**9) -> None:
        self.stop_after = stop_after
        self.seen: list[FloatArray] = []

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> bool:
        self.seen.append(fitted_estimator.components_)
        return len(self.seen) >= self.stop_after


def test_callbacks_see_every_step() -> None:
    watch = Watch()
    fitted = LMNN().set_callbacks(watch).fit(X, Y)
    assert len(watch.seen) == fitted.n_iter_ + 1  # the whole fit is a task, too
    objectives = [problem().at(L).objective for L in watch.seen]
    np.testing.assert_allclose(objectives[:-1], fitted.objective_curve_[1:], rtol=1e-9)
    np.testing.assert_array_equal(watch.seen[-1], fitted.components_)
    np.testing.assert_array_equal(fitted.components_, fit().components_)


def test_a_callback_may_stop() -> None:
    fitted = LMNN().set_callbacks(Watch(stop_after=3)).fit(X, Y)  # and there is no warning
    assert fitted.n_iter_ == 3
    assert not fitted.converged_
    np.testing.assert_array_equal(fitted.objective_curve_, fit().objective_curve_[:4])


def test_iris_is_separated() -> None:
    rows, labels = load_iris(return_X_y=True)
    model = LMNN().fit(rows, labels)
    images = model.transform(rows)
    assert KNeighborsClassifier(3).fit(images, labels).score(images, labels) > 0.96
