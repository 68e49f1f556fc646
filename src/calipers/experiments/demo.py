"""The demonstration: Euclidean distance and the paper's five algorithms on digits."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from calipers import datasets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from calipers.evaluation.protocol import Metric
    from calipers.experiments.progress import Meter

METHODS = ("sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")
"""In the order of the paper, whose last one is drawn and is the estimator's default."""

_COMPILING = "compiling (first time only)"
_WEIGHTS = {"sgd": 6.0, "mini-sgd": 2.0, "as-sgd": 1.0, "hr-sgd": 0.5, "ha-sgd": 0.5}
_WARM_UP_WEIGHT = 0.1
TOTAL_WEIGHT = sum(_WEIGHTS.values()) + _WARM_UP_WEIGHT * len(METHODS)
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
        How often the metric was changed, and projected.
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
    """All rows, the data, and the metric that the last method learned."""

    rows: list[Row]
    data: datasets.Split
    metric: Metric


def run(meter: Meter, *, seed: int = 0) -> Demo:
    """Fit every method on the training part of digits and score it on the test part."""
    from calipers import TripletSGD
    from calipers.evaluation import split_error

    data = datasets.load("digits")
    for method in METHODS:  # so that no method's seconds contain compilation
        with meter.step("warming up", weight=_WARM_UP_WEIGHT, if_slow=_COMPILING):
            TripletSGD(method=method, n_triplets=200).fit(data.X_train[:200], data.y_train[:200])
    rows = [Row("euclidean", 100 * split_error(data))]
    for method in METHODS:
        with meter.step(method, weight=_WEIGHTS[method]) as advance:
            metric = TripletSGD(method=method, n_triplets=100_000, random_state=seed)
            metric.set_callbacks(advance).fit(data.X_train, data.y_train)
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
    return Demo(rows, data, metric)


def picture(demo: Demo) -> Figure:
    """Draw the test part, which no metric has seen, before and after the last method.

    Rings mark the examples that 3-NN gets wrong.
    """
    from matplotlib.figure import Figure

    from calipers.evaluation import knn_predict
    from calipers.plot import before_after, principal_plane

    data = demo.data
    learned = demo.metric.transform(data.X_train), demo.metric.transform(data.X_test)
    panels = before_after(data.X_test, data.y_test, learned[1])
    parts = ((data.X_train, data.X_test), learned)
    for panel, (known, new), row in zip(panels, parts, (demo.rows[0], demo.rows[-1]), strict=True):
        wrong = knn_predict(known, data.y_train, new) != data.y_test
        x, y = principal_plane(new)[wrong].T
        panel.scatter(x, y, s=170, facecolors="none", edgecolors="black", linewidths=1.5)
        title = f"{panel.get_title('left')}: {row.method}, 3-NN error {row.error:.1f} %"
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
    figure = panels[0].figure
    assert isinstance(figure, Figure)
    figure.suptitle("Digits the metric has not seen, two principal components; errors are ringed")
    return figure


def check_writable(path: Path) -> None:
    """Raise OSError, before any work is done, if no picture can be written there."""
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder: give the name of a picture file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {str(path.parent)!r} does not exist: create it first.")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as problem:
        raise PermissionError(
            f"Cannot write into the folder {str(path.parent)!r} ({problem.strerror}): "
            f"name another place with --output."
        ) from problem


def write_picture(figure: Figure, path: Path) -> None:
    """Write the picture beside its place, then rename it: whole, or not at all."""
    draft = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        figure.savefig(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
