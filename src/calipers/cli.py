"""The command line; the commands for one's own data are in `calipers.commands`.

Everything heavy is imported by the command that needs it, so that ``--help`` answers at
once. A mistake of the user's ends in one sentence and exit code 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from calipers import __version__
from calipers.commands import evaluate, fit, inspect, paper, transform
from calipers.commands.stopping import Terminated, terminable
from calipers.commands.style import add_style as _add_style
from calipers.commands.style import console as _console
from calipers.commands.style import count as _count
from calipers.commands.style import picture as _picture
from calipers.commands.style import seed as _seed
from calipers.commands.style import write_json as _write_json


class _Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one sentence instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0 done, 1 differs, 2 mistaken, 130 or 143 stopped.

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
    from calipers.files import FileError
    from calipers.threads import n_threads

    try:
        n_threads()
    except ValueError as mistake:  # a bad CALIPERS_NUM_THREADS is told before any work
        parser.error(str(mistake))
    try:
        with terminable():
            code: int = options.run(options)
    except BrokenPipeError:  # the reader of a pipe left: nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (DatasetError, FileError, OSError) as mistake:
        sys.stderr.write(f"calipers: {mistake}\n")
        return 2
    except KeyboardInterrupt as stop:
        sys.stderr.write("calipers: stopped before the end; no half-written file is left.\n")
        return 143 if isinstance(stop, Terminated) else 130
    return code


def _parser() -> _Parser:
    parser = _Parser(
        prog="calipers",
        description="Learn distances: the algorithms of Qian et al. (2013), shown and checked.",
        epilog="examples:\n"
        "  calipers demo                                 table and picture in a minute\n"
        "  calipers demo --json --quiet > rows.json      the same for a program\n"
        "  calipers evaluate data.csv --label species    is a learned distance better?\n"
        "  calipers fit data.csv --label species -o metric.safetensors\n"
        "  calipers transform metric.safetensors data.csv -o mapped.csv\n"
        "  calipers inspect metric.safetensors           what was learned\n"
        "  calipers fingerprint --data-dir DIR --quick   our numbers beside the paper's\n"
        "  calipers paper --data-dir DIR                 all its experiments, as a report\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"calipers {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_demo(commands)
    for command in (fit, transform, evaluate, inspect):
        command.add(commands)
    _add_fingerprint(commands)
    paper.add(commands)
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
