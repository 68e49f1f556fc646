"""BLAS's update of a symmetric matrix, which numba does not offer: half the work of a product.

The address is that of the BLAS which SciPy brings, and numba's own products call. It gets a
name, by which code from numba's cache finds it in another process.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding
import numpy as np
from numba import types
from scipy.linalg import cython_blas

from calipers.arrays import FloatArray
from calipers.compiled import inner

NAME = "calipers_dsyrk"
_LOWER_NORMAL = ord("L"), ord("N")  # the lower triangle by columns is the upper one by rows


def _address(capsule: object) -> int:
    """What a capsule of SciPy's points to."""
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer_of(capsule, name_of(capsule)))


llvmlite.binding.add_symbol(NAME, _address(cython_blas.__pyx_capi__["dsyrk"]))

_letters, _numbers, _values = (
    types.CPointer(kind)  # type: ignore[no-untyped-call]
    for kind in (types.uint8, types.intc, types.float64)
)
_words = _letters, _letters, _numbers, _numbers, _values, _values, _numbers, _values, _values
_syrk: Any = types.ExternalFunction(NAME, types.void(*_words, _numbers))


@inner(makes_arrays=True)
def add_squares(M: FloatArray, rows: FloatArray, sign: float) -> None:
    """``M += sign * rows' rows``, the upper triangle only."""
    how = np.array(_LOWER_NORMAL, dtype=np.uint8)
    sizes = np.array([len(M), len(rows)], dtype=np.intc)
    factors = np.array([sign, 1.0])
    d, n, alpha, beta = sizes.ctypes, sizes[1:].ctypes, factors.ctypes, factors[1:].ctypes
    _syrk(how.ctypes, how[1:].ctypes, d, n, alpha, rows.ctypes, d, beta, M.ctypes, d)
