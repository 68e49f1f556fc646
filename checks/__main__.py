"""``python -m checks COMMAND``: exit code 1 where something did not hold."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rows import Report, describe, machine

COMMANDS = (
    "hostile",
    "files",
    "interruptions",
    "long",
    "load",
    "mutations",
    "versions",
    "wheel",
)


def main(words: Sequence[str] | None = None) -> int:
    """Run a command and say how many of its rows do not hold."""
    asked = _parser().parse_args(words)
    module = importlib.import_module(f"checks.{asked.command}")
    report = Report(asked.command, module.TABLES, file=asked.rows)
    report.say(describe(machine()))
    module.run(asked, report)
    bad = [row for row in report.rows if not row["holds"]]
    report.say(f"\n{len(report.rows) - len(bad)} of {len(report.rows)} hold; rows: {report.file}")
    return 1 if bad else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m checks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"checks.{name}")
        first_line = (module.__doc__ or "").splitlines()[0]
        command = commands.add_parser(name, help=first_line, description=module.__doc__)
        module.add_arguments(command)
        command.add_argument(
            "--rows", type=Path, metavar="FILE", help=f"default: results/{name}.jsonl"
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
