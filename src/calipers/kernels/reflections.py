"""Householder's reflections: a symmetric matrix made tridiagonal, at a cost known beforehand.

What the Lanczos process finds soon or not at all, depending on the matrix, is found here
always, in a few times the time of a Cholesky factorisation, and each pair in little more.
"""

from __future__ import annotations

from calipers.arrays import FloatArray
from calipers.compiled import kernel
from calipers.kernels.algebra import add, dot
from calipers.kernels.blas import reflect


@kernel()
def tridiagonalise(
    A: FloatArray, alpha: FloatArray, beta: FloatArray, weights: FloatArray, room: FloatArray
) -> None:
    """``Q' A Q = T``, with ``alpha`` on the diagonal of T and ``beta`` beside it.

    Q is the product of the reflections ``I - weights[k] u u'``; u is left in row k of A, right
    of its diagonal. Room for 32 vectors is all that is of use.
    """
    reflect(A, alpha, beta, weights, room)
    for k in range(len(A) - 1):
        A[k, k + 1] = 1.0


@kernel()
def reflect_back(A: FloatArray, weights: FloatArray, z: FloatArray) -> None:
    """``z = Q z``: an eigenvector of T becomes one of A."""
    for k in range(len(A) - 2, -1, -1):
        u = A[k, k + 1 :]
        add(z[k + 1 :], -weights[k] * dot(u, z[k + 1 :]), u)
