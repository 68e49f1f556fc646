"""``python -m benchmarks COMMAND``: measure, or show what has been measured."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks import components, golden, mining, peers, rows, search, sizes, speed, study

COMMANDS = {
    "golden": golden,
    "speed": speed,
    "mining": mining,
    "sizes": sizes,
    "peers": peers,
    "study": study,
    "components": components,
    "search": search,
}


def main(words: Sequence[str] | None = None) -> list[rows.Row]:
    """Run a command; returns its rows."""
    args = _parser().parse_args(words)
    if args.command == "show":
        rows.show(args.file, _all_tables())
        return []
    module = COMMANDS[args.command]
    report = rows.Report(args.command, module.TABLES, file=args.rows)
    report.say(rows.describe(rows.machine()))
    module.run(args, report)
    report.say(f"\nrows are in {report.file}")
    return report.rows


def _all_tables() -> rows.Tables:
    return {name: table for module in COMMANDS.values() for name, table in module.TABLES.items()}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        first_line = (module.__doc__ or "").splitlines()[0]
        command = commands.add_parser(name, help=first_line, description=module.__doc__)
        module.add_arguments(command)
        command.add_argument(
            "--rows", type=Path, metavar="FILE", help=f"default: results/{name}.jsonl"
        )
    show = commands.add_parser("show", help="Print the tables of a file of rows.")
    show.add_argument("file", type=Path)
    return parser


if __name__ == "__main__":
    main()
