"""Environments of their own, for packages that do not go with ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def interpreter(environment: Path) -> Path:
    """Python of an environment."""
    return environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def make(environment: Path, packages: Sequence[str]) -> str | None:
    """Make it unless it is there; returns why that could not be done."""
    done = environment / "made"
    if done.is_file():
        return None
    for words in (
        [sys.executable, "-m", "venv", "--clear", str(environment)],
        [str(interpreter(environment)), "-m", "pip", "install", "--quiet", *packages],
    ):
        made = subprocess.run(words, capture_output=True, text=True)
        if made.returncode:
            lines = made.stderr.strip().splitlines()
            return f"no environment: {lines[-1] if lines else made.returncode}"
    done.write_text("\n".join(packages))
    return None
