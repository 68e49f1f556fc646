"""What builds the package: meson-python; where that is missing, a sentence and no traceback.

pip installs it unless it is told not to (``--no-build-isolation``).
"""

import sys

try:
    from mesonpy import (
        build_editable,
        build_sdist,
        build_wheel,
        get_requires_for_build_editable,
        get_requires_for_build_sdist,
        get_requires_for_build_wheel,
    )
except ModuleNotFoundError as error:
    if error.name != "mesonpy":
        raise
    sys.exit(
        "Calipers is built with meson-python and none was found: pip install meson-python Cython "
        "scipy ninja, or let pip bring them (without --no-build-isolation)."
    )

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]
