"""Seconds and peak memory of a call. What is scored is scored outside of it."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

Result = TypeVar("Result")

SHORT = 2.0  # seconds below which a call is repeated
REPEATS = 3


def timed(call: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds of one call, and what it returned."""
    started = perf_counter()
    result = call()
    return perf_counter() - started, result


def best_timed(call: Callable[[], Result]) -> tuple[float, Result]:
    """As `timed`, but the best of three where the first took less than two seconds."""
    (seconds, _), result = best_clocked(call)
    return seconds, result


def best_clocked(call: Callable[[], Result]) -> tuple[tuple[float, float], Result]:
    """The same with CPU seconds, which other work on the machine changes less."""
    readings: list[tuple[float, float]] = []
    while not readings or (len(readings) < REPEATS and readings[0][0] < SHORT):
        started = process_time()
        seconds, result = timed(call)
        readings.append((seconds, process_time() - started))
    seconds, cpu_seconds = (min(column) for column in zip(*readings, strict=True))
    return (seconds, cpu_seconds), result


def resident_megabytes(call: Callable[[], object]) -> float:
    """How far a call raises the memory of the process above where it stood.

    Whatever takes memory counts, compiled code that is loaded on the way included. To be
    measured in a fresh process: memory that an earlier call has left behind is used again.
    """
    gc.collect()
    _hand_back_free_memory()
    before = _forget_peak()
    call()
    return (_peak() - before) / 1e6


def peak_megabytes() -> float:
    """Largest resident memory of this process so far, mapped pages of files included."""
    return _peak() / 1e6


def _hand_back_free_memory() -> None:
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _forget_peak() -> float:
    """Make the present memory the peak where the system can; returns the peak, in bytes."""
    control = Path("/proc/self/clear_refs")
    if control.exists():
        control.write_text("5")
    return _peak()


def _peak() -> float:
    """Largest resident memory, in bytes.

    Linux has ``ru_maxrss``, which is not used: a new process inherits that of its parent.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024.0 * int(line.split()[1])
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) if sys.platform == "darwin" else 1024.0 * peak
