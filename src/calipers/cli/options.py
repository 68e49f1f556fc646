"""Options that commands share, and the types of their arguments."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[Any]

STANDARD = "-"
"""The name of standard input, or output."""

N_VOTERS = 3
"""Neighbours that vote, by default."""

TABLE = "table: CSV, TSV, .xlsx, JSONL, Parquet, NPY, NPZ or LIBSVM; - reads CSV from stdin"


def advanced(command: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Return the group of the options that few people need, the last one of the help."""
    named = [group for group in command._action_groups if group.title == "advanced"]
    return named[0] if named else command.add_argument_group("advanced")


def add_output(command: argparse.ArgumentParser) -> None:
    """Add the options on how results are shown."""
    shown = "write JSON to stdout, and nothing else"
    command.add_argument("--json", action="store_true", help=shown)
    less = "show no progress bar and no remarks, but for what is left out"
    command.add_argument("--quiet", action="store_true", help=less)


def check_apart(written: Path, *read: str | None) -> None:
    """Raise if a file to be written is one that the command reads."""
    from calipers.data.files import FileError

    for path in read:
        if path is not None and written.resolve() == Path(path).resolve():
            raise FileError(
                f"{str(written)!r} is read by this command and would be lost: name another place."
            )


def _ending_in(endings: tuple[str, ...], text: str) -> Path:
    if Path(text).suffix.lower() in endings:
        return Path(text)
    raise argparse.ArgumentTypeError(f"the name must end in {', '.join(endings)}, got {text!r}")


picture = partial(_ending_in, (".png", ".svg", ".pdf"))
page = partial(_ending_in, (".html",))


def whole_number(text: str, least: int = 1, most: int | None = None) -> int:
    """Parse a whole number."""
    if text.isdecimal() and least <= int(text) and (most is None or int(text) <= most):
        return int(text)
    allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise argparse.ArgumentTypeError(f"must be a whole number {allowed}, got {text!r}")


at_least_two = partial(whole_number, least=2)
seed = partial(whole_number, least=0, most=2**32 - 1)
