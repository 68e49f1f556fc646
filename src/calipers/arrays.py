"""The array types that every layer speaks of."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]
"""Row numbers; they always index the full X."""


def refuse_masked(values: object, name: str) -> None:
    """Raise if values are masked: as plain numbers they would be learned from after all."""
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise ValueError(
            f"{name} has {np.count_nonzero(values.mask)} masked values, whose places hold numbers "
            "that no one vouches for: fill them in, or leave out their rows."
        )
