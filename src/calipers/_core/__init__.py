"""What is compiled ahead of time: the loop, the projection, the neighbour search.

- `parts`, `projections`: losses, schedules, sampling policies and projection rules, each formula
  once. The loop calls what Python shows.
- `sgd`: the one loop; `state`: what it carries.
- `bilinear`: passive-aggressive updates (OASIS). `logdet`: steps of pairs (LEGO, ITML).
- `algebra`: differences, margins, low-rank updates. `eigen`: negative eigenpairs.
- `neighbors`: exact nearest samples. `impostors`: those that LMNN pushes away.

Loops release the interpreter's lock. Arrays are checked before they come here.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec

_MODULES = (
    "algebra",
    "bilinear",
    "eigen",
    "impostors",
    "logdet",
    "neighbors",
    "parts",
    "projections",
    "sgd",
    "state",
)


def _check() -> None:
    """Raise ImportError where a module is missing, damaged or built for something else.

    Libraries are opened but not initialised, which would load NumPy and SciPy: 3 ms in all.
    """
    for name in _MODULES:
        try:
            spec = find_spec(f"{__name__}.{name}")
            if spec is None:
                raise ImportError(f"{name} is missing")
            module_from_spec(spec)
        except ImportError as error:
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            raise ImportError(
                f"the compiled core of calipers cannot be loaded by this Python {version} "
                f"({error}): install calipers again by "
                "'python -m pip install --force-reinstall --no-deps calipers' "
                "(in a folder with its sources '.' instead of the name)",
                name=f"{__name__}.{name}",
            ) from None


_check()
