"""Curves: the loss, the eigenvalues of M, errors against time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.metric.mahalanobis import spectrum as eigenvalues
from calipers.plot.figure import CLASS_COLORS, MARKERS, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def loss_curve(metric: Any, *, axes: Axes | None = None) -> Axes:
    """Draw the loss during a fit; a dot marks a point if M changed since the point before.

    Parameters
    ----------
    metric : fitted estimator or SavedMetric
        With ``loss_curve_``, or the ``objective_curve_`` of LMNN.
    axes : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        The panel.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from calipers import TripletSGD
    >>> metric = TripletSGD("as-sgd", n_triplets=500).fit(*load_iris(return_X_y=True))
    >>> loss_curve(metric).get_xlabel()
    'triplets'
    """
    loss, unit = _fitted(metric, "loss_curve_"), "triplets"
    seen = _fitted(metric, "triplet_curve_")
    if loss is None:
        loss, unit = _fitted(metric, "objective_curve_"), "iterations"
    if loss is None:
        name = getattr(metric, "learner_", type(metric).__name__)
        raise ValueError(f"{name} keeps no loss curve: draw one of TripletSGD or another learner.")
    if seen is None:
        seen = _fitted(metric, "pair_curve_")
        unit = unit if seen is None else "pairs"
        unit = "points of the curve" if seen is None and unit == "triplets" else unit
    place = np.arange(len(loss)) if seen is None else np.asarray(seen)
    axes = panel(axes)
    axes.plot(place, loss, color=CLASS_COLORS[6], linewidth=1.5)
    updates = _fitted(metric, "update_curve_")
    if updates is not None:
        rose = np.diff(updates, prepend=0) > 0
        axes.plot(
            place[rose], loss[rose], "o", color=CLASS_COLORS[3], markersize=4, label="updates"
        )
        axes.legend(title=f"{int(np.max(updates, initial=0)):,} in all", frameon=False)
    axes.set_xlabel(unit)
    axes.set_ylabel("mean loss since the point before" if unit != "iterations" else "objective")
    return axes


def spectrum(metric: Any, *, axes: Axes | None = None) -> Axes:
    """Draw the eigenvalues of M, the largest first, on a logarithmic scale.

    Parameters
    ----------
    metric : fitted estimator or SavedMetric
        With ``components_``.
    axes : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        The panel.

    Examples
    --------
    >>> from calipers import Euclidean
    >>> spectrum(Euclidean().fit(np.eye(3))).get_ylabel()
    'eigenvalue of M'
    """
    values = eigenvalues(metric.components_)
    positive = values > values[0] * 1e-14
    axes = panel(axes)
    rank = np.arange(1, len(values) + 1)
    axes.plot(rank[positive], values[positive], "o-", color=CLASS_COLORS[6], markersize=4)
    if positive.any():
        axes.set_yscale("log")
    axes.set_xlabel(f"number, of which {int(positive.sum())} are not 0")
    axes.set_ylabel("eigenvalue of M")
    return axes


def error_against_time(
    runs: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]], *, axes: Axes | None = None
) -> Axes:
    """Draw errors against seconds, one line per method.

    Parameters
    ----------
    runs : mapping of str to (seconds, errors)
        Times of each method, and its errors in per cent at those times.
    axes : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        The panel.

    Examples
    --------
    >>> panel = error_against_time({"as-sgd": ([0.1, 1.0], [9.0, 5.0]), "lmnn": ([3.0], [4.8])})
    >>> panel.get_xscale()
    'log'
    """
    axes = panel(axes)
    for number, (name, (seconds, errors)) in enumerate(runs.items()):
        times, values = np.asarray(seconds, dtype=float), np.asarray(errors, dtype=float)
        if times.shape != values.shape or times.ndim != 1:
            raise ValueError(
                f"{name!r} must have as many errors as seconds, got shapes {times.shape} and "
                f"{values.shape}."
            )
        # a colour that repeats gets another shape
        cycle, place = divmod(number, len(CLASS_COLORS))
        color, marker = CLASS_COLORS[place], MARKERS[(place + cycle) % len(MARKERS)]
        axes.plot(times, values, label=name, markersize=5, color=color, marker=marker)
    axes.set_xscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("error, %")
    if runs:
        axes.legend(frameon=False)
    return axes


def _fitted(metric: Any, name: str) -> npt.NDArray[Any] | None:
    """Return a curve of an estimator, or the one that a saved metric holds."""
    curve = getattr(metric, name, None)
    return getattr(metric, "facts_", {}).get(name) if curve is None else np.asarray(curve)
