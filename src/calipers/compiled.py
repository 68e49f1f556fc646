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


def kernel(
    *, fastmath: Collection[str] = (), makes_arrays: bool = False, **more: bool
) -> Callable[[Function], Function]:
    """Compile a function.

    One that makes no arrays does not count references to the parts of arrays it looks at: to
    count one up and down again takes as long as a dozen multiplications. (Where it makes one
    after all, compiling fails and says so.) It must not hand arrays back to one that does,
    which would count down what nobody had counted up.
    """
    options: dict[str, Any] = {"_nrt": makes_arrays, **more}
    compiler: Callable[[Function], Function] = jit(
        cache=True, nogil=True, fastmath=set(fastmath), **options
    )
    return compiler


def inner(
    *, fastmath: Collection[str] = (), makes_arrays: bool = False, inlined: bool = False
) -> Callable[[Function], Function]:
    """Compile a function that only compiled code calls.

    A way in from Python would take longer to compile than many a function itself, and again
    with each of its callers. A call hands over seven numbers for each array, which takes as
    long as a short loop: those around one are ``inlined``.
    """
    return kernel(
        fastmath=fastmath,
        makes_arrays=makes_arrays,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        forceinline=inlined,
    )


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


def sources() -> list[Path]:
    """All that goes into compiled code: every kernel, loss, policy and step."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    marks = b"numba", b"calipers.compiled import"
    return [f for f in files if f.name in PARTS or any(mark in f.read_bytes() for mark in marks)]


@cache
def sources_digest() -> str:
    """Digest of all that goes into compiled code."""
    return sha256(b"".join(file.read_bytes() for file in sources())).hexdigest()
