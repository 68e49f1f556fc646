"""``calipers fit``: learn a metric from a table, and write it into a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from calipers.cli.options import (
    TABLE,
    add_learner,
    add_output,
    check_apart,
    learn,
    make_learner,
    mistakes_in,
)
from calipers.cli.output import console, meter, remark, say, write_json
from calipers.cli.reading import add_data, read_labelled

if TYPE_CHECKING:
    from calipers.cli.options import Commands

STOPPED = 130
"""Exit code after Ctrl-C; the file holds the metric so far."""


def add(commands: Commands) -> None:
    """Register the command."""
    fit = commands.add_parser(
        "fit",
        help="learn a metric from your own table",
        description="Learn a metric from samples and their labels, and write it into a file.",
    )
    fit.add_argument("data", help=TABLE)
    add_data(fit, label_needed=True)
    name, about = Path("metric.safetensors"), "file of the metric (default: %(default)s)"
    fit.add_argument("-o", "--output", type=Path, default=name, metavar="FILE", help=about)
    add_learner(fit)
    add_output(fit)
    fit.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, learn, write."""
    from dataclasses import replace

    from calipers.metric import file as io

    console()  # a missing package is reported before the work
    io.check_writable(options.output)
    check_apart(options.output, options.data, options.label)
    estimator = make_learner(options)
    data = read_labelled(options)
    started = perf_counter()
    with (
        mistakes_in(options.data),
        meter(1, show=not options.quiet) as bar,
        bar.step(f"learning, {options.learner}") as advance,
    ):
        warned = learn(estimator, data.X, data.y, advance)
    contents = io.contents_of(estimator, label=data.label, encoder=data.encoder)
    io.write(replace(contents, feature_names=data.names), options.output)
    n_components, n_features = estimator.components_.shape
    summary = {  # what was selected comes first
        "chosen": getattr(estimator, "chosen_", None),
        "reason": getattr(estimator, "reason_", None),
        "learner": type(estimator).__name__,
        "samples": len(data.X),
        "features": n_features,
        "components": n_components,
        "classes": len(set(data.y.tolist())),
        "updates": int(estimator.n_updates_),
        "left_out": data.left_out,
        "file": str(options.output),
        "seconds": perf_counter() - started,
        "notes": [*data.notes, *warned],
    }
    if options.json:
        write_json(summary)
    elif not options.quiet:
        _show(summary)
    return STOPPED if getattr(estimator, "interrupted_", False) else 0


def _show(summary: dict[str, Any]) -> None:
    if summary["reason"] is not None:  # names what was chosen, the Euclidean distance above all
        say(summary["reason"])
    for note in summary["notes"]:
        remark(f"Note: {note}")
    say(
        f"Learned by {summary['learner']} from {summary['samples']:,} samples in "
        f"{summary['classes']} classes, {summary['features']} features to "
        f"{summary['components']} components: {summary['updates']:,} updates, "
        f"{summary['seconds']:.2f} s."
    )
    say(f"Metric: {summary['file']}")
