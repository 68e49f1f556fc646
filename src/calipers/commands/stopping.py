"""How a command ends when it is told to."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM came: drafts are removed and locks released as after Ctrl-C."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ctrl-C ends the whole command, not only the fit under way."""
    raise KeyboardInterrupt


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does, while this is open."""
    if threading.current_thread() is not threading.main_thread():  # only it may set handlers
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate), signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGINT, before[1])


@contextmanager
def with_the_metric_so_far() -> Iterator[None]:
    """Let Ctrl-C end a fit with the metric it has by then, while this is open."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the one that fits look for
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
