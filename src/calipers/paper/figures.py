"""Figure 1 and the parameter study, by matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from calipers.paper.runs import CURVED
from calipers.paper.systems import STUDIED, SYSTEMS
from calipers.paper.tables import Results
from calipers.plot import figure_class

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLORS = {
    "oasis": "#c0392b",
    "spml": "#7a6a00",
    "sgd": "#1b1f24",
    "mini-sgd": "#0072b2",
    "as-sgd": "#008060",
    "hr-sgd": "#d55e00",
    "hr-sgd-sum": "#e6a04d",
    "ha-sgd": "#5b2fa0",
}
_SHAPES = dict(zip(_COLORS, "osD^vPX<", strict=True))


def figure_1(results: Results) -> Figure | None:
    """The training error against triplets, a panel for each data set."""
    panels: dict[str, dict[str, Any]] = {}
    for name in results.names:
        for method in CURVED:
            if curve := results.first(name, method, "training"):
                panels.setdefault(results.shown(name), {})[method] = curve.values()
    return _drawn(panels, x="triplets", y="training error") if panels else None


def study(results: Results) -> Figure | None:
    """The error against the values of a parameter, a panel for each and data set."""
    panels: dict[str, dict[str, Any]] = {}
    for name in results.names:
        for system in STUDIED.values():
            error = results.first(name, system.name, "error")
            if error is not None:
                lines = panels.setdefault(f"{results.shown(name)}: {system.parameter}", {})
                values, errors = lines.setdefault(system.name.partition(":")[0], ([], []))
                values.append(system.value)
                errors.append(error)
    return _drawn(panels, x="value", y="error of 3-NN, %", scale="log") if panels else None


def _drawn(panels: dict[str, dict[str, Any]], *, x: str, y: str, scale: str = "linear") -> Figure:
    """Lines of methods in panels by their title."""
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = figure_class()(figsize=(4.2 * columns, 3.4 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    shown: dict[str, Any] = {}
    for axis, (title, lines) in zip(axes, panels.items(), strict=False):
        axis.set(title=title, xlabel=x, ylabel=y, xscale=scale)
        axis.grid(alpha=0.3)
        for method, (values, heights) in lines.items():
            look = {"color": _COLORS[method], "marker": _SHAPES[method], "markevery": 0.15}
            (shown[SYSTEMS[method].label],) = axis.plot(values, heights, **look)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    figure.legend(shown.values(), shown, loc="outside lower center", ncols=5, frameon=False)
    return figure
