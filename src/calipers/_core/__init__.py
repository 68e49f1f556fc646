"""What is compiled ahead of time: the loops of solvers, their parts, the neighbour search.

`compiled` is one extension module. ``compiled.pyx`` names the files that it is made of.
"""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType

# Where SciPy's library does not fit ours, what Cython says when it joins them.
_MISFITS = ("does not export expected", "wrong signature")


def _advice(reason: object) -> ImportError:
    """The error that says how to mend the core; where SciPy does not fit, it is in the advice."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    again = "calipers scipy" if "scipy.linalg" in str(reason) else "calipers"
    return ImportError(
        f"the compiled core of calipers cannot be loaded by this Python {version} "
        f"({reason}): install {again.replace(' ', ' and ')} again by "
        f"'python -m pip install --force-reinstall --no-deps {again}' "
        "(in a folder with the sources of calipers '.' instead of its name)",
        name=f"{__name__}.compiled",
    )


class _Library(ExtensionFileLoader):
    """The core, which may not fit the library of SciPy that it calls."""

    def exec_module(self, module: ModuleType) -> None:
        try:
            super().exec_module(module)
        except (ImportError, TypeError) as error:
            if any(words in str(error) for words in _MISFITS):
                raise _advice(error) from None
            raise


def _check() -> None:
    """Raise ImportError where the library is missing, damaged or built for something else.

    It is opened but not initialised, which would load NumPy and SciPy. Nothing else in this folder
    can be imported.
    """
    for folder in __path__:
        sys.path_importer_cache[folder] = FileFinder(folder, (_Library, EXTENSION_SUFFIXES))
    try:
        spec = find_spec(f"{__name__}.compiled")
        if spec is None:
            raise ImportError("it is missing")
        module_from_spec(spec)
    except ImportError as error:
        raise _advice(error) from None


_check()
