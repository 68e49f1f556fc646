"""Householder's reflections: a symmetric matrix made tridiagonal, at a cost known beforehand.

What the Lanczos process finds soon or not at all, depending on the matrix, is found here
always, in a few times the time of a Cholesky factorisation, and each pair in little more.
"""

from __future__ import annotations

import numpy as np

from calipers.arrays import FloatArray
from calipers.compiled import inner, kernel
from calipers.kernels.algebra import add, add_four, dot, write_half_product


@kernel()
def tridiagonalise(
    A: FloatArray, alpha: FloatArray, beta: FloatArray, weights: FloatArray, room: FloatArray
) -> None:
    """``Q' A Q = T``, with ``alpha`` on the diagonal of T and ``beta >= 0`` beside it.

    Q is the product of the reflections ``I - weights[k] u u'``; u is left in row k of A, right
    of its diagonal. Reflecting from both sides subtracts ``u w' + w u'`` from the rest of A;
    that of two steps is subtracted at once, which halves what is read and written. ``room``
    is for three vectors.
    """
    d = len(A)
    w, w_next, image = room[0], room[1], room[2]
    for k in range(0, d - 1, 2):
        u, rest = A[k], slice(k + 1, d)
        alpha[k] = u[k]
        beta[k], weights[k] = _reflection(u[rest])
        write_half_product(A, k + 1, u, image)
        _write_partner(u[rest], weights[k], image[rest], w[rest])
        u_next = A[k + 1]
        _subtract_two(u_next[rest], (u[k + 1], w[k + 1]), w[rest], u[rest])
        alpha[k + 1] = u_next[k + 1]
        if k + 2 == d:
            return
        rest = slice(k + 2, d)
        beta[k + 1], weights[k + 1] = _reflection(u_next[rest])
        write_half_product(A, k + 2, u_next, image)
        along = dot(w[rest], u_next[rest]), dot(u[rest], u_next[rest])
        _subtract_two(image[rest], along, u[rest], w[rest])
        _write_partner(u_next[rest], weights[k + 1], image[rest], w_next[rest])
        for i in range(k + 2, d):
            first = max(k + 2, i - 3)
            pairs = w[first:], u[first:], w_next[first:], u_next[first:]
            add_four(A[i, first:], (-u[i], -w[i], -u_next[i], -w_next[i]), pairs)
    alpha[d - 1] = A[d - 1, d - 1]


@inner()
def _reflection(x: FloatArray) -> tuple[float, float]:
    """Overwrite x with u, so that ``(I - weight u u') x = length * e_1``: length and weight."""
    tail = dot(x[1:], x[1:])
    length = np.sqrt(x[0] * x[0] + tail)
    if x[0] <= 0.0:
        x[0] -= length
    else:
        x[0] = -tail / (x[0] + length)  # the same, without subtracting equals
    squared = x[0] * x[0] + tail
    return length, 2.0 / squared if squared > 0.0 else 0.0


@inner()
def _write_partner(u: FloatArray, weight: float, image: FloatArray, w: FloatArray) -> None:
    """The w whose ``u w' + w u'`` a reflection subtracts; ``image`` is A u."""
    half = 0.5 * weight * weight * dot(image, u)
    for i in range(u.size):
        w[i] = weight * image[i] - half * u[i]


@inner(inlined=True)
def _subtract_two(x: FloatArray, c: tuple[float, float], p: FloatArray, q: FloatArray) -> None:
    """``x -= c[0] * p + c[1] * q``."""
    for i in range(x.size):
        x[i] -= c[0] * p[i] + c[1] * q[i]


@kernel()
def reflect_back(A: FloatArray, weights: FloatArray, z: FloatArray) -> None:
    """``z = Q z``: an eigenvector of T becomes one of A."""
    for k in range(len(A) - 2, -1, -1):
        u = A[k, k + 1 :]
        add(z[k + 1 :], -weights[k] * dot(u, z[k + 1 :]), u)
