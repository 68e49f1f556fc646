"""Functions that stand apart: called, not taken in, and their errors come through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from calipers.arrays import FloatArray
from calipers.kernels.apart import COUNT, MATRIX, NUMBER, VECTOR, apart


@njit(cache=True)
def _nth_sum(rows: FloatArray, factors: FloatArray, nth: int, more: float) -> tuple[int, float]:
    if nth >= len(rows):
        raise ValueError("there is no such row")
    total = more
    for i in range(factors.size):
        total += rows[nth, i] * factors[i]
    return nth + 1, total


nth_sum = apart(_nth_sum, MATRIX, VECTOR, COUNT, NUMBER)


@njit
def sums(rows: FloatArray, factors: FloatArray, count: int) -> list[Any]:
    found = []
    for nth in range(count):
        place, total = nth_sum(rows, factors, nth, 0.5)
        found.append(place * total)
    return found


def test_compiled_code_gets_what_the_function_returns() -> None:
    rows, factors = np.arange(6.0).reshape(3, 2), np.array([1.0, 10.0])
    expected = (np.arange(3) + 1) * (rows @ factors + 0.5)
    np.testing.assert_array_equal(sums(rows, factors, 3), expected)


def test_an_error_comes_through() -> None:
    with pytest.raises(ValueError, match="there is no such row"):
        sums(np.zeros((2, 2)), np.zeros(2), 3)


def test_other_types_of_arguments_are_refused_when_compiling() -> None:
    with pytest.raises(TypingError, match=r"array\(float64, 2d, F\)"):
        sums(np.asfortranarray(np.zeros((2, 2))), np.zeros(2), 2)
