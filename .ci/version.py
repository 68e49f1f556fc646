#!/usr/bin/env python3
"""Prints the version, for meson: not executable, so that meson runs it with its own Python."""

import runpy
import sys
from pathlib import Path

FILE = Path(__file__).parents[1] / "src" / "calipers" / "version.py"

sys.stdout.write(runpy.run_path(str(FILE))["__version__"])
