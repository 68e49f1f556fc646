"""The parser of all commands, and their exit codes.

A command imports what is heavy when it runs, so that ``--help`` answers at once. A mistake of the
user's ends in one sentence and exit code 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from calipers import __version__
from calipers.cli import adapt, demo, evaluate, fit, inspect, paper, transform
from calipers.cli.output import remark

COMMANDS = (evaluate, fit, transform, inspect, adapt, demo, paper)

_EXAMPLES = """\
examples:
  calipers evaluate data.csv --label species    is a learned metric better?
  calipers fit data.csv --label species -o metric.safetensors
  calipers transform metric.safetensors data.csv -o images.csv
  calipers inspect metric.safetensors           what was learned
  calipers adapt --queries queries.npy --documents documents.npy --pairs clicks.csv
  calipers demo                                 what a learned distance is worth
  calipers paper --data-dir DIR                 the experiments of the paper, as a report

exit codes: 0 done; 1 the paper's numbers are not met; 2 a mistake in the call or in a file, said
in one sentence; 130 stopped by Ctrl-C. The metric so far of a fit that Ctrl-C stopped is in its
file.
"""


class _Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one sentence instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        remark(f"{self.prog}: {message} (see {self.prog} --help)")
        self.exit(2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; by default those of the process.

    Returns
    -------
    int
        0 done, 1 the paper's numbers are not met, 2 a mistake of the user's, 130 stopped by
        Ctrl-C.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    parser = _parser(words[:1])
    options = parser.parse_args(words)
    if options.command is None:
        parser.print_help()
        return 0
    from calipers.data.files import SentenceError
    from calipers.threads import n_threads

    try:
        n_threads()
    except ValueError as mistake:  # a bad CALIPERS_NUM_THREADS is reported before any work
        parser.error(str(mistake))
    try:
        code: int = options.run(options)
        sys.stdout.flush()  # here a reader that has left is no error
    except BrokenPipeError:  # the reader of a pipe has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (SentenceError, OSError) as mistake:
        remark(f"calipers: {mistake}")
        return 2
    except ImportError as missing:  # of an extra; one of ours would be a defect
        if (missing.name or "calipers").startswith("calipers"):
            raise
        remark(f"calipers: {missing}")
        return 2
    except MemoryError:
        remark("calipers: more memory is needed than there is: take fewer samples or features.")
        return 2
    except KeyboardInterrupt:
        remark("calipers: stopped before the end; no half-written file is left.")
        return 130
    return code


def _parser(command: Sequence[str] = ()) -> _Parser:
    """Return a parser of one command, or of all where none of them is named."""
    parser = _Parser(
        prog="calipers",
        description="Learn a distance from labelled samples, and run the experiments of Qian et "
        "al. (2013).",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"calipers {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    named = [module for module in COMMANDS if module.__name__.rpartition(".")[2] in command]
    for module in named or COMMANDS:
        module.add(commands)
    return parser
