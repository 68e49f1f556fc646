"""What a competitor hands back. NumPy is all that is needed to read this file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass
class Fitted:
    """A metric, finished or as far as it came.

    Attributes
    ----------
    components : ndarray of shape (n_components, n_features)
        The linear map.
    seconds : float
        Of the fit.
    n_iterations : int or None
        Whatever the competitor calls an iteration.
    capped : bool
        Whether it was stopped.
    unit_length : bool
        Whether it learned distances between mapped samples of length 1.
    """

    components: npt.NDArray[np.float64]
    seconds: float
    n_iterations: int | None
    capped: bool
    unit_length: bool = False

    def transform(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Samples in the space where the learned distance is Euclidean."""
        mapped = np.asarray(X @ self.components.T)
        if self.unit_length:
            lengths = np.linalg.norm(mapped, axis=1, keepdims=True)
            mapped = mapped / np.where(lengths, lengths, 1.0)
        return mapped
