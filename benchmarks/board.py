"""The board of the documentation: learners beside each other on data that scikit-learn brings.

A quarter of (at most ``--most``) samples of each training part is held out, anew for each seed.
Learners have their defaults. The page and its picture are made of the rows; the page has the date
and the commit.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.choices import learner
from benchmarks.holdouts import held_out
from benchmarks.rows import Column, Report, Row, describe, machine
from benchmarks.study import measure, warm_up
from calipers.plot import CLASS_COLORS, MARKERS, figure_class

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("iris", "wine", "breast_cancer", "digits")
LEARNERS = {
    "MetricCV": "MetricCV",
    "TripletSGD": "TripletSGD",
    "NCA": "NCA",
    "Scaled": "standardised",
    "Euclidean": "raw",
}
"""Learners of the package, and what the page calls them."""

TABLES = {
    "board": [
        Column("data", "data", width=14),
        Column("shape", "shape", width=12),
        Column("seed", "seed", width=4),
        Column("learner", "choice", width=12),
        Column("error %", "error", ".2f"),
        Column("seconds", "seconds", ".3f"),
    ]
}

PAGE = """\
Benchmark board
===============

``python -m benchmarks board`` made this page on {date}, from commit {commit}. Every learner has its
defaults. "Standardised" and "raw" are the Euclidean distance between such features. :doc:`defaults`
compares learners on more data sets. ``benchmarks/README.md`` of the repository has commands that
compare them with other packages.

3-NN error
----------

The table has the share of held-out samples that three nearest neighbours misclassify, in per cent:
the mean over {n_holdouts} hold-outs, and its standard error. Lower is better. The hold-outs of a
data set share samples, so the true uncertainty is larger than the standard error, and small
differences may be chance.

.. image:: {picture}
   :alt: 3-NN error of each learner on each data set, with standard errors

{errors}

Seconds of a fit
----------------

The table has the median over hold-outs. Compare the columns with each other: other work on the
machine slows all of them.

{seconds}

The machine: {machine}.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME")
    parser.add_argument(
        "--learners", nargs="+", choices=tuple(LEARNERS), default=tuple(LEARNERS), metavar="NAME"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=range(10))
    parser.add_argument("--most", type=int, default=2000, help="samples (default: %(default)s)")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("docs/board.rst"),
        metavar="FILE",
        help="the page (default: %(default)s)",
    )


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure, then write the page."""
    warm_up()
    for name in args.only:
        for seed in args.seeds:
            data = held_out(name, data_dir=None, most=args.most, seed=seed)
            for choice in map(learner, args.learners):
                report.add("board", data=name, seed=seed, **measure(data, choice, seed))
    rows = [row for row in report.rows if "skipped" not in row]
    picture = args.output.with_suffix(".png")
    draw(rows).savefig(picture)
    args.output.write_text(page(rows, machine(), picture.name), encoding="utf-8")
    report.say(f"\nthe page is {args.output}, its picture {picture}")


def page(rows: Sequence[Row], facts: Mapping[str, Any], picture: str) -> str:
    """The rows of a run as a page of the documentation."""
    return PAGE.format(
        picture=picture,
        date=rows[0]["run"][:10],
        commit=facts["commit"],
        n_holdouts=len({row["seed"] for row in rows}),
        errors=_table(rows, _error),
        seconds=_table(rows, _seconds),
        machine=describe({name: value for name, value in facts.items() if name != "commit"}),
    )


def draw(rows: Sequence[Row]) -> Figure:
    """The errors as a picture: a group of points for every data set, a colour for every learner."""
    learners = list(dict.fromkeys(row["choice"] for row in rows))
    names = list(dict.fromkeys(row["data"] for row in rows))
    figure = figure_class()(figsize=(7, 1 + 0.9 * len(names)), dpi=150, layout="constrained")
    panel = figure.subplots()
    for i, choice in enumerate(learners):
        of_learner = [row for row in rows if row["choice"] == choice]
        of_sets = ([row for row in of_learner if row["data"] == name] for name in names)
        means, spreads = np.array([_mean(group) for group in of_sets]).T
        panel.errorbar(
            means,
            np.arange(len(names)) + 0.13 * (i - (len(learners) - 1) / 2),
            xerr=spreads,
            fmt=MARKERS[i],
            color=CLASS_COLORS[i],
            label=LEARNERS[choice],
        )
    panel.set_xscale("log")
    panel.set_xticks(ticks := (1, 2, 5, 10, 20, 50), [str(tick) for tick in ticks])
    panel.minorticks_off()
    panel.set_xlabel("3-NN error of held-out samples, per cent")
    panel.set_yticks(range(len(names)), names)
    panel.invert_yaxis()
    panel.legend(frameon=False)
    panel.spines[["top", "right"]].set_visible(False)
    return figure


def _mean(rows: Sequence[Row]) -> tuple[float, float]:
    """The mean error and its standard error, which is NaN for a single hold-out."""
    errors = [row["error"] for row in rows]
    spread = np.std(errors, ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else np.nan
    return float(np.mean(errors)), float(spread)


def _error(rows: Sequence[Row]) -> str:
    mean, spread = _mean(rows)
    return _unbroken(f"{mean:.1f}" + (f" ± {spread:.1f}" if np.isfinite(spread) else ""))


def _seconds(rows: Sequence[Row]) -> str:
    median = float(np.median([row["seconds"] for row in rows]))
    return f"{median:.3f}" if median >= 0.001 else _unbroken("< 0.001")


def _unbroken(text: str) -> str:
    return text.replace(" ", "\u00a0")


def _table(rows: Sequence[Row], cell: Callable[[Sequence[Row]], str]) -> str:
    """A line for every data set, a column for every learner."""
    learners = list(dict.fromkeys(row["choice"] for row in rows))
    lines = [["learned from", *(LEARNERS[name] for name in learners)]]
    for name, shape in dict.fromkeys((row["data"], row["shape"]) for row in rows):
        of_set = [row for row in rows if row["data"] == name]
        groups = ([row for row in of_set if row["choice"] == one] for one in learners)
        lines.append([f"{name}, {shape}", *map(cell, groups)])
    told = "\n".join("   * - " + "\n     - ".join(line) for line in lines)
    return f".. list-table::\n   :header-rows: 1\n\n{told}"
