"""Every learner under scikit-learn's contract: checks, pipelines, frames, callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from learners import FROM_TRIPLETS, LEARNERS, STEPWISE, each_stepwise, iris, little
from watch import Watch

X, Y = iris()
_ROUNDING = (
    "15 samples of 30 features: M is the same but for rounding "
    "(tests/estimators/test_sample_weight.py), rows of L that hardly count are not"
)
_COPIES = "a sample is no neighbour of itself, whatever its weight, but of its copy"
_DRAWN = "anchors, or folds, are drawn: other samples draw others"
EXPECTED_TO_FAIL = {
    name: {"check_sample_weight_equivalence_on_dense_data": reason}
    for reason, names in (
        (_ROUNDING, ("RCA", "KISSME", "LFDA", "MMC")),
        (_COPIES, ("NCA", "MLKR", "MCML", "LMNN")),
        (_DRAWN, (*FROM_TRIPLETS, "MetricCV")),
    )
    for name in names
}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [clone(learner) for learner in LEARNERS.values()],
    expected_failed_checks=lambda estimator: EXPECTED_TO_FAIL.get(type(estimator).__name__, {}),
    xfail_strict=False,  # rounding, which decides some, is that of the machine's BLAS
)
def test_scikit_learns_own_checks(estimator: Any, check: Callable[..., None]) -> None:
    check(estimator)


@pytest.mark.parametrize("name", ["TripletSGD", "GMML", "MetricCV"])
def test_pipeline(name: str) -> None:
    model = make_pipeline(StandardScaler(), little(name), KNeighborsClassifier(3)).fit(X, Y)
    assert model.score(X, Y) > 0.9


@pytest.mark.parametrize("name", ["TripletSGD", "Discriminant", "MetricCV"])
@pytest.mark.parametrize("n_components", [None, 2])
def test_output_as_a_frame(n_components: int | None, name: str) -> None:
    expected = little(name, n_components=n_components).fit(X, Y).transform(X)
    names = [f"{name.lower()}{i}" for i in range(expected.shape[1])]
    for kind, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        model = little(name, n_components=n_components).set_output(transform=kind)
        result = model.fit_transform(X, Y)
        assert isinstance(result, frame)
        assert list(result.columns) == names == model.get_feature_names_out().tolist()
        np.testing.assert_allclose(result.to_numpy(), expected)


@pytest.mark.parametrize("name", ["TripletSGD", "GMML", "MetricCV"])
def test_input_as_a_frame(name: str) -> None:
    columns = ["a", "b", "c", "d"]
    expected = little(name).fit(X, Y)
    order = np.random.default_rng(0).permutation(150)
    for given in (pd.DataFrame(X, columns=columns), pl.DataFrame(X, schema=columns)):
        fitted = little(name).fit(given, pd.Series(Y) if isinstance(given, pd.DataFrame) else Y)
        assert fitted.feature_names_in_.tolist() == columns
        np.testing.assert_array_equal(fitted.components_, expected.components_)
        np.testing.assert_array_equal(fitted.transform(given), expected.transform(X))
    frame = pd.DataFrame(X, columns=columns)
    with pytest.raises(ValueError, match="The feature names should match those"):
        little(name).fit(frame, Y).transform(frame[columns[::-1]])
    labels = pd.Series(Y, dtype="category").iloc[order]  # an index in another order is no order
    np.testing.assert_array_equal(
        little(name).fit(frame.iloc[order], labels).components_,
        little(name).fit(X[order], Y[order]).components_,
    )


# Callbacks


@pytest.mark.parametrize("name", [*STEPWISE, "MetricCV"])
def test_progress_bar(capsys: pytest.CaptureFixture[str], name: str) -> None:
    little(name).set_callbacks(ProgressBar()).fit(X, Y)
    shown = capsys.readouterr().out
    assert name in shown
    assert "100%" in shown


def neighbours_score(metric: Any, X: Any, y: Any) -> float:
    images = metric.transform(X)
    predicted = KNeighborsClassifier(3).fit(images[::2], y[::2]).predict(images[1::2])
    return float(accuracy_score(y[1::2], predicted))


def test_scoring_monitor_sees_the_metric_as_it_grows() -> None:
    monitor = ScoringMonitor(scoring={"accuracy": neighbours_score})
    learner = little("TripletSGD", method="mini-sgd", n_triplets=1000, n_rounds=1, batch_size=10)
    fitted = learner.set_callbacks(monitor).fit(X, Y)
    rows = monitor.get_logs().data
    assert len(rows) == 101  # one for each of 100 portions and one for the whole
    assert rows[-1]["accuracy"] == neighbours_score(fitted, X, Y)
    assert len({row["accuracy"] for row in rows}) > 1


@each_stepwise
def test_a_callback_may_stop(name: str) -> None:
    whole, watch = Watch(), Watch(stop_after=3)
    finished = little(name).set_callbacks(whole).fit(X, Y)
    stopped = little(name).set_callbacks(watch).fit(X, Y)  # and there is no warning
    assert len(whole.seen) > 4
    np.testing.assert_array_equal(stopped.components_, whole.seen[2])
    np.testing.assert_array_equal(finished.components_, whole.seen[-1])
    np.testing.assert_array_equal(finished.components_, little(name).fit(X, Y).components_)
    assert stopped.n_iter_ < finished.n_iter_
    assert not stopped.interrupted_
    if name == "LMNN":
        np.testing.assert_array_equal(stopped.objective_curve_, finished.objective_curve_[:4])
        return
    assert len(stopped.loss_curve_) == len(stopped.update_curve_) == 3
    np.testing.assert_array_equal(stopped.update_curve_, finished.update_curve_[:3])
