"""What learners from pairs share: ``fit_pairs``, and when rows are near or far."""

from __future__ import annotations

from time import perf_counter
from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks

from calipers.estimators import inputs
from calipers.estimators.from_triplets import AnyLearner, TripletLearner
from calipers.estimators.given import given_rows
from calipers.triplets import (
    GivenTriplets,
    PairsOfTriplets,
    Rows,
    Source,
    check_pairs,
)

_SAMPLE = 10_000  # random pairs whose distances tell what is near and what is far
_PERCENTILES = (5, 95)


class PairLearner(TripletLearner[AnyLearner]):
    """Base of the learners from pairs that should be near or far.

    Of a triplet they take two pairs, (anchor, near) and (anchor, far).
    """

    near_distance: float | None
    far_distance: float | None
    _row_columns = 2

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit_pairs(self, X: npt.ArrayLike, pairs: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from your own pairs, in the order given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        pairs : array-like of shape (n_pairs, 2)
            Row numbers.
        y : array-like of shape (n_pairs,)
            +1 for pairs that should be near, -1 for pairs that should be far.

        Returns
        -------
        Self
            The fitted estimator.
        """
        started = perf_counter()
        rows, given = given_rows(self, X)
        self._check_settings(rows)
        source = GivenTriplets(check_pairs(pairs, y, rows.shape[0]))
        _, *rngs = self._streams()
        self.mining_seconds_ = perf_counter() - started
        return self._learn(rows, source, rngs, given=(given, None))

    def _examples(self, triplets: Source) -> Source:
        return PairsOfTriplets(triplets)

    def _find_limits(self, rows: Rows, rng: np.random.Generator) -> tuple[float, float]:
        """Squared distances up to which rows are near, and from which they are far.

        Those not set are percentiles of the squared distances between random rows that differ.
        """
        n = rows.shape[0]
        one = rng.integers(n, size=_SAMPLE)
        other = (one + 1 + rng.integers(n - 1, size=_SAMPLE)) % n
        difference = rows.take(one).astype(np.float64) - rows.take(other)
        squared = np.einsum("ij,ij->i", difference, difference)
        squared = squared[squared > 0.0]
        inputs.check_differences(float(np.median(squared)) if len(squared) else 0.0)
        found = np.percentile(squared, _PERCENTILES).tolist()
        near, far = (
            limit if asked is None else float(asked) ** 2
            for asked, limit in zip((self.near_distance, self.far_distance), found, strict=True)
        )
        inputs.check_limits(type(self).__name__, near**0.5, far**0.5)
        self.near_distance_, self.far_distance_ = near**0.5, far**0.5
        return near, far
