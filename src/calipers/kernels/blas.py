"""What BLAS and LAPACK offer for symmetric matrices, and numba does not: half the work.

The addresses are those of the BLAS which SciPy brings, and numba's own products call. They get
names, by which code from numba's cache finds them in another process.
"""

from __future__ import annotations

import ctypes
from types import ModuleType
from typing import Any

import llvmlite.binding
import numpy as np
from numba import types
from scipy.linalg import cython_blas, cython_lapack

from calipers.arrays import FloatArray
from calipers.compiled import inner

_LETTER, _NUMBER, _VALUE = (
    types.CPointer(kind)  # type: ignore[no-untyped-call]
    for kind in (types.uint8, types.intc, types.float64)
)
_LOWER, _NORMAL = ord("L"), ord("N")  # the lower triangle by columns is the upper one by rows


def _external(module: ModuleType, name: str, *arguments: Any) -> Any:
    """A function that SciPy hands on to Cython, for compiled code to call."""
    capsule = module.__pyx_capi__[name]
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    known_as = f"calipers_{name}"
    llvmlite.binding.add_symbol(known_as, int(pointer_of(capsule, name_of(capsule))))
    return types.ExternalFunction(known_as, types.void(*arguments))


_syrk = _external(
    cython_blas,
    "dsyrk",
    *(_LETTER, _LETTER, _NUMBER, _NUMBER, _VALUE, _VALUE, _NUMBER, _VALUE, _VALUE, _NUMBER),
)
_sytrd = _external(
    cython_lapack,
    "dsytrd",
    *(_LETTER, _NUMBER, _VALUE, _NUMBER, _VALUE, _VALUE, _VALUE, _VALUE, _NUMBER, _NUMBER),
)


@inner(makes_arrays=True)
def add_squares(M: FloatArray, rows: FloatArray, sign: float) -> None:
    """``M += sign * rows' rows``, the upper triangle only."""
    how = np.array([_LOWER, _NORMAL], dtype=np.uint8)
    sizes = np.array([len(M), len(rows)], dtype=np.intc)
    factors = np.array([sign, 1.0])
    d, n, alpha, beta = sizes.ctypes, sizes[1:].ctypes, factors.ctypes, factors[1:].ctypes
    _syrk(how.ctypes, how[1:].ctypes, d, n, alpha, rows.ctypes, d, beta, M.ctypes, d)


@inner(makes_arrays=True)
def reflect(
    A: FloatArray, alpha: FloatArray, beta: FloatArray, weights: FloatArray, room: FloatArray
) -> None:
    """Make A, whose upper triangle alone is read, tridiagonal; all of the room is used."""
    how = np.array([_LOWER], dtype=np.uint8)
    sizes = np.array([len(A), room.size, 0], dtype=np.intc)
    d, work, fault = sizes.ctypes, sizes[1:].ctypes, sizes[2:].ctypes
    diagonals = alpha.ctypes, beta.ctypes
    _sytrd(how.ctypes, d, A.ctypes, d, *diagonals, weights.ctypes, room.ctypes, work, fault)
