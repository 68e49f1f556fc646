"""The command line: ``calipers demo``, ``calipers fingerprint`` and ``calipers paper``.

Everything heavy is imported by the command that needs it, so that ``--help`` answers at
once. A mistake of the user's ends in one sentence and exit code 2.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from calipers import __version__

if TYPE_CHECKING:
    from rich.console import Console

    from calipers.experiments.runs import RunFile

PICTURES = (".png", ".svg", ".pdf")


class _Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one sentence instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0 done, 1 differs, 2 mistaken, 130 stopped.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; by default those of the process.

    Returns
    -------
    int
        Exit code.
    """
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return 0
    from calipers.datasets import DatasetError
    from calipers.threads import n_threads

    try:
        n_threads()
    except ValueError as mistake:  # a bad CALIPERS_NUM_THREADS is told before any work
        parser.error(str(mistake))
    try:
        code: int = options.run(options)
    except BrokenPipeError:  # the reader of a pipe left: nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (DatasetError, OSError) as mistake:
        sys.stderr.write(f"calipers: {mistake}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("calipers: stopped before the end; no half-written file is left.\n")
        return 130
    return code


def _parser() -> _Parser:
    parser = _Parser(
        prog="calipers",
        description="Learn distances: the algorithms of Qian et al. (2013), shown and checked.",
        epilog="examples:\n"
        "  calipers demo                                 table and picture in a minute\n"
        "  calipers demo --json --quiet > rows.json      the same for a program\n"
        "  calipers fingerprint --data-dir DIR --quick   our numbers beside the paper's\n"
        "  calipers paper --data-dir DIR                 all its experiments, as a report\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"calipers {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_demo(commands)
    _add_fingerprint(commands)
    _add_paper(commands)
    return parser


def _add_demo(commands: argparse._SubParsersAction[_Parser]) -> None:
    demo = commands.add_parser(
        "demo",
        help="five algorithms on embedded digits: a table and a picture",
        description="Learn a metric for scikit-learn's embedded digits with each of the paper's "
        "five algorithms, compare 3-NN errors, and draw the data before and after.",
    )
    demo.add_argument(
        "--output",
        type=_picture,
        default=Path("calipers-demo.png"),
        metavar="PICTURE",
        help="where the picture goes (default: %(default)s; also .svg and .pdf)",
    )
    demo.add_argument("--seed", type=_seed, default=0, help="random seed (default: %(default)s)")
    _add_style(demo)
    demo.set_defaults(run=_demo)


def _add_fingerprint(commands: argparse._SubParsersAction[_Parser]) -> None:
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
    fingerprint.add_argument("--quick", action="store_true", help="two splits of semeion, and dna")
    fingerprint.add_argument(
        "--seeds", type=_count, metavar="N", help="runs of each data set (default: 1 to 10)"
    )
    _add_style(fingerprint)
    fingerprint.set_defaults(run=_fingerprint)


def _add_paper(commands: argparse._SubParsersAction[_Parser]) -> None:
    paper = commands.add_parser(
        "paper",
        help="the paper's experiments, with a report to look at",
        description="Run the paper's three experiments, ten systems on every data set that can be "
        "had, and write a report of its Tables 1, 4, 5, 6 and Figure 1, ours beside the paper's. "
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
        "--download", action="store_true", help="fetch data that are not here from their homes"
    )
    paper.add_argument(
        "--datasets", nargs="+", metavar="NAME", help="only these, for example: semeion dna"
    )
    paper.add_argument(
        "--methods", nargs="+", metavar="NAME", help="only these, for example: sgd as-sgd"
    )
    paper.add_argument(
        "--seeds", type=_count, metavar="N", help="runs of each data set (default: 1 to 10)"
    )
    paper.add_argument(
        "--triplets",
        type=_count,
        default=100_000,
        metavar="N",
        help="triplets to learn from (default: %(default)s, as in the paper)",
    )
    paper.add_argument(
        "--quick", action="store_true", help="one run of semeion and dna, or of embedded digits"
    )
    paper.add_argument(
        "--report-only", action="store_true", help="run nothing: make the report from the rows"
    )
    _add_style(paper)
    paper.set_defaults(run=_paper)


def _add_style(command: _Parser) -> None:
    command.add_argument("--json", action="store_true", help="rows as JSON, nothing else on stdout")
    command.add_argument("--quiet", action="store_true", help="no progress bar and no remarks")


def _demo(options: argparse.Namespace) -> int:
    from calipers.experiments import demo
    from calipers.experiments.progress import meter
    from calipers.experiments.tables import demo_table

    demo.check_writable(options.output)
    aside = _console(stderr=True)
    with meter(demo.TOTAL_WEIGHT, console=aside, show=not options.quiet) as bar:
        result = demo.run(bar, seed=options.seed)
    demo.write_picture(demo.picture(result), options.output)
    if options.json:
        _write_json([asdict(row) for row in result.rows])
    else:
        _console().print(demo_table(result.rows))
    if not options.quiet:
        aside.print(f"Picture: {options.output}", highlight=False, soft_wrap=True)
    return 0


def _fingerprint(options: argparse.Namespace) -> int:
    from calipers.experiments import fingerprint
    from calipers.experiments.progress import meter
    from calipers.experiments.tables import fingerprint_remarks, fingerprint_table

    chosen = fingerprint.plan(options.datasets, quick=options.quick, runs=options.seeds)
    total = len(fingerprint.METHODS) * sum(chosen.values())
    aside = _console(stderr=True)
    with meter(total, console=aside, show=not options.quiet) as bar:
        rows = list(fingerprint.run(chosen, data_dir=options.data_dir, meter=bar))
    if options.json:
        _write_json([asdict(row) | {"within": row.within} for row in rows])
    else:
        _console().print(fingerprint_table(rows))
    if not options.quiet:
        for remark in fingerprint_remarks(rows):
            aside.print(remark, highlight=False, soft_wrap=True)
    return 0 if all(row.within for row in rows) else 1


def _paper(options: argparse.Namespace) -> int:
    from calipers.experiments import report
    from calipers.experiments.runs import ROWS, RunFile, check_folder, latest, of_identity
    from calipers.experiments.tables import paper_remarks, paper_tables

    check_folder(options.output, create=not options.report_only)
    file = RunFile(options.output / ROWS)
    aside = _console(stderr=True)
    if options.report_only:
        rows = latest(file.read())
    else:
        digest = _run_paper(options, file, aside)
        if digest is None:
            return 130
        rows = of_identity(file.read(), digest)
    if not rows:
        raise FileNotFoundError(f"There are no rows in {str(file.path)!r}: run something first.")
    written = report.write(rows, options.output)
    if options.json:
        _write_json(rows)
    else:
        for table in paper_tables(rows):
            _console().print(table)
    if not options.quiet:
        for remark in paper_remarks(rows, file):
            aside.print(remark, highlight=False, soft_wrap=True)
        aside.print(f"Report: {written[0]}", highlight=False, soft_wrap=True)
    return 0


def _run_paper(options: argparse.Namespace, file: RunFile, aside: Console) -> str | None:
    """Run what is asked for and not yet done; the identity of the rows, None if stopped."""
    from calipers.experiments import paper
    from calipers.experiments.progress import meter

    wish = paper.Wish(
        options.datasets, options.methods, options.seeds, options.quick, options.triplets
    )
    with meter(1, console=aside, show=not options.quiet) as bar:
        plan = paper.plan(wish, data_dir=options.data_dir, download=options.download, meter=bar)
    jobs = paper.to_do(plan, file.read())
    total = sum(job.weight for job in jobs)
    try:
        with meter(total, console=aside, show=not options.quiet) as bar:
            paper.run(plan, jobs, file, data_dir=options.data_dir, meter=bar)
    except KeyboardInterrupt:
        left = len(paper.to_do(plan, file.read()))
        sys.stderr.write(
            f"calipers: stopped with {left} of {len(jobs)} runs left; what is done is in "
            f"{str(file.path)!r}: the same command goes on, --report-only shows it.\n"
        )
        return None
    return plan.identity.digest


def _console(*, stderr: bool = False) -> Console:
    """Open a console; what is not a terminal gets room for every column."""
    from rich.console import Console

    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=110)


def _write_json(rows: list[dict[str, object]]) -> None:
    sys.stdout.write(json.dumps(rows, indent=2) + "\n")


def _picture(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in PICTURES:
        raise argparse.ArgumentTypeError(
            f"the picture's name must end in {', '.join(PICTURES)}, got {text!r}"
        )
    return path


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 2^32 - 1, got {text!r}")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)
