"""``calipers fit``: a table of data becomes a metric in a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.commands import learners
from calipers.commands.stopping import with_the_metric_so_far
from calipers.commands.style import add_data, add_style, check_apart, console, remark, write_json

STOPPED = 130  # exit code after Ctrl-C; the metric so far is in its file

if TYPE_CHECKING:
    from calipers.commands.style import Commands


def add(commands: Commands) -> None:
    """Register the command."""
    fit = commands.add_parser(
        "fit",
        help="learn a metric from your own table",
        description="Learn a metric from rows and their labels, and write it into a file.",
    )
    fit.add_argument("data", help="table: CSV, TSV, Parquet, NPY, NPZ or LIBSVM")
    fit.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("metric.safetensors"),
        metavar="FILE",
        help="where the metric goes (default: %(default)s)",
    )
    fit.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="write the state into FILE every minute, and go on from it if it is there",
    )
    add_data(fit, label_needed=True)
    learners.add_learner(fit)
    add_style(fit)
    fit.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, learn, write."""
    import numpy as np

    from calipers import files
    from calipers.experiments.progress import meter
    from calipers.mapped import spread_of

    files.check_writable(options.output)
    check_apart(options.output, data=options.data)
    estimator = learners.make(options)
    data = learners.read_labelled(options)
    assert data.y is not None
    aside = console(stderr=True)
    with (
        meter(1.0, console=aside, show=not options.quiet) as bar,
        bar.step(f"learning, {options.method}", if_slow=learners.SLOW) as advance,
        with_the_metric_so_far(),
    ):
        estimator.set_callbacks(advance)
        if options.checkpoint is not None:
            files.check_writable(options.checkpoint)
            check_apart(options.checkpoint, data=options.data, output=options.output)
            _set_checkpoint(estimator, options)
        _, told = learners.learn(
            estimator, data.X, data.y, source=options.data, standardize=options.standardize
        )
    if data.names is not None:
        estimator.feature_names_in_ = np.array(data.names, dtype=object)
    contents = files.contents_of(estimator, feature_scale=spread_of(data.X), label=data.label)
    contents.facts["standardized"] = options.standardize
    files.write(contents, options.output)
    k, d = contents.components.shape
    row = {
        "file": str(options.output),
        "learner": contents.learner,
        "method": contents.facts.get("method_", options.method),
        "rows": len(data.X),
        "features": d,
        "components": k,
        "classes": len(contents.classes or []),
        "updates": contents.facts.get("n_updates_"),
        "mining_seconds": contents.facts.get("mining_seconds_"),
        "solve_seconds": contents.facts.get("solve_seconds_"),
        "left_out": data.left_out,
        "notes": [*contents.notes, *told],
    }
    if options.json:
        write_json(row)
    elif not options.quiet:
        for note in row["notes"]:
            remark(f"Note: {note}")
        console().print(
            f"Learned from {row['rows']:,} rows of {d} features in {row['classes']} classes by "
            f"{row['method']}: {row['updates']:,} updates, "
            f"{row['mining_seconds'] + row['solve_seconds']:.2f} s.\n"
            f"Metric: {options.output}",
            highlight=False,
            soft_wrap=True,
            markup=False,
        )
    return STOPPED if getattr(estimator, "interrupted_", False) else 0


def _set_checkpoint(estimator: Any, options: argparse.Namespace) -> None:
    from calipers.files import FileError

    if not hasattr(estimator, "set_checkpoint"):
        raise FileError(f"--checkpoint is of no use to --method {options.method}.")
    estimator.set_checkpoint(options.checkpoint)
