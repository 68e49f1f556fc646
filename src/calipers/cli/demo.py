"""``calipers demo``: the default learner and the paper's algorithms on embedded digits."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from calipers.cli.options import add_output, picture, seed
from calipers.cli.output import (
    check_picture,
    console,
    remark,
    say,
    write_json,
    write_picture,
)

if TYPE_CHECKING:
    from calipers.cli.options import Commands


def add(commands: Commands) -> None:
    """Register the command."""
    demo = commands.add_parser(
        "demo",
        help="the default learner and the paper's algorithms on digits: a table and a picture",
        description="Learn a metric for scikit-learn's embedded digits with the default learner, "
        "which selects by cross-validation, and with each of the paper's five algorithms; compare "
        "3-NN errors, and draw the data before and after.",
    )
    demo.add_argument(
        "--output",
        type=picture,
        default=Path("calipers-demo.png"),
        metavar="PICTURE",
        help="file of the picture (default: %(default)s; also .svg and .pdf)",
    )
    demo.add_argument("--seed", type=seed, default=0, help="random seed (default: %(default)s)")
    add_output(demo)
    demo.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Learn, draw, show."""
    stderr = console(stderr=True)
    check_picture(options.output)
    from calipers.paper import demo
    from calipers.paper.progress import meter
    from calipers.paper.tables import demo_table

    with meter(demo.TOTAL_WEIGHT, console=stderr, show=not options.quiet) as bar:
        result = demo.run(bar, seed=options.seed)
    write_picture(demo.picture(result), options.output)
    if options.json:
        write_json([asdict(row) for row in result.rows])
    else:
        say(result.metric.reason_)
        console().print(demo_table(result.rows))
    if not options.quiet:
        remark(f"Picture: {options.output}")
    return 0
