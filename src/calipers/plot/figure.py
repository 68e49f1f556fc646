"""Colours, shapes and panels that all pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        raise ImportError(
            "Pictures need matplotlib: pip install 'calipers[plot]'.", name="matplotlib"
        ) from missing
    return Figure


def figure_of(panel: Axes) -> Figure:
    """Return the whole figure that a panel is a part of."""
    figure = panel.figure
    assert isinstance(figure, figure_class())
    return figure


def panel(axes: Axes | None) -> Axes:
    """Return the given panel, or one on a new figure, without a frame."""
    if axes is None:
        axes = figure_class()(figsize=(7, 4.5), dpi=150, layout="constrained").subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return axes
