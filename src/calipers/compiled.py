"""Compiled code on disk that belongs to the sources as they are.

numba keeps what it compiles and looks for changes in the file of a function only, not in
those of the functions it calls. After an upgrade it could run a loop of the new version
around arithmetic of the old one; so what was compiled from other sources is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TypeVar

from numba import jit

Function = TypeVar("Function", bound=Callable[..., Any])
MARK = "calipers-sources.sha256"
PARTS = ("losses.py", "sampling.py", "steps.py", "schedules.py", "projections.py")


def inner(*, fastmath: Collection[str] = ()) -> Callable[[Function], Function]:
    """Compile a function that only compiled code calls.

    A way in from Python would take longer to compile than many a function itself, and again
    with each of its callers.
    """
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiler: Callable[[Function], Function] = jit(
        cache=True, nogil=True, fastmath=set(fastmath), **options
    )
    return compiler


def forget_stale(kernel: Any) -> None:
    """Remove the compiled code beside that of ``kernel`` unless it is of these sources.

    To be called where a module with compiled functions ends, before any of them runs.
    A cache that cannot be written is left alone.
    """
    folder = Path(kernel.stats.cache_path)
    mark = folder / MARK
    with suppress(OSError):
        if mark.exists() and mark.read_text() == sources_digest():
            return
        for file in [*folder.glob("*.nbi"), *folder.glob("*.nbc")]:
            file.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=folder, delete=False) as beside:
            beside.write(sources_digest())
        Path(beside.name).replace(mark)


@cache
def sources_digest() -> str:
    """Digest of all that goes into compiled code: every kernel, loss, policy and step."""
    digest = sha256()
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        text = file.read_bytes()
        if b"numba" in text or file.name in PARTS:
            digest.update(text)
    return digest.hexdigest()
