"""How a command ends on Ctrl-C and SIGTERM.

A handler of signals raises wherever the program happens to be. Where that is a callback of the
interpreter (of a weak reference, of a garbage collection) the exception is reported as ignored
and the program goes on, so the signal is sent again until its exception gets through.
"""

from __future__ import annotations

import _thread
import signal
import sys
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


def _send(number: signal.Signals) -> None:
    """Send a signal to the main thread; where the platform allows, it ends a blocking call."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(number)


@contextmanager
def _resent() -> Iterator[None]:
    """Send a signal again whose exception the interpreter ignored, while this is open."""
    original, pending = sys.unraisablehook, list[tuple[threading.Timer, type[BaseException]]]()

    def again(ignored: sys.UnraisableHookArgs) -> None:
        if not isinstance(ignored.exc_value, KeyboardInterrupt):
            original(ignored)
            return
        number = signal.SIGTERM if isinstance(ignored.exc_value, Terminated) else signal.SIGINT
        later = threading.Timer(0.01, _send, (number,))
        later.daemon = True
        pending.append((later, type(ignored.exc_value)))
        later.start()

    sys.unraisablehook = again
    try:
        yield
        for later, kind in pending:
            if not later.finished.is_set():  # the work ended first
                raise kind
    finally:
        sys.unraisablehook = original
        for later, _ in pending:
            later.cancel()


def _is_ignored() -> bool:
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does, while this is open.

    Where Ctrl-C is ignored, as under ``nohup`` and by jobs in the background, it stays so.
    """
    if threading.current_thread() is not threading.main_thread():  # only it may set handlers
        yield
        return
    handlers = {signal.SIGTERM: _terminate} | ({} if _is_ignored() else {signal.SIGINT: _interrupt})
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        with _resent():
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def with_the_metric_so_far() -> Iterator[None]:
    """Let Ctrl-C end a fit with the metric it has by then, while this is open."""
    if threading.current_thread() is not threading.main_thread() or _is_ignored():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the one that fits look for
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
