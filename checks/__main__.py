"""``python -m checks COMMAND``: exit code 1 where something did not hold."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from benchmarks.rows import Report, describe, machine

import checks

COMMANDS = ("attack", "calls", "wheel")


def main(words: Sequence[str] | None = None) -> int:
    """Run a command and say how many of its rows do not hold."""
    command, *rest = (sys.argv[1:] if words is None else words) or ["--help"]
    _parser().parse_args([command])
    module = importlib.import_module(f"checks.{command.replace('-', '_')}")
    args = _parser_of(command, module).parse_args(rest)
    report = Report(command, module.TABLES, file=args.rows)
    report.say(describe(machine()))
    module.run(args, report)
    bad = [row for row in report.rows if not row["holds"]]
    report.say(f"\n{len(report.rows) - len(bad)} of {len(report.rows)} hold; rows: {report.file}")
    return 1 if bad else 0


def _parser() -> argparse.ArgumentParser:
    """Reads the command; what it needs is imported only then."""
    parser = argparse.ArgumentParser(
        prog="python -m checks",
        description=checks.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, help="COMMAND --help lists its options")
    return parser


def _parser_of(command: str, module: ModuleType) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m checks {command}", description=module.__doc__)
    module.add_arguments(parser)
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help=f"default: results/{command}.jsonl"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
