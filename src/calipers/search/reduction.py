"""Fewer dimensions on both sides, in an order of which any first few are the best so many."""

from __future__ import annotations

import numpy as np

from calipers.arrays import FloatArray
from calipers.search.vectors import UnitArray

_SMALLEST = 1e-6  # share of the largest eigenvalue below which a direction is left out


def reduction(
    queries: UnitArray, documents: UnitArray, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Return matrices P, Q of shape (n_components, d) for mapped queries z and documents d.

    Of all matrices of that rank ``P'Q`` approximates the inner products z'd best, in the mean
    square over all pairs of a query and a document: with the second moments Z and D of both sides
    and the singular value decomposition ``Z^(1/2) D^(1/2) = U S V'``, ``P = S^(1/2) U' Z^(-1/2)``
    and ``Q = S^(1/2) V' D^(-1/2)``. The first rows are the answer for fewer components.

    Examples
    --------
    >>> vectors = np.array([[1.0, 0.0], [0.8, 0.6]], dtype=np.float32)
    >>> P, Q = reduction(vectors, vectors, 2)  # as many as there are: nothing is lost
    >>> np.round(P.T @ Q, 4) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    root_z, inverse_z = _roots(queries)
    root_d, inverse_d = _roots(documents)
    U, S, Vt = np.linalg.svd(root_z @ root_d)
    half = np.sqrt(S[:n_components, None])
    return half * (U[:, :n_components].T @ inverse_z), half * (Vt[:n_components] @ inverse_d)


def _roots(vectors: UnitArray) -> tuple[FloatArray, FloatArray]:
    """Return the square root of the second moment, and its inverse where that is not singular."""
    moment = (vectors.T @ vectors).astype(np.float64) / len(vectors)
    values, basis = np.linalg.eigh(moment)
    kept = values > _SMALLEST * values[-1]
    roots = np.sqrt(np.where(kept, values, 0.0))
    inverses = np.where(kept, 1 / np.where(kept, roots, 1.0), 0.0)
    return (basis * roots) @ basis.T, (basis * inverses) @ basis.T
