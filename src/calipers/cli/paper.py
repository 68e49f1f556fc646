"""``calipers paper``: the paper's experiments, and a report of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from calipers.cli.options import add_output, advanced, whole_number
from calipers.cli.output import console, meter, remark, score_table, write_json

if TYPE_CHECKING:
    from calipers.cli.options import Commands


def add(commands: Commands) -> None:
    """Register the command."""
    paper = commands.add_parser(
        "paper",
        help="the paper's experiments, with a report to look at",
        description="Run the paper's systems on every data set that can be had, and a parameter "
        "study, and write a report of its Tables 1 to 4 and Figure 1, ours beside the paper's. "
        "Each run is kept as soon as it is done: the same command goes on where it was stopped.",
    )
    for name, about in (
        ("--quick", "one run of semeion and dna, or of the embedded digits"),
        ("--check", "only hold updates and errors of AS-SGD, HR-SGD and HA-SGD to the paper's"),
        ("--download", "fetch data that are not here from their homes"),
    ):
        paper.add_argument(name, action="store_true", help=about)
    about = "folder with the data (default: $CALIPERS_DATA)"
    paper.add_argument("--data-dir", metavar="DIR", help=about)
    folder, about = Path("calipers-paper"), "folder for rows and report (default: %(default)s)"
    paper.add_argument("-o", "--output", type=Path, default=folder, metavar="DIR", help=about)
    more = advanced(paper)
    more.add_argument("--datasets", nargs="+", metavar="NAME", help="only these: semeion dna ...")
    about = "only these: sgd as-sgd ...; parameters for the parameter study"
    more.add_argument("--methods", nargs="+", metavar="NAME", help=about)
    more.add_argument("--seeds", type=whole_number, metavar="N", help="runs of each data set")
    about = "triplets to learn from (default: %(default)s, as in the paper)"
    more.add_argument("--n-triplets", type=whole_number, default=100_000, metavar="N", help=about)
    add_output(paper)
    paper.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run what is left to do, write the report, and return 1 if a check fails."""
    out = console()
    from calipers.paper import check, report, runs
    from calipers.paper.tables import Results, tables
    from calipers.plot import figure_class

    figure_class()  # a missing package is reported before the work
    usual, methods = (runs.QUICK_RUNS if options.quick else None), options.methods
    if options.check:
        usual, methods = (check.FEW_RUNS if options.quick else check.RUNS), methods or check.CHECKED
    wish = runs.Wish(
        options.datasets,
        methods,
        usual,
        options.seeds,
        options.n_triplets,
        options.data_dir,
        options.download,
    )
    plan = runs.plan(wish)
    options.output.mkdir(parents=True, exist_ok=True)
    file = options.output / runs.ROWS
    with meter(len(plan.to_do(file)), show=not options.quiet) as bar:
        for job in runs.run(plan, file):
            with bar.step(f"{job.dataset}: {job.system.label}"):
                pass  # it is done
    rows = plan.rows(file)
    written, results = report.write(rows, options.output), Results(rows)
    compared, passed = check.check(results)
    if options.json:
        write_json(rows)
    else:
        for title, headings, cells in [compared] if options.check else tables(results):
            out.print(title, score_table(headings[0], headings[1:], cells), sep="\n")
    if not options.quiet:
        for reason in plan.missing.values():
            remark(reason)
        remark(f"Report: {written}")
    return 1 if options.check and not passed else 0
