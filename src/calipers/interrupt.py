"""Ctrl-C during a fit: it ends after the step under way, with the metric so far."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class InterruptedFitWarning(UserWarning):
    """A fit was ended by Ctrl-C; the metric is the one it had by then."""


class Request:
    """Notes the first Ctrl-C in ``came``; a second one ends the program as usual."""

    came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.came:
            raise KeyboardInterrupt
        self.came = True


_outermost: Request | None = None


@contextmanager
def interrupt_requested() -> Iterator[Request]:
    """Yield what tells whether Ctrl-C came.

    A fit within a fit shares the request of the outer one, in whatever thread it runs. Where
    Ctrl-C means something else already or is ignored (``nohup``, jobs in the background), or
    outside of the main thread, it stays as it is.
    """
    global _outermost
    if _outermost is not None:
        yield _outermost
        return
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield Request()
        return
    request = _outermost = Request()
    signal.signal(signal.SIGINT, request)
    try:
        yield request
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _outermost = None
