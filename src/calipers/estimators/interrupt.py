"""Ctrl-C during a fit: it ends after the step under way, with the metric so far."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class InterruptedFitWarning(UserWarning):
    """A fit was ended by Ctrl-C; the metric is the one it had by then."""


@contextmanager
def stop_asked() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C came; a second one ends at once as usual.

    Where Ctrl-C means something else already, or in another thread than the first, it stays
    as it is.
    """
    asked = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    is_first = threading.current_thread() is threading.main_thread()
    if not is_first or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: False
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
