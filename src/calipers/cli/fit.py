"""``calipers fit``: learn a metric from a table, and write it into a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from calipers.cli import learners
from calipers.cli.encoded import read_labelled
from calipers.cli.options import TABLE, add_data, add_output, check_apart
from calipers.cli.output import console, remark, say, write_json
from calipers.cli.stopping import with_the_metric_so_far

STOPPED = 130  # exit code after Ctrl-C; the file holds the metric so far

if TYPE_CHECKING:
    from calipers.cli.encoded import Labelled
    from calipers.cli.options import Commands
    from calipers.metric.file import Contents


def add(commands: Commands) -> None:
    """Register the command."""
    fit = commands.add_parser(
        "fit",
        help="learn a metric from your own table",
        description="Learn a metric from samples and their labels, and write it into a file.",
    )
    fit.add_argument("data", help=TABLE)
    fit.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("metric.safetensors"),
        metavar="FILE",
        help="file of the metric (default: %(default)s)",
    )
    add_data(fit, label_needed=True)
    learners.add_learner(fit)
    add_output(fit)
    fit.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, learn, write."""
    import numpy as np

    from calipers.metric import file as io

    console()  # a missing package is reported before the work
    io.check_writable(options.output)
    check_apart(options.output, options)
    estimator = learners.make(options)
    data = read_labelled(options)
    started = perf_counter()
    warned = _learn(estimator, data, options)
    seconds = perf_counter() - started
    if data.names is not None:
        estimator.feature_names_in_ = np.array(data.names, dtype=object)
    contents = io.contents_of(
        estimator,
        label=data.label,
        encoder=None if data.encoder is None else data.encoder.columns_,
    )
    contents.facts["standardized"] = options.standardize
    io.write(contents, options.output)
    _report(options, _summary(options, data, contents, seconds, warned))
    return STOPPED if getattr(estimator, "interrupted_", False) else 0


def _learn(estimator: Any, data: Labelled, options: argparse.Namespace) -> list[str]:
    """Fit under a progress bar; Ctrl-C keeps the metric so far."""
    from calipers.paper.progress import meter

    with (
        meter(1.0, console=console(stderr=True), show=not options.quiet) as bar,
        bar.step(f"learning, {options.learner}") as advance,
        with_the_metric_so_far(),
    ):
        if hasattr(estimator, "set_callbacks"):
            estimator.set_callbacks(advance)
        return learners.learn(
            estimator, data.X, data.y, source=options.data, standardize=options.standardize
        )


def _summary(
    options: argparse.Namespace,
    data: Labelled,
    contents: Contents,
    seconds: float,
    warned: list[str],
) -> dict[str, Any]:
    """What the command reports, as plain values; what was selected comes first."""
    import numpy as np

    facts = contents.facts
    n_components, n_features = contents.components.shape
    return {
        "chosen": facts.get("chosen_"),
        "reason": facts.get("reason_"),
        "file": str(options.output),
        "learner": contents.learner,
        "method": contents.parameters.get("method"),
        "samples": len(data.X),
        "features": n_features,
        "components": n_components,
        "classes": len(contents.classes if contents.classes is not None else np.unique(data.y)),
        "updates": facts.get("n_updates_"),
        "seconds": seconds,
        "mining_seconds": facts.get("mining_seconds_"),
        "solve_seconds": facts.get("solve_seconds_"),
        "left_out": data.left_out,
        "notes": [*data.notes, *contents.notes, *warned],
    }


def _report(options: argparse.Namespace, summary: dict[str, Any]) -> None:
    if options.json:
        write_json(summary)
        return
    if options.quiet:
        return
    if summary["reason"] is not None:  # names what was chosen, the Euclidean distance above all
        say(summary["reason"])
    for note in summary["notes"]:
        remark(f"Note: {note}")
    by = summary["learner"] + (f" ({summary['method']})" if summary["method"] else "")
    updates = f"{summary['updates']:,} updates, " if summary["updates"] else ""
    features = f"{summary['features']} feature{'s' * (summary['features'] > 1)}"
    say(
        f"Learned from {summary['samples']:,} samples of {features} in {summary['classes']} "
        f"classes by {by}: {updates}{summary['seconds']:.2f} s."
    )
    say(f"Metric: {options.output}")
