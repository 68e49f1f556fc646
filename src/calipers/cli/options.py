"""Options that commands share, and the types of their arguments."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import finalize

from calipers.cli.output import remark

if TYPE_CHECKING:
    from calipers.data.tables import Table

    Commands = argparse._SubParsersAction[Any]

STANDARD = "-"
"""The name of standard input, or output."""

_NAME_OF_STANDARD = "standard input"

N_VOTERS = 3
"""Neighbours that vote, by default."""

TABLE = "table: CSV, TSV, .xlsx, JSONL, Parquet, NPY, NPZ or LIBSVM; - reads CSV from stdin"


def advanced(command: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Return the group of the options that few people need, the last one of the help."""
    named = [group for group in command._action_groups if group.title == "advanced"]
    return named[0] if named else command.add_argument_group("advanced")


def add_output(command: argparse.ArgumentParser) -> None:
    """Add the options on how results are shown."""
    command.add_argument(
        "--json", action="store_true", help="write JSON to stdout, and nothing else"
    )
    command.add_argument(
        "--quiet",
        action="store_true",
        help="show no progress bar and no remarks, but for what is left out",
    )


def add_data(command: argparse.ArgumentParser, *, label_needed: bool) -> None:
    """Add the options on which data to read."""
    about = "; of an NPY also a file of labels" if label_needed else ", which is no feature"
    command.add_argument(
        "--label",
        metavar="COLUMN",
        help=f"column of labels: its name, or its position from 1, -1 for the last{about}",
    )
    command.add_argument(
        "--ignore",
        metavar="COLUMN",
        action="append",
        default=[],
        help="a column that is no feature, such as an ID; may be repeated",
    )
    command.add_argument(
        "--drop-ids",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="leave out columns of row numbers and IDs (default: yes)",
    )
    command.add_argument(
        "--format",
        choices=("csv", "tsv", "xlsx", "jsonl", "parquet", "npy", "npz", "libsvm"),
        help="format of the data (default: by its first bytes, then by the file's ending; text may "
        "end in .gz, .bz2, too)",
    )
    command.add_argument(
        "--encoding",
        type=encoding,
        metavar="NAME",
        help="encoding of CSV and TSV, for example koi8-r (default: UTF-8, UTF-16 or cp1252)",
    )
    command.add_argument(
        "--header",
        choices=("yes", "no"),
        help="whether the first row of CSV, TSV, .xlsx names the columns (default: by its cells)",
    )
    command.add_argument(
        "--decimal",
        choices=(".", ","),
        help="decimal sign of CSV and TSV (default: a comma where numbers need one)",
    )


def read_table(options: argparse.Namespace, **known: Any) -> Table:
    """Read the table that the options name, and remark on what was decided about it."""
    from calipers.data.tables import ReadOptions, read

    given = ReadOptions(
        encoding=options.encoding,
        header=None if options.header is None else options.header == "yes",
        decimal=options.decimal,
        **known,
    )
    with _file_of(options) as path:
        table = read(path, given, kind=options.format)
    if options.data == STANDARD:
        told = (
            each.replace(str(path), _NAME_OF_STANDARD) for each in (table.remark, table.left_out)
        )
        table = replace(table, source=_NAME_OF_STANDARD, remark=next(told), left_out=next(told))
        options.data = _NAME_OF_STANDARD  # in messages
    if table.remark and not options.quiet:
        remark(table.remark)
    if table.left_out:
        remark(table.left_out)
    return table


@contextmanager
def _file_of(options: argparse.Namespace) -> Iterator[Path]:
    """The file of the data; what comes from standard input is put into one first."""
    from calipers.data.files import FileError

    if options.data != STANDARD:
        yield Path(options.data)
        return
    folder = mkdtemp()  # to the end of the command: large tables are read late
    finalize(options, shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / f"data.{options.format or 'txt'}"
    with path.open("wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    try:
        yield path
    except FileError as wrong:
        raise FileError(str(wrong).replace(str(path), _NAME_OF_STANDARD)) from wrong


def check_apart(written: Path, *read: str | None) -> None:
    """Raise if a file to be written is one that the command reads."""
    from calipers.data.files import FileError

    for path in read:
        if path is not None and os.path.realpath(written) == os.path.realpath(path):
            raise FileError(
                f"{str(written)!r} is read by this command and would be lost: name another place."
            )


def picture(text: str) -> Path:
    """Parse the name of a picture."""
    return _named(text, "picture", (".png", ".svg", ".pdf"))


def page(text: str) -> Path:
    """Parse the name of a page."""
    return _named(text, "page", (".html",))


def _named(text: str, what: str, endings: tuple[str, ...]) -> Path:
    if Path(text).suffix.lower() in endings:
        return Path(text)
    raise argparse.ArgumentTypeError(
        f"the {what}'s name must end in {', '.join(endings)}, got {text!r}"
    )


def encoding(text: str) -> str:
    """Parse the name of a text encoding."""
    try:
        "".encode(text)
    except LookupError:
        raise argparse.ArgumentTypeError(
            f"must be an encoding that Python knows, such as utf-8 or cp1252, got {text!r}"
        ) from None
    return text


def whole_number(text: str, least: int = 1, most: int | None = None) -> int:
    """Parse a whole number."""
    if text.isdecimal() and least <= int(text) and (most is None or int(text) <= most):
        return int(text)
    allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise argparse.ArgumentTypeError(f"must be a whole number {allowed}, got {text!r}")


at_least_two = partial(whole_number, least=2)
seed = partial(whole_number, least=0, most=2**32 - 1)
