"""What is compiled ahead of time: the loops of solvers, their parts, the neighbour search.

`compiled` is one extension module. ``compiled.pyx`` names the files that it is made of.
"""

from __future__ import annotations

try:
    from calipers._core import compiled as compiled
except ImportError as error:
    raise ImportError(
        f"The compiled core of calipers cannot be loaded ({error}): install calipers again by "
        "'python -m pip install --force-reinstall calipers'."
    ) from error
