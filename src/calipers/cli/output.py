"""How commands show results: consoles, remarks, JSON, progress and pictures.

rich draws tables and bars and is the extra ``cli``; matplotlib draws pictures and is the extra
``plot``. A command that needs one of them imports it before any work.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import isfinite
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table


def console(*, stderr: bool = False) -> Console:
    """Open a console; one that is no terminal is wide enough for every table.

    Raises
    ------
    ImportError
        rich is not installed; the sentence says how to install it.
    """
    try:
        from rich.console import Console
    except ImportError as missing:
        from calipers.data.files import needs_package

        sentence = needs_package("The command line", "rich", "cli")
        raise ImportError(sentence, name="rich") from missing
    opened = Console(stderr=stderr)
    return opened if opened.is_terminal else Console(stderr=stderr, width=110)


def say(text: object, stream: TextIO | None = None) -> None:
    """Print a line to stdout; what is in it of foreign text cannot do anything to a terminal."""
    from calipers.data.files import escaped

    stream = stream or sys.stdout
    encoding = stream.encoding or "ascii"
    shown = escaped(text).encode(encoding, "backslashreplace").decode(encoding)
    if stream.isatty() and "  " not in shown:  # prose, not a table
        shown = fill(shown, get_terminal_size().columns, break_on_hyphens=False)
    stream.write(shown + "\n")


def remark(text: object) -> None:
    """Print a line to stderr, as `say` does."""
    say(text, sys.stderr)


def write_json(value: object) -> None:
    """Print a value for other programs; numbers beyond float64 are null."""
    sys.stdout.write(json.dumps(_finite(value), indent=2, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def score_table(title: str, columns: list[str], rows: list[list[str]]) -> Table:
    """Return a table of scores: names to the left, numbers to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column(title)
    for column in columns:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*row)
    return table


# Progress


class Meter:
    """Steps on one bar, and a callback for fits that are steps: each of their tasks counts."""

    def __init__(self, progress: Progress, n_steps: int) -> None:
        self._progress, self._task = progress, progress.add_task("", total=n_steps)
        self._done = 0

    @contextmanager
    def step(self, name: str) -> Iterator[Meter]:
        """Show ``name`` until the step is done; yields a callback for a fit that is the step."""
        self._progress.update(self._task, description=name)
        yield self
        self._done += 1
        self._progress.update(self._task, completed=self._done)

    def _nothing(self, estimator: Any, context: Any) -> None:
        """Show nothing."""

    setup = teardown = on_fit_task_begin = _nothing

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Move the bar by a step of the fit, or by a fit inside."""
        if context.parent is not None and context.parent.max_subtasks:
            self._progress.advance(self._task, 1 / context.parent.max_subtasks)


@contextmanager
def meter(n_steps: int, *, show: bool = True) -> Iterator[Meter]:
    """Open a bar for so many steps; it is shown on a terminal only."""
    from rich.progress import Progress

    stderr = console(stderr=True)
    is_shown = show and stderr.is_terminal
    progress = Progress(console=stderr, transient=True, disable=not is_shown)
    with progress if is_shown else nullcontext():  # rich ends what is disabled with an empty line
        yield Meter(progress, n_steps)


# Pictures


def check_picture(path: Path) -> None:
    """Raise, before any work is done, if no picture can be drawn or written."""
    from calipers.data.files import check_writable
    from calipers.plot import figure_class

    figure_class()
    check_writable(path)


def write_picture(figure: Figure, path: Path) -> None:
    """Write a picture completely or not at all."""
    from calipers.data.files import atomic_write

    with atomic_write(path) as stream:
        figure.savefig(stream, format=path.suffix[1:].lower())
