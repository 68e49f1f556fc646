"""The demonstration: the default learner and the paper's five algorithms on digits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from calipers.data import datasets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from calipers.paper.progress import Meter

DEMO_METHODS = ("sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")
"""In the order of the paper."""

DEFAULT = "cv"
"""The row of the default learner, which selects by cross-validation."""

_WEIGHTS = {DEFAULT: 20.0, "sgd": 6.0, "mini-sgd": 2.0, "as-sgd": 1.0, "hr-sgd": 0.5, "ha-sgd": 0.5}
TOTAL_WEIGHT = sum(_WEIGHTS.values())
"""What the steps of `run` weigh together, about a second each."""


@dataclass(frozen=True)
class Row:
    """What one method did; None where it learns nothing.

    Attributes
    ----------
    method : str
        Name of the method.
    error : float
        3-NN error on the test part, in per cent.
    updates, projections : int or None
        Updates of the metric, and those that were projected.
    mining_seconds, solve_seconds : float or None
        Time to find triplets, and to learn from them.
    """

    method: str
    error: float
    updates: int | None = None
    projections: int | None = None
    mining_seconds: float | None = None
    solve_seconds: float | None = None


@dataclass(frozen=True)
class Demo:
    """Rows of the default learner, the Euclidean distance and the paper's methods, in this order.

    ``metric`` is the fitted default learner.
    """

    rows: list[Row]
    data: datasets.Split
    metric: Any


def run(meter: Meter, *, seed: int = 0) -> Demo:
    """Fit every method on the training part of digits and score it on the test part."""
    from calipers import MetricCV, TripletSGD
    from calipers.evaluation import split_error

    data = _digits()
    with meter.step("selecting a learner", weight=_WEIGHTS[DEFAULT]) as advance:
        default = MetricCV(random_state=seed).set_callbacks(advance)
        default.fit(data.X_train, data.y_train)
    rows = [Row(DEFAULT, 100 * split_error(data, default))]
    rows.append(Row("euclidean", 100 * split_error(data)))
    for method in DEMO_METHODS:
        with meter.step(method, weight=_WEIGHTS[method]) as advance:
            metric = TripletSGD.paper(method, random_state=seed).set_callbacks(advance)
            metric.fit(data.X_train, data.y_train)
        rows.append(
            Row(
                method,
                100 * split_error(data, metric),
                metric.n_updates_,
                metric.n_projections_,
                metric.mining_seconds_,
                metric.solve_seconds_,
            )
        )
    return Demo(rows, data, default)


def _digits() -> datasets.Split:
    """Digits with pixels from 0 to 1: the margin of the paper's loss is 1, whatever the unit."""
    data = datasets.load("digits")
    return replace(data, X_train=data.X_train / 16.0, X_test=data.X_test / 16.0)


def picture(demo: Demo) -> Figure:
    """Draw the test part, which no metric has seen, before and after the default learner.

    Rings mark the samples that 3-NN misclassifies.
    """
    from calipers.evaluation import knn_predict
    from calipers.plot import before_after, figure_of, principal_plane

    data = demo.data
    learned = demo.metric.transform(data.X_train), demo.metric.transform(data.X_test)
    panels = before_after(data.X_test, data.y_test, learned[1])
    parts = ((data.X_train, data.X_test), learned)
    default, euclidean = demo.rows[:2]
    for panel, (known, new), row in zip(panels, parts, (euclidean, default), strict=True):
        wrong = knn_predict(known, data.y_train, new) != data.y_test
        x, y = principal_plane(new)[wrong].T
        panel.scatter(x, y, s=170, facecolors="none", edgecolors="black", linewidths=1.5)
        name = row.method if row is euclidean else demo.metric.chosen_
        title = f"{panel.get_title('left')}: {name}, 3-NN error {row.error:.1f} %"
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
    figure = figure_of(panels[0])
    figure.suptitle("Digits the metric has not seen, two principal components; errors are ringed")
    return figure
