"""scikit-learn's contract: its own checks, and the company estimators keep."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from calipers import ITML, LEGO, OASIS, SPML, TripletSGD
from watch import Watch

X, Y = load_iris(return_X_y=True)


def small(**settings: Any) -> TripletSGD:
    return TripletSGD(**{"n_triplets": 500, "random_state": 0, **settings})


LEARNERS: list[Any] = [TripletSGD, SPML, OASIS, LEGO, ITML]
each_learner = pytest.mark.parametrize("learner", LEARNERS)


def little(learner: Any, **settings: Any) -> Any:
    """Any learner, with little to do."""
    n_triplets = 50 if learner is ITML else 500
    return learner(**{"n_triplets": n_triplets, "random_state": 0, **settings})


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        TripletSGD(n_triplets=200),
        TripletSGD(n_triplets=200, projection="once"),
        TripletSGD(n_triplets=200, projection="never"),
        SPML(n_triplets=200),
        OASIS(n_triplets=200),
        LEGO(n_triplets=200),
        ITML(n_triplets=20),
    ]
)
def test_scikit_learns_own_checks(estimator: Any, check: Callable[..., None]) -> None:
    check(estimator)


@each_learner
def test_pipeline(learner: Any) -> None:
    model = make_pipeline(StandardScaler(), little(learner), KNeighborsClassifier(3)).fit(X, Y)
    assert model.score(X, Y) > 0.9


def test_grid_search_is_the_same_for_any_number_of_jobs() -> None:
    model = make_pipeline(small(), KNeighborsClassifier(3))
    grid = {"tripletsgd__learning_rate": [0.1, 1.0], "tripletsgd__n_components": [1, None]}
    with_one, with_two = (GridSearchCV(model, grid, cv=3, n_jobs=n).fit(X, Y) for n in (1, 2))
    scores = with_one.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(scores, with_two.cv_results_["mean_test_score"])
    assert with_one.best_score_ > 0.9
    np.testing.assert_array_equal(
        with_one.best_estimator_[0].components_, with_two.best_estimator_[0].components_
    )


def test_clone_and_pickle() -> None:
    fitted = small(method="hr-sgd", tau_max=5.0).fit(X, Y)
    again = clone(fitted)
    assert again.get_params() == fitted.get_params()
    assert not hasattr(again, "components_")
    np.testing.assert_array_equal(again.fit(X, Y).components_, fitted.components_)
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(loaded.transform(X), fitted.transform(X))
    assert loaded.theory() == fitted.theory()


@each_learner
def test_clone_and_pickle_of_each(learner: Any) -> None:
    fitted = little(learner, n_components=3).fit(X, Y)
    again = clone(fitted)
    assert again.get_params() == fitted.get_params()
    assert not hasattr(again, "components_")
    np.testing.assert_array_equal(again.fit(X, Y).components_, fitted.components_)
    loaded = pickle.loads(pickle.dumps(fitted))
    pairs = np.stack([X[:75], X[75:]], axis=1)
    np.testing.assert_array_equal(loaded.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(loaded.pair_score(pairs), fitted.pair_score(pairs))


def test_constructor_stores_and_does_nothing() -> None:
    odd = TripletSGD("no such method", n_triplets=-1, learning_rate="?")  # type: ignore[arg-type]
    assert odd.n_triplets == -1
    assert vars(odd).keys() == odd.get_params().keys()


@each_learner
@pytest.mark.parametrize("n_components", [None, 2])
def test_output_as_a_frame(n_components: int | None, learner: Any) -> None:
    names = [f"{learner.__name__.lower()}{i}" for i in range(4)][:n_components]
    expected = little(learner, n_components=n_components).fit(X, Y).transform(X)
    for kind, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        model = little(learner, n_components=n_components).set_output(transform=kind)
        result = model.fit_transform(X, Y)
        assert isinstance(result, frame)
        assert list(result.columns) == names
        np.testing.assert_allclose(result.to_numpy(), expected)
        assert model.get_feature_names_out().tolist() == names


def test_input_as_a_frame() -> None:
    columns = ["a", "b", "c", "d"]
    expected = small().fit(X, Y)
    for given in (pd.DataFrame(X, columns=columns), pl.DataFrame(X, schema=columns)):
        fitted = small().fit(given, pd.Series(Y) if isinstance(given, pd.DataFrame) else Y)
        assert fitted.feature_names_in_.tolist() == columns
        np.testing.assert_array_equal(fitted.components_, expected.components_)
        np.testing.assert_array_equal(fitted.transform(given), expected.transform(X))
    frame = pd.DataFrame(X, columns=columns)
    with pytest.raises(ValueError, match="The feature names should match those"):
        small().fit(frame, Y).transform(frame[columns[::-1]])


def test_frames_with_an_index_of_their_own() -> None:
    order = np.random.default_rng(0).permutation(len(X))
    frame, labels = pd.DataFrame(X).iloc[order], pd.Series(Y, dtype="category").iloc[order]
    frame.columns = frame.columns.astype(str)
    expected = small().fit(X[order], Y[order])
    np.testing.assert_array_equal(small().fit(frame, labels).components_, expected.components_)


@each_learner
def test_progress_bar(capsys: pytest.CaptureFixture[str], learner: Any) -> None:
    little(learner).set_callbacks(ProgressBar()).fit(X, Y)
    shown = capsys.readouterr().out
    assert learner.__name__ in shown
    assert "100%" in shown


def neighbours_score(metric: Any, X: Any, y: Any) -> float:
    images = metric.transform(X)
    predicted = KNeighborsClassifier(3).fit(images[::2], y[::2]).predict(images[1::2])
    return float(accuracy_score(y[1::2], predicted))


def test_scoring_monitor_sees_the_metric_as_it_grows() -> None:
    monitor = ScoringMonitor(scoring={"accuracy": neighbours_score})
    fitted = small(n_triplets=1000, batch_size=10, guard=False).set_callbacks(monitor).fit(X, Y)
    rows = monitor.get_logs().data
    assert len(rows) == 101  # a row for each of 100 portions and one for the whole
    assert rows[-1]["accuracy"] == neighbours_score(fitted, X, Y)
    assert len({row["accuracy"] for row in rows}) > 1


@pytest.mark.parametrize("method", ["as-sgd", "ha-sgd"])
def test_a_callback_may_stop_the_fit(method: str) -> None:
    watch = Watch(stop_after=7)
    stopped = small(method=method, n_triplets=1000).set_callbacks(watch).fit(X, Y)
    assert stopped.triplet_curve_.tolist() == [10, 20, 30, 40, 50, 60, 70]
    assert len(stopped.loss_curve_) == len(stopped.update_curve_) == 7
    whole = Watch()
    finished = small(method=method, n_triplets=1000).set_callbacks(whole).fit(X, Y)
    assert finished.n_iter_ * finished.theory().batch_size == 1000
    np.testing.assert_allclose(stopped.components_, whole.seen[6], rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(stopped.update_curve_, finished.update_curve_[:7])


@each_learner
def test_a_callback_may_stop_each(learner: Any) -> None:
    whole, watch = Watch(), Watch(stop_after=3)
    finished = little(learner).set_callbacks(whole).fit(X, Y)
    stopped = little(learner).set_callbacks(watch).fit(X, Y)
    assert len(stopped.loss_curve_) == len(stopped.update_curve_) == 3 < len(whole.seen)
    np.testing.assert_array_equal(stopped.update_curve_, finished.update_curve_[:3])
    np.testing.assert_array_equal(stopped.components_, whole.seen[2])
    np.testing.assert_array_equal(finished.components_, whole.seen[-1])
    assert stopped.n_iter_ < finished.n_iter_


@each_learner
def test_callbacks_change_nothing(learner: Any) -> None:
    watched = little(learner).set_callbacks(Watch()).fit(X, Y)
    np.testing.assert_array_equal(watched.components_, little(learner).fit(X, Y).components_)
