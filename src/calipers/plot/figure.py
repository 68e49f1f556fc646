"""Colours, shapes and panels that all pictures share."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, Any

from calipers.data.files.errors import needs_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLASS_COLORS = (
    "#332288",
    "#e69f00",
    "#009e73",
    "#cc3311",
    "#56b4e9",
    "#aa4499",
    "#0072b2",
    "#ddcc77",
    "#882255",
    "#000000",
    "#999933",
    "#ee99aa",
)
"""From the palettes of Okabe and Ito and of Tol, made for colour-blind readers."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "d")
"""One shape per class as well, so that no reader depends on colour."""


def figure_class() -> type[Figure]:
    """Return matplotlib's Figure.

    Raises
    ------
    ImportError
        matplotlib is not installed; the sentence says how to install it.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        sentence = needs_package("A picture", "matplotlib")
        raise ImportError(sentence, name="matplotlib") from missing
    return Figure


def new_figure(width: float, height: float) -> Figure:
    """Return a figure that a notebook shows, also where pyplot was not imported."""
    figure = figure_class()(figsize=(width, height), dpi=150, layout="constrained")
    _show(figure, figure)
    return figure


def _show(part: Any, figure: Figure) -> None:
    """Let a notebook show the figure where a figure or a panel is the value of a cell."""
    part._repr_png_ = partial(_png, figure)


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()


def figure_of(panel: Axes) -> Figure:
    """Return the whole figure that a panel is a part of."""
    figure = panel.figure
    assert isinstance(figure, figure_class())
    return figure


def panel(axes: Axes | None) -> Axes:
    """Return the given panel, or one on a new figure, without a frame."""
    if axes is None:
        figure = new_figure(7, 4.5)
        axes = figure.subplots()
        _show(axes, figure)
    axes.spines[["top", "right"]].set_visible(False)
    return axes
