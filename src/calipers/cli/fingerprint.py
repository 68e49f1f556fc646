"""``calipers fingerprint``: updates and errors beside the paper's."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from calipers.cli.options import add_output, whole_number
from calipers.cli.output import console, write_json

if TYPE_CHECKING:
    from calipers.cli.options import Commands


def add(commands: Commands) -> None:
    """Register the command."""
    fingerprint = commands.add_parser(
        "fingerprint",
        help="updates and errors beside the paper's tables",
        description="Run AS-SGD, HR-SGD and HA-SGD with the paper's settings on the paper's data "
        "and print updates and 3-NN errors beside its Tables 6 and 4. Exit code 1 if a "
        "tolerance is exceeded.",
    )
    fingerprint.add_argument(
        "--data-dir",
        metavar="DIR",
        help="folder with the data (default: $CALIPERS_DATA); what is not there is downloaded",
    )
    fingerprint.add_argument(
        "--datasets", nargs="+", metavar="NAME", help="only these, for example: semeion dna"
    )
    fingerprint.add_argument(
        "--quick",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="two splits of semeion, and dna (default: no)",
    )
    fingerprint.add_argument(
        "--seeds", type=whole_number, metavar="N", help="runs of each data set (default: 1 to 10)"
    )
    add_output(fingerprint)
    fingerprint.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run, show, and return 1 if a tolerance is exceeded."""
    stderr = console(stderr=True)
    from calipers.paper import fingerprint
    from calipers.paper.progress import meter
    from calipers.paper.tables import fingerprint_remarks, fingerprint_table

    chosen = fingerprint.plan(options.datasets, quick=options.quick, runs=options.seeds)
    total = len(fingerprint.ADAPTIVE_METHODS) * sum(chosen.values())
    with meter(total, console=stderr, show=not options.quiet) as bar:
        rows = list(fingerprint.run(chosen, data_dir=options.data_dir, meter=bar))
    if options.json:
        write_json([asdict(row) | {"within": row.within} for row in rows])
    else:
        console().print(fingerprint_table(rows))
    if not options.quiet:
        for remark in fingerprint_remarks(rows):
            stderr.print(remark, highlight=False, soft_wrap=True)
    return 0 if all(row.within for row in rows) else 1
