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
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType

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

# Where two libraries do not fit, what Cython says when it joins them.
_MISFITS = ("does not export expected", "wrong signature", "size changed", "not a type object")


def _advice(name: str, reason: object) -> ImportError:
    """The error that says how to mend the core; where SciPy does not fit, it is in the advice."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    again = "calipers scipy" if "scipy.linalg" in str(reason) else "calipers"
    return ImportError(
        f"the compiled core of calipers cannot be loaded by this Python {version} "
        f"({reason}): install {again.replace(' ', ' and ')} again by "
        f"'python -m pip install --force-reinstall --no-deps {again}' "
        "(in a folder with the sources of calipers '.' instead of its name)",
        name=f"{__name__}.{name}",
    )


class _Library(ExtensionFileLoader):
    """A module of the core, which may not fit another that it calls: of SciPy, or of ours."""

    def exec_module(self, module: ModuleType) -> None:
        try:
            super().exec_module(module)
        except (ImportError, TypeError, ValueError) as error:
            ours = getattr(error, "name", None) is not None  # told already
            if not ours and any(words in str(error) for words in _MISFITS):
                raise _advice(self.name.rpartition(".")[2], error) from None
            raise


def _check() -> None:
    """Raise ImportError where a module is missing, damaged or built for something else.

    Libraries are opened but not initialised, which would load NumPy and SciPy: 3 ms in all.
    """
    for folder in __path__:
        sys.path_importer_cache[folder] = FileFinder(folder, (_Library, EXTENSION_SUFFIXES))
    for name in _MODULES:
        try:
            spec = find_spec(f"{__name__}.{name}")
            if spec is None:
                raise ImportError(f"{name} is missing")
            module_from_spec(spec)
        except ImportError as error:
            raise _advice(name, error) from None


_check()
