"""The page's pictures as PNG and SVG files, by matplotlib."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calipers.paper.summary import Summary
from calipers.paper.systems import SYSTEMS
from calipers.plot import MARKERS, before_after, figure_class, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURE_FORMATS = ("png", "svg")

METHOD_COLORS = (
    "#6b7280",
    "#8c510a",
    "#a0a000",
    "#3d7a8c",
    "#b3589a",
    "#c0392b",
    "#7a6a00",
    "#1b1f24",
    "#0072b2",
    "#008060",
    "#d55e00",
    "#e6a04d",
    "#5b2fa0",
    "#9d86cc",
)
"""One for each system, as in the page by day (``--m0`` to ``--m13`` of page.css)."""

_BOUND_LABELS = {"updates": ("Theorem 2", "s"), "sharp": ("bound by slopes", "D")}


def draw(summary: Summary, folder: Path) -> list[Path]:
    """Write every figure into the folder in both forms; return the files."""
    names = [data.name for data in summary.datasets if data.ours]
    if not names:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "error-time": _error_against_time(summary, names),
        "figure-1": _curves(summary, names, "loss", of="training"),
        "online-loss": _curves(summary, names, "loss"),
        "updates-so-far": _curves(summary, names, "updates"),
        "spectrum": _spectra(summary, names),
        "theorem-2": _theorem(summary, names),
        "parameters": _study(summary),
        **{f"before-after-{_file_name(name)}": _clouds(summary, name) for name in names},
    }
    written = []
    for title, figure in figures.items():
        for form in PICTURE_FORMATS if figure else ():
            path = folder / f"{title}.{form}"
            assert figure is not None
            figure.savefig(path, metadata={"Date": None} if form == "svg" else None)
            written.append(path)
    return written


def style(method: str) -> dict[str, Any]:
    """Colour and shape of a method, the same in all figures."""
    number = list(SYSTEMS).index(method)
    return {
        "color": METHOD_COLORS[number],
        "marker": MARKERS[number % len(MARKERS)],
        "label": SYSTEMS[method].label,
    }


def _panels(names: list[str], *, width: float = 4.2, height: float = 3.4) -> tuple[Figure, Any]:
    """A new figure with a panel for each data set, titled with its name."""
    columns = min(3, len(names))
    rows = math.ceil(len(names) / columns)
    figure = figure_class()(figsize=(width * columns, height * rows), dpi=120, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    for panel, name in zip(panels, names, strict=False):
        panel.set_title(_plain(name), loc="left", fontweight="bold")
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.3)
    return figure, panels


def _file_name(name: str) -> str:
    """The name with nothing in it that a file system might take amiss."""
    return re.sub(r"[^\w-]+", "-", name, flags=re.ASCII)[:60]


def _plain(text: str) -> str:
    """The text with nothing in it that matplotlib would take for mathematics."""
    return text.replace("$", r"\$")


def _share_legend(figure: Figure, panels: Any) -> None:
    found: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        figure.legend(
            list(found.values()), list(found), loc="outside lower center", ncols=5, frameon=False
        )


def _error_against_time(summary: Summary, names: list[str]) -> Figure:
    figure, panels = _panels(names)
    for panel, name in zip(panels, names, strict=False):
        for method in summary.methods:
            error, time = summary.errors[name, method].ours, summary.seconds[name, method].ours
            look = style(method)
            if error is not None and time is None:
                panel.axhline(error, color=look["color"], linestyle="--", label=look["label"])
            elif error is not None:
                panel.plot([time], [error], linestyle="none", markersize=8, **look)
        _in_powers(panel)
        panel.set_xlabel("seconds to learn")
        panel.set_ylabel("error of 3-NN, %")
    _share_legend(figure, panels)
    return figure


def _in_powers(panel: Axes) -> None:
    """A logarithmic axis whose few labels are plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=9))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())


def _curves(summary: Summary, names: list[str], part: str, *, of: str = "curve") -> Figure:
    figure, panels = _panels(names)
    for panel, name in zip(panels, names, strict=False):
        for method, system in SYSTEMS.items():
            curve = summary.first(name, method, of)
            alike = part != "loss" or system.kind == "sgd"  # losses of others are other things
            if curve and alike:
                values = np.array(curve[part], dtype=float)
                panel.plot(curve["triplets"], values, markevery=0.15, **style(method))
        panel.set_xlabel("triplets seen")
        panel.set_ylabel("training error" if of == "training" else part)
        if part == "updates":
            panel.set_yscale("symlog")
    _share_legend(figure, panels)
    return figure


def _study(summary: Summary) -> Figure | None:
    """Errors of the parameter study, a panel for each data set and parameter."""
    sweeps = list(dict.fromkeys((row.dataset, row.parameter) for row in summary.study))
    if not sweeps:
        return None
    figure, panels = _panels([f"{dataset}: {parameter}" for dataset, parameter in sweeps])
    looks = {system.label: style(name) for name, system in SYSTEMS.items()}
    for panel, sweep in zip(panels, sweeps, strict=False):
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in summary.study:
            if (row.dataset, row.parameter) == sweep:
                lines.setdefault(row.label, []).append((row.value, row.error))
        for label, points in lines.items():
            panel.plot(*zip(*points, strict=True), **looks[label])
        panel.set_xscale("log")
        panel.set_xlabel(sweep[1])
        panel.set_ylabel("error of 3-NN, %")
    _share_legend(figure, panels)
    return figure


def _spectra(summary: Summary, names: list[str]) -> Figure:
    figure, panels = _panels(names)
    for panel, name in zip(panels, names, strict=False):
        for method, system in SYSTEMS.items():
            values = np.array(summary.first(name, method, "spectrum") or [], dtype=float)
            if len(values) and values[0] > 0 and system.kind != "none":
                share = np.where(values > 1e-12 * values[0], values / values[0], np.nan)
                ranks = np.arange(1, len(values) + 1)
                panel.plot(ranks, share, markevery=0.15, **style(method))
        panel.set_yscale("log")
        panel.set_xlabel("rank of the eigenvalue")
        panel.set_ylabel("share of the largest")
    _share_legend(figure, panels)
    return figure


def _theorem(summary: Summary, names: list[str]) -> Figure | None:
    bounds = {name: summary.first(name, "as-sgd", "bound") for name in names}
    kept = [name for name in reversed(names) if bounds[name]]
    if not kept:
        return None
    figure = figure_class()(figsize=(7, 1.6 + 0.4 * len(kept)), dpi=120, layout="constrained")
    panel: Axes = figure.subplots()
    rows = list(range(len(kept)))
    cells = [summary.updates[name, "as-sgd"] for name in kept]
    look = style("as-sgd")
    ours = [cell.ours if cell.ours is not None else math.nan for cell in cells]
    paper = [cell.paper if cell.paper is not None else math.nan for cell in cells]
    panel.plot(ours, rows, "o", color=look["color"], label="AS-SGD, ours")
    panel.plot(paper, rows, "o", color=look["color"], fillstyle="none", label="the paper's")
    for part, (label, marker) in _BOUND_LABELS.items():
        panel.plot([bounds[name][part] for name in kept], rows, marker, label=label)
    panel.set_xscale("log")
    panel.set_yticks(rows, [_plain(name) for name in kept])
    panel.set_xlabel("updates")
    panel.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure


def _clouds(summary: Summary, name: str) -> Figure | None:
    """The test part before and after the last method that has a picture."""
    for method in reversed(summary.methods):
        picture = summary.first(name, method, "picture")
        if picture and method != "euclidean":
            before = np.array(picture["before"], dtype=float)
            after = np.array(picture["after"], dtype=float)
            panels = before_after(before, np.array(picture["classes"]), after)
            figure = figure_of(panels[0])
            figure.suptitle(
                _plain(f"{name}: test samples before and after {SYSTEMS[method].label}")
            )
            return figure
    return None
