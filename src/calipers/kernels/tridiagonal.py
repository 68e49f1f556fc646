"""Eigenpairs of a symmetric tridiagonal matrix, one at a time.

The matrix has ``alpha[:n]`` on the diagonal and ``beta[:n-1]`` beside it, as the Lanczos
process leaves it.
"""

from __future__ import annotations

import numpy as np

from calipers.arrays import FloatArray
from calipers.compiled import kernel
from calipers.kernels.algebra import dot

ROUNDING = 1e-15  # share of a number that is not known
SAFE = 1e-300  # stands in for a pivot that is exactly zero


@kernel()
def count_below(alpha: FloatArray, beta: FloatArray, n: int, x: float) -> int:
    """How many eigenvalues of the tridiagonal matrix lie below x (Sturm sequence)."""
    q = alpha[0] - x
    count = 1 if q < 0.0 else 0
    for i in range(1, n):
        if q == 0.0:
            q = SAFE
        q = alpha[i] - x - beta[i - 1] * beta[i - 1] / q
        if q < 0.0:
            count += 1
    return count


@kernel()
def below_all(alpha: FloatArray, beta: FloatArray, n: int) -> float:
    """A number that no eigenvalue lies below (Gershgorin)."""
    low = alpha[0]
    for i in range(n):
        reach = (abs(beta[i - 1]) if i > 0 else 0.0) + (abs(beta[i]) if i < n - 1 else 0.0)
        low = min(low, alpha[i] - reach)
    return float(low)


@kernel()
def twisted(
    alpha: FloatArray, beta: FloatArray, n: int, x: float, vector: FloatArray, room: FloatArray
) -> float:
    """Solve ``(T - x I) vector ~ e_twist`` for a unit vector; returns the Rayleigh correction.

    Two triangular recurrences run towards each other and are joined where the pivot is
    smallest, which gives small components of the vector their full relative accuracy.
    """
    down, up = room[0], room[1]
    down[0] = alpha[0] - x
    for i in range(1, n):
        previous = down[i - 1] if down[i - 1] != 0.0 else SAFE
        down[i] = alpha[i] - x - beta[i - 1] * beta[i - 1] / previous
    up[n - 1] = alpha[n - 1] - x
    for i in range(n - 2, -1, -1):
        previous = up[i + 1] if up[i + 1] != 0.0 else SAFE
        up[i] = alpha[i] - x - beta[i] * beta[i] / previous
    twist, smallest = 0, np.inf
    for i in range(n):
        pivot = down[i] + up[i] - (alpha[i] - x)
        if abs(pivot) < abs(smallest):
            smallest, twist = pivot, i
    vector[twist] = 1.0
    for i in range(twist - 1, -1, -1):
        vector[i] = -beta[i] * vector[i + 1] / (down[i] if down[i] != 0.0 else SAFE)
    for i in range(twist + 1, n):
        vector[i] = -beta[i - 1] * vector[i - 1] / (up[i] if up[i] != 0.0 else SAFE)
    squared = dot(vector[:n], vector[:n])
    length = np.sqrt(squared)
    for i in range(n):
        vector[i] /= length
    return smallest / squared


@kernel()
def nth_lowest(
    alpha: FloatArray,
    beta: FloatArray,
    n: int,
    nth: int,
    low: float,
    high: float,
    accuracy: float,
    vector: FloatArray,
    room: FloatArray,
) -> float:
    """Eigenvalue number ``nth`` (from 0) of the tridiagonal matrix, and its vector.

    Bisection between ``low`` and ``high``; once few digits are right and no other
    eigenvalue is in the bracket, Rayleigh quotient steps, which are kept only while they
    stay within it. ``accuracy`` is absolute; more digits than a number has are not asked for.
    """
    below_low, below_high = 0, count_below(alpha, beta, n, high)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high or high - low <= max(accuracy, ROUNDING * abs(high)):
            break
        below = count_below(alpha, beta, n, middle)
        if below > nth:
            high, below_high = middle, below
        else:
            low, below_low = middle, below
        if high - low > 0.02 * abs(high) or below_high - below_low > 1:
            continue
        guess = 0.5 * (low + high)
        for _ in range(6):
            correction = twisted(alpha, beta, n, guess, vector, room)
            guess += correction
            if not low <= guess <= high:
                break
            if abs(correction) <= max(accuracy, ROUNDING * abs(guess)):
                return guess
    twisted(alpha, beta, n, high, vector, room)
    return high
