"""Documents in 200 dimensions, as the paper has them."""

from __future__ import annotations

from typing import Any

from calipers.arrays import FloatArray
from calipers.paper.datasets.split import features
from calipers.threads import single_threaded_blas

N_COMPONENTS = 200


def principal_components(counts: Any) -> FloatArray:
    """Reduce a sparse matrix to 200 columns by PCA on all its rows.

    ARPACK never makes the centred matrix, which would not be sparse.
    """
    from sklearn.decomposition import PCA

    pca = PCA(n_components=N_COMPONENTS, svd_solver="arpack", random_state=0)
    with single_threaded_blas():
        return features(pca.fit_transform(counts))
