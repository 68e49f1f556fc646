"""Compiled code that belongs to the sources as they are.

numba looks for changes in the file of a function only, not in those of the functions it
calls. A benchmark that follows an edit would time what was compiled before it.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import calipers


def keep_apart() -> None:
    """Give every state of the sources a folder of its own, unless the user has named one.

    To be called before anything imports numba; processes started later inherit it.
    """
    digest = sha256()
    for file in sorted(Path(calipers.__file__).parent.rglob("*.py")):
        text = file.read_bytes()
        if b"numba" in text or file.name in ("losses.py", "sampling.py"):
            digest.update(text)
    folder = Path(__file__).parent / "__pycache__" / f"compiled-{digest.hexdigest()[:16]}"
    os.environ.setdefault("NUMBA_CACHE_DIR", str(folder))
