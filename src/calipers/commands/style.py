"""What all commands share: kinds of arguments, consoles, JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    Commands = argparse._SubParsersAction[Any]

PICTURES = (".png", ".svg", ".pdf")


def add_style(command: argparse.ArgumentParser) -> None:
    """Add the options on how results are told."""
    command.add_argument("--json", action="store_true", help="rows as JSON, nothing else on stdout")
    command.add_argument("--quiet", action="store_true", help="no progress bar and no remarks")


def add_data(command: argparse.ArgumentParser, *, label_needed: bool) -> None:
    """Add the options on which data are read."""
    from_file = "LIBSVM and NPZ have labels of their own" if label_needed else "kept in the output"
    command.add_argument(
        "--label",
        metavar="COLUMN",
        help=f"column of labels: its name, or its position from 1, -1 for the last ({from_file})",
    )
    command.add_argument(
        "--ignore",
        metavar="COLUMN",
        action="append",
        default=[],
        help="a column that is no feature, such as a number of rows; may be repeated",
    )
    command.add_argument(
        "--format",
        choices=("csv", "tsv", "parquet", "npy", "npz", "libsvm"),
        help="format of the data (default: told by the ending; CSV, TSV, LIBSVM also .gz, .bz2)",
    )
    command.add_argument(
        "--encoding",
        type=encoding,
        metavar="NAME",
        help="how characters of CSV and TSV are coded, for example cp1252 (default: utf-8)",
    )


def check_apart(written: Path, **used: str | Path) -> None:
    """Raise if what is to be written would take the place of what else is used."""
    from calipers.files import FileError

    for what, path in used.items():
        try:
            is_same = os.path.realpath(written) == os.path.realpath(path)
        except ValueError:  # no name of a file, as who reads it will tell
            continue
        if is_same:
            raise FileError(
                f"{str(written)!r} is the name of the {what}, too, which would be lost: name "
                "another place."
            )


def console(*, stderr: bool = False) -> Console:
    """Open a console; what is not a terminal gets room for every column."""
    from rich.console import Console

    opened = Console(stderr=stderr)
    return opened if opened.is_terminal else Console(stderr=stderr, width=110)


def remark(text: str) -> None:
    """Say a sentence aside."""
    sys.stderr.write(f"{text}\n")


def write_json(rows: object) -> None:
    """Write what a program reads."""
    sys.stdout.write(json.dumps(rows, indent=2) + "\n")


def picture(text: str) -> Path:
    """Take the name of a picture."""
    path = Path(text)
    if path.suffix.lower() not in PICTURES:
        raise argparse.ArgumentTypeError(
            f"the picture's name must end in {', '.join(PICTURES)}, got {text!r}"
        )
    return path


def encoding(text: str) -> str:
    """Take the name of an encoding of characters."""
    try:
        "".encode(text)
    except LookupError:
        raise argparse.ArgumentTypeError(
            f"must be an encoding that Python knows, such as utf-8 or cp1252, got {text!r}"
        ) from None
    return text


def seed(text: str) -> int:
    """Take a seed of random numbers."""
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 2^32 - 1, got {text!r}")
    return int(text)


def count(text: str) -> int:
    """Take a number of things."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


def at_least_two(text: str) -> int:
    """Take a number of things of which one is not enough."""
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 2, got {text!r}")
    return int(text)
