"""The parser of all commands, and their exit codes.

A command imports what is heavy when it runs, so that ``--help`` answers at once. A mistake of the
user's ends in one sentence and exit code 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from calipers import __version__
from calipers.cli import (
    adapt,
    completion,
    demo,
    evaluate,
    fingerprint,
    fit,
    inspect,
    paper,
    transform,
)
from calipers.cli.output import OPTIONAL, remark
from calipers.cli.stopping import Terminated, terminable

COMMANDS = (demo, fit, transform, evaluate, adapt, inspect, fingerprint, paper, completion)


class _Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one sentence instead of the whole usage.

    The sentence names the command or option that is meant, where one is near.
    """

    def error(self, message: str) -> NoReturn:
        remark(f"{self.prog}: {message} (see {self.prog} --help)")
        self.exit(2)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse what is unknown here, where the options of a command are known."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            words = [word.partition("=")[0] for word in unknown if word.startswith("-")]
            hint = _did_you_mean(words, self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        hint = _did_you_mean([str(value)], action.choices)
        allowed = ", ".join(map(str, action.choices))
        raise argparse.ArgumentError(
            action, f"invalid choice: {value!r} (choose from {allowed}){hint}"
        )


def _did_you_mean(words: list[str], allowed: Iterable[str]) -> str:
    """Return a question that names what is near to a word; nothing is near to most words."""
    from difflib import get_close_matches

    near = [match for word in words for match in get_close_matches(word, [*allowed], n=1)]
    return f"; did you mean {' and '.join(map(repr, near))}?" if near else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; by default those of the process.

    Returns
    -------
    int
        0 done, 1 the paper's numbers are not met, 2 a mistake of the user's, 130 or 143 stopped
        by a signal.
    """
    for name in ("stdout", "stderr"):  # None where the shell has closed them
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return 0
    from calipers.data.files import FileError
    from calipers.paper.datasets import DatasetError
    from calipers.threads import n_threads

    try:
        n_threads()
    except ValueError as mistake:  # a bad CALIPERS_NUM_THREADS is reported before any work
        parser.error(str(mistake))
    try:
        with terminable():
            code: int = options.run(options)
        sys.stdout.flush()  # here a reader that has left is no error
    except BrokenPipeError:  # the reader of a pipe has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (DatasetError, FileError, OSError) as mistake:
        remark(f"calipers: {mistake}")
        return 2
    except ImportError as missing:
        if (missing.name or "").partition(".")[0] not in OPTIONAL:
            raise
        remark(f"calipers: {missing}")
        return 2
    except KeyboardInterrupt as stop:
        sys.stderr.write("calipers: stopped before the end; no half-written file is left.\n")
        return 143 if isinstance(stop, Terminated) else 130
    return code


def _parser() -> _Parser:
    parser = _Parser(
        prog="calipers",
        description="Learn a distance from labelled samples, and run the experiments of Qian et "
        "al. (2013).",
        epilog="examples:\n"
        "  calipers demo                                 what a learned distance is worth\n"
        "  calipers demo --json --quiet > rows.json      the same for a program\n"
        "  calipers evaluate data.csv --label species    is a learned metric better?\n"
        "  calipers fit data.csv --label species -o metric.safetensors\n"
        "  calipers transform metric.safetensors data.csv -o images.csv\n"
        "  calipers adapt --queries queries.npy --documents documents.npy --pairs clicks.csv\n"
        "  calipers inspect metric.safetensors           what was learned\n"
        "  calipers fingerprint --data-dir DIR --quick   our numbers beside the paper's\n"
        "  calipers paper --data-dir DIR                 all its experiments, as a report\n"
        "\nexit codes: 0 done; 1 the paper's numbers are not met; 2 a mistake in the call or in a\n"
        "file, said in one sentence; 130 stopped by Ctrl-C, 143 by SIGTERM. The metric so far of\n"
        "a fit that Ctrl-C stopped is in its file.\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"calipers {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser
