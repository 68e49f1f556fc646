"""Document counts in a MATLAB file: ``fea`` of shape (documents, terms) and ``gnd``."""

from __future__ import annotations

import io
from typing import IO, Any

from calipers.arrays import IndexArray
from calipers.paper.datasets.formats.lines import MalformedError
from calipers.paper.datasets.split import labels


def counts(stream: IO[bytes]) -> tuple[Any, IndexArray]:
    """Read the sparse counts and the classes of the documents."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError
    from scipy.sparse import csr_matrix

    try:
        stored = loadmat(io.BytesIO(stream.read()), variable_names=["fea", "gnd"])
    except (MatReadError, ValueError, TypeError, NotImplementedError) as wrong:
        raise MalformedError(0, f"it is no MATLAB file ({wrong})") from wrong
    missing = [name for name in ("fea", "gnd") if name not in stored]
    if missing:
        raise MalformedError(0, f"it has no variable {missing[0]!r}")
    y = labels(stored["gnd"].ravel())
    X = csr_matrix(stored["fea"], dtype=float)
    if X.shape[0] != len(y):
        raise MalformedError(0, f"it has {X.shape[0]:,} documents and {len(y):,} classes")
    return X, y
