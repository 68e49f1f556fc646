#!/usr/bin/env python3
"""Prints the version, for meson: not executable, so that meson runs it with its own Python."""

import re
import sys
from pathlib import Path

FILE = Path(__file__).parents[1] / "src" / "calipers" / "__init__.py"

sys.stdout.write(re.findall(r'^__version__ = "(.*)"$', FILE.read_text(), re.MULTILINE)[0])
