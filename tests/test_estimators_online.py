"""OASIS, LEGO and ITML: settings, attributes, invariances, and the paper's counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from calipers import ITML, LEGO, OASIS, datasets
from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.inputs import DataWarning
from calipers.evaluation import knn_error
from calipers.metric import factor
from calipers.triplets import DrawnTriplets, RowsInMemory
from data_folder import FOLDER, needs_data
from plain import project
from plain_online import pairs_of, plain_itml, plain_lego, plain_oasis
from walks import assert_same_matrix

X, Y = load_iris(return_X_y=True)
X = X + 1e-3 * np.random.default_rng(0).standard_normal(X.shape)  # no ties

LEARNERS: list[Any] = [OASIS, LEGO, ITML]
FROM_PAIRS: list[Any] = [LEGO, ITML]
each_learner = pytest.mark.parametrize("learner", LEARNERS)
each_pair_learner = pytest.mark.parametrize("learner", FROM_PAIRS)


def make(learner: Any, **settings: Any) -> Any:
    n_triplets = 60 if learner is ITML else 800
    return learner(**{"n_triplets": n_triplets, "random_state": 0, **settings})


def fit(learner: Any, *, rows: FloatArray = X, **settings: Any) -> Any:
    return make(learner, **settings).fit(rows, Y)


def metric(learner: Any, **settings: Any) -> FloatArray:
    M: FloatArray = fit(learner, **settings).get_mahalanobis_matrix()
    return M


def own_triplets(n: int = 400) -> IndexArray:
    rng = np.random.default_rng(0)
    return rng.permuted(np.tile(np.arange(150), (n, 1)), axis=1)[:, :3]


# Settings


CHANGES: list[tuple[Any, dict[str, Any]]] = [
    (OASIS, {"n_triplets": 700}),
    (OASIS, {"aggressiveness": 0.01}),
    (OASIS, {"n_neighbors": 4}),
    (OASIS, {"n_components": 2}),
    (OASIS, {"random_state": 1}),
    (LEGO, {"n_triplets": 700}),
    (LEGO, {"learning_rate": 0.5}),
    (LEGO, {"near_distance": 0.2}),
    (LEGO, {"far_distance": 8.0}),
    (LEGO, {"n_neighbors": 4}),
    (LEGO, {"n_components": 2}),
    (LEGO, {"random_state": 1}),
    (ITML, {"n_triplets": 50}),
    (ITML, {"slack_weight": 0.5}),
    (ITML, {"near_distance": 0.2}),
    (ITML, {"far_distance": 8.0}),
    (ITML, {"max_iter": 2}),
    (ITML, {"tol": 0.1}),
    (ITML, {"n_neighbors": 4}),
    (ITML, {"n_components": 2}),
    (ITML, {"random_state": 1}),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("learner", "change"), CHANGES)
def test_every_parameter_changes_something(learner: Any, change: dict[str, Any]) -> None:
    before, after = metric(learner), metric(learner, **change)
    assert np.linalg.norm(before - after) > 1e-6 * np.linalg.norm(before)


@each_learner
def test_every_parameter_is_in_the_table_above(learner: Any) -> None:
    changed = {name for changed, change in CHANGES if changed is learner for name in change}
    assert changed == learner().get_params().keys()


# From labels to metric: the streams of random numbers are those documented


def streams(seed: int) -> list[np.random.Generator]:
    entropy = np.random.RandomState(seed).randint(2**32, size=4, dtype=np.uint32).tolist()
    return [np.random.default_rng(s) for s in np.random.SeedSequence(entropy).spawn(3)]


def drawn(n: int, rng: np.random.Generator) -> IndexArray:
    return next(DrawnTriplets(RowsInMemory(X, Y), n, n_neighbors=1, rng=rng).portions(n))


def limits(rng: np.random.Generator) -> dict[str, float]:
    one = rng.integers(150, size=10_000)
    other = (one + 1 + rng.integers(149, size=10_000)) % 150
    near, far = np.percentile(np.sum((X[one] - X[other]) ** 2, axis=1), [5, 95])
    return {"near": float(near), "far": float(far)}


def test_oasis_is_the_plain_algorithm() -> None:
    fitted = fit(OASIS, random_state=3)
    run = plain_oasis(X, drawn(800, streams(3)[0]))
    assert fitted.n_updates_ == sum(run.updated)
    assert_same_matrix(fitted.similarity_, run.matrix)
    expected = project((run.matrix + run.matrix.T) / 2, np.inf)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), expected)
    np.testing.assert_allclose(fitted.components_, factor(expected), atol=1e-7)


def test_lego_is_the_plain_algorithm() -> None:
    fitted = fit(LEGO, random_state=3)
    triplet_rng, _, limit_rng = streams(3)
    found = limits(limit_rng)
    run = plain_lego(X, pairs_of(drawn(800, triplet_rng)), **found)
    assert fitted.near_distance_**2 == pytest.approx(found["near"])
    assert fitted.far_distance_**2 == pytest.approx(found["far"])
    assert fitted.n_updates_ == sum(run.updated)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), run.matrix)


def test_itml_is_the_plain_algorithm() -> None:
    fitted = fit(ITML, random_state=3)
    triplet_rng, _, limit_rng = streams(3)
    found, pairs = limits(limit_rng), pairs_of(drawn(60, triplet_rng))
    run = plain_itml(X, pairs, **found, gamma=1.0, passes=fitted.n_iter_)
    assert fitted.n_updates_ == sum(run.updated)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), run.M)
    np.testing.assert_allclose(fitted.change_curve_, run.changes, rtol=1e-6)
    assert run.changes[-1] <= 1e-3 < run.changes[-2]
    assert fitted.converged_


# Attributes


@each_learner
def test_fitted_attributes(learner: Any) -> None:
    fitted = fit(learner)
    assert fitted.components_.shape == (4, 4)
    assert fitted.n_updates_ > 0
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.mining_seconds_ > 0
    assert fitted.solve_seconds_ > 0
    assert fitted.notes_ == []
    assert (fitted.loss_curve_ >= 0).all()
    assert fitted.loss_curve_[0] > 0
    assert len(fitted.loss_curve_) == len(fitted.update_curve_)
    assert fitted.update_curve_[-1] == fitted.n_updates_
    if learner is OASIS:
        assert fitted.n_iter_ == fitted.triplet_curve_[-1] == 800
        assert len(fitted.triplet_curve_) == 100
    if learner is LEGO:
        assert fitted.n_iter_ == fitted.pair_curve_[-1] == 1600
        assert len(fitted.pair_curve_) == 100
    if learner is ITML:
        assert fitted.n_iter_ == len(fitted.loss_curve_) == len(fitted.change_curve_)
        assert fitted.loss_curve_[-1] < 0.7 * fitted.loss_curve_[0]


@each_learner
def test_fewer_components_are_the_first(learner: Any) -> None:
    whole = fit(learner).components_
    np.testing.assert_array_equal(fit(learner, n_components=2).components_, whole[:2])


@each_learner
def test_refitting_forgets(learner: Any) -> None:
    model = make(learner).fit(X[:, :2], Y)
    np.testing.assert_array_equal(model.fit(X, Y).components_, fit(learner).components_)


@each_learner
def test_a_metric_it_is(learner: Any) -> None:
    M = metric(learner)
    np.testing.assert_allclose(M, M.T, atol=1e-12)
    lowest = float(np.linalg.eigvalsh(M)[0])
    assert lowest > 0.0 if learner in FROM_PAIRS else lowest >= -1e-10 * np.linalg.norm(M)


def test_scores_of_oasis_are_its_similarities() -> None:
    fitted = fit(OASIS)
    pairs = np.stack([X[:75], X[75:]], axis=1)
    expected = [p @ fitted.similarity_ @ q for p, q in pairs]
    np.testing.assert_allclose(fitted.pair_score(pairs), expected)
    turned = fitted.pair_score(pairs[:, ::-1])
    assert not np.allclose(turned, expected, rtol=1e-3)  # W is not symmetric
    distances = [fitted.get_metric()(p, q) for p, q in pairs]
    np.testing.assert_allclose(fitted.pair_distance(pairs), distances)
    with pytest.raises(ValueError, match=r"pairs must have shape \(n_pairs, 2, 4\)"):
        fitted.pair_score(X)
    with pytest.raises(NotFittedError):
        OASIS().pair_score(pairs)


# Triplets and pairs of one's own


@each_learner
def test_own_triplets_are_taken_in_order(learner: Any) -> None:
    # more of such contradictory triplets make LEGO magnify rounding, of the plain loop too
    triplets = own_triplets(50 if learner is ITML else 100)
    fitted = make(learner, n_triplets=7).fit_triplets(X, triplets)
    assert not hasattr(fitted, "classes_")
    if learner is OASIS:
        assert_same_matrix(fitted.similarity_, plain_oasis(X, triplets).matrix)
        return
    found = limits(streams(0)[2])
    if learner is LEGO:
        expected = plain_lego(X, pairs_of(triplets), **found).matrix
    else:
        expected = plain_itml(X, pairs_of(triplets), **found, gamma=1.0, passes=fitted.n_iter_).M
    assert_same_matrix(fitted.get_mahalanobis_matrix(), expected)


@each_pair_learner
def test_pairs_of_triplets_are_the_triplets(learner: Any) -> None:
    triplets = own_triplets(50)
    pairs = pairs_of(triplets)
    by_pairs = make(learner).fit_pairs(X, pairs[:, :2], pairs[:, 2])
    by_triplets = make(learner).fit_triplets(X, triplets)
    np.testing.assert_allclose(by_pairs.components_, by_triplets.components_, rtol=1e-9, atol=1e-12)
    assert by_pairs.n_updates_ == by_triplets.n_updates_
    assert not hasattr(by_pairs, "classes_")


@each_pair_learner
@pytest.mark.parametrize("signs", [[1, -1], [1.0, -1.0], np.array([1, -1], dtype=np.int8)])
def test_pairs_come_to_their_limits(learner: Any, signs: Any) -> None:
    """With endless force the two pairs are as far apart as was asked for."""
    force = {"learning_rate": 1e9} if learner is LEGO else {"slack_weight": 1e9, "tol": 1e-9}
    rows = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    fitted = make(learner, near_distance=0.5, far_distance=3.0, **force).fit_pairs(
        rows, [[0, 1], [0, 2]], signs
    )
    assert (fitted.near_distance_, fitted.far_distance_) == (0.5, 3.0)
    expected = np.diag([0.5**2 / 2.0**2, 3.0**2])
    np.testing.assert_allclose(fitted.get_mahalanobis_matrix(), expected, rtol=1e-6, atol=1e-6)


# Invariances


@each_learner
def test_rotation(learner: Any) -> None:
    Q = ortho_group.rvs(4, random_state=0)
    rotated, plain = fit(learner, rows=X @ Q), fit(learner)
    assert rotated.n_updates_ == plain.n_updates_
    expected = Q.T @ plain.get_mahalanobis_matrix() @ Q
    assert_same_matrix(rotated.get_mahalanobis_matrix(), expected, 1e-7)


@each_learner
def test_translation_matters_to_inner_products_only(learner: Any) -> None:
    shifted, plain = fit(learner, rows=X + np.arange(4.0)), fit(learner)
    if learner is OASIS:
        assert not np.allclose(shifted.similarity_, plain.similarity_, rtol=1e-3)
        return
    assert shifted.n_updates_ == plain.n_updates_
    expected = plain.get_mahalanobis_matrix()
    assert_same_matrix(shifted.get_mahalanobis_matrix(), expected, 1e-7)


@pytest.mark.parametrize("unit", [1e-70, 1e-8, 1e-3, 1e3, 1e70])
def test_units_do_not_matter_to_itml(unit: float) -> None:
    """The limits are in the units of X, and the divergence does not know of units."""
    scaled = fit(ITML, rows=unit * X)
    assert scaled.n_updates_ == fit(ITML).n_updates_
    assert_same_matrix(scaled.get_mahalanobis_matrix(), metric(ITML), 1e-6)


@pytest.mark.parametrize("unit", [1e-74, 1e-30, 1e30, 1e74])
@each_learner
def test_extreme_scales_are_survived(unit: float, learner: Any) -> None:
    assert np.isfinite(fit(learner, rows=unit * X).components_).all()


# Determinism


@each_learner
def test_same_seed_same_bits(learner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    components = []
    for n_threads in ("1", "2", "1"):
        monkeypatch.setenv("CALIPERS_NUM_THREADS", n_threads)
        components.append(fit(learner).components_)
    np.testing.assert_array_equal(components[0], components[1])
    np.testing.assert_array_equal(components[0], components[2])
    assert not np.array_equal(components[0], fit(learner, random_state=1).components_)


# Odd data


@each_learner
def test_repeated_rows_and_label_noise(learner: Any) -> None:
    rows, labels = np.repeat(X[:20], 2, axis=0), np.arange(40) % 2
    fitted = make(learner).fit(rows, labels)
    assert np.isfinite(fitted.components_).all()
    assert fitted.notes_ == ["20 of 40 rows repeat another row: they are neighbours at distance 0."]


@each_learner
def test_constant_features_are_as_at_the_start(learner: Any) -> None:
    rows = X.copy()
    rows[:, 1] = 0.0
    M = metric(learner, rows=rows)
    np.testing.assert_allclose(M[1], [0.0, 1.0, 0.0, 0.0], atol=1e-12)


@each_learner
def test_a_class_of_one_row(learner: Any) -> None:
    labels = Y.copy()
    labels[0] = 7
    with pytest.warns(DataWarning, match="1 of 4 classes have one row only"):
        make(learner).fit(X, labels)


def test_too_few_passes_are_said() -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        fitted = fit(ITML, max_iter=2)
    assert str(caught[0].message).startswith(
        "ITML stopped after max_iter=2 passes, while the dual variables still changed by "
    )
    assert str(caught[0].message).endswith("raise max_iter or tol, or lower slack_weight.")
    assert not fitted.converged_
    assert fitted.n_iter_ == 2


@pytest.mark.parametrize("how", ["fit", "fit_triplets", "fit_pairs"])
def test_the_warning_points_at_the_call(how: str) -> None:
    given = {
        "fit": (Y,),
        "fit_triplets": (own_triplets(40),),
        "fit_pairs": (own_triplets(40)[:, :2], np.arange(40) % 2 * 2 - 1),
    }[how]
    with pytest.warns(ConvergenceWarning) as caught:
        getattr(make(ITML, max_iter=1), how)(X, *given)
    assert caught[0].filename == __file__


# From end to end


@each_learner
def test_noise_is_found_out(learner: Any) -> None:
    """Three features tell the classes apart, ten louder ones do not."""
    euclidean, learned = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        labels = rng.integers(3, size=400)
        telling = 3.0 * np.eye(3)[labels] + 0.7 * rng.standard_normal((400, 3))
        rows = np.hstack([telling, 2.0 * rng.standard_normal((400, 10))])
        model = learner(n_triplets=200 if learner is ITML else 5000, random_state=0)
        images = model.fit(rows[::2], labels[::2]).transform(rows)
        euclidean.append(knn_error(rows[::2], labels[::2], rows[1::2], labels[1::2]))
        learned.append(knn_error(images[::2], labels[::2], images[1::2], labels[1::2]))
    assert np.mean(learned) < 0.5 * np.mean(euclidean)


@needs_data
@pytest.mark.parametrize(
    ("name", "n_splits", "published"), [("tdt30", 3, 2285), ("connect4", 1, 69865)]
)
def test_the_papers_counts_of_oasis(name: str, n_splits: int, published: int) -> None:
    """The paper's are means of ten splits; single ones of tdt30 differ by several per cent."""
    counts = []
    for split in range(n_splits):
        data = datasets.load(name, data_dir=FOLDER, split=split)
        counts.append(OASIS(random_state=split).fit(data.X_train, data.y_train).n_updates_)
    assert np.mean(counts) == pytest.approx(published, rel=0.05)
