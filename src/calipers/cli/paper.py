"""``calipers paper``: the paper's experiments, and a report of them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from calipers.cli.options import add_output, whole_number
from calipers.cli.output import console, write_json

if TYPE_CHECKING:
    from rich.console import Console

    from calipers.cli.options import Commands
    from calipers.paper.runs import RunFile


def add(commands: Commands) -> None:
    """Register the command."""
    paper = commands.add_parser(
        "paper",
        help="the paper's experiments, with a report to look at",
        description="Run the paper's three experiments, its ten systems and more on every data set "
        "that can be had, and a parameter study, and write a report of its Tables 1, 4, 5, 6 and "
        "Figure 1, ours beside the paper's. "
        "Each run is kept as soon as it is done: the same command goes on where it was stopped.",
    )
    paper.add_argument(
        "--output",
        type=Path,
        default=Path("calipers-paper"),
        metavar="DIR",
        help="folder for rows and report (default: %(default)s)",
    )
    paper.add_argument(
        "--data-dir", metavar="DIR", help="folder with the data (default: $CALIPERS_DATA)"
    )
    paper.add_argument(
        "--download",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="fetch data that are not here from their homes (default: no)",
    )
    paper.add_argument(
        "--datasets", nargs="+", metavar="NAME", help="only these, for example: semeion dna"
    )
    paper.add_argument(
        "--methods",
        nargs="+",
        metavar="NAME",
        help="only these, for example: sgd as-sgd; parameters for the parameter study",
    )
    paper.add_argument(
        "--seeds", type=whole_number, metavar="N", help="runs of each data set (default: 1 to 10)"
    )
    paper.add_argument(
        "--triplets",
        type=whole_number,
        default=100_000,
        metavar="N",
        help="triplets to learn from (default: %(default)s, as in the paper)",
    )
    paper.add_argument(
        "--quick",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="one run of semeion and dna, or of embedded digits (default: no)",
    )
    paper.add_argument(
        "--report-only",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="run nothing: make the report from the rows (default: no)",
    )
    add_output(paper)
    paper.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run what is left to do and write the report."""
    from calipers.plot import figure_class

    stderr = console(stderr=True)
    figure_class()  # a missing package is reported before the work
    from calipers.paper import forms, report
    from calipers.paper.runs import ROWS, RunFile, check_folder, latest, of_identity
    from calipers.paper.tables import paper_remarks, paper_tables

    check_folder(options.output, create=not options.report_only)
    file = RunFile(options.output / ROWS)
    if options.report_only:
        rows = latest(file.read())
        if rows:
            forms.check(file, rows[-1]["identity"])
    else:
        digest = _run_jobs(options, file, stderr)
        if digest is None:
            return 130
        rows = of_identity(file.read(), digest)
    if not rows:
        raise FileNotFoundError(f"There are no rows in {str(file.path)!r}: run something first.")
    written = report.write(rows, options.output)
    if options.json:
        write_json(rows)
    else:
        for table in paper_tables(rows):
            console().print(table)
    if not options.quiet:
        for remark in paper_remarks(rows, file):
            stderr.print(remark, highlight=False, soft_wrap=True)
        stderr.print(f"Report: {written[0]}", highlight=False, soft_wrap=True)
    return 0


def _run_jobs(options: argparse.Namespace, file: RunFile, stderr: Console) -> str | None:
    """Run what is not done yet; returns the identity of the rows, None if interrupted."""
    from calipers.paper import forms, paper
    from calipers.paper.progress import meter

    wish = paper.Wish(
        options.datasets, options.methods, options.seeds, options.quick, options.triplets
    )
    with meter(1, console=stderr, show=not options.quiet) as bar:
        plan = paper.plan(wish, data_dir=options.data_dir, download=options.download, meter=bar)
    forms.check(file, plan.identity.digest)
    jobs = paper.to_do(plan, file.read())
    total = sum(job.weight for job in jobs)
    try:
        with meter(total, console=stderr, show=not options.quiet) as bar:
            paper.run(plan, jobs, file, data_dir=options.data_dir, meter=bar)
    except KeyboardInterrupt:
        left = len(paper.to_do(plan, file.read()))
        sys.stderr.write(
            f"calipers: stopped with {left} of {len(jobs)} runs left; what is done is in "
            f"{str(file.path)!r}: the same command goes on, --report-only shows it.\n"
        )
        return None
    return plan.identity.digest
