"""Learners whose X is a dask array, a dask dataframe or a list of delayed parts."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from calipers.dask.cluster import Tasks, client_of
from calipers.dask.collections import (
    column_names,
    delayed_partitions,
    is_array,
    is_dataframe,
)
from calipers.dask.rows import RowsOnCluster, rows_on_cluster
from calipers.estimators import ITML, LEGO, OASIS, SPML, TripletSGD
from calipers.estimators.from_triplets import TripletLearner
from calipers.triplets import GivenTriplets, check_triplets

if TYPE_CHECKING:
    _Learner = TripletLearner[Any]
else:
    _Learner = object


class OnCluster(_Learner):
    """Fit on a cluster what the learner beside it fits in memory, with the same result."""

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, *, client: Any = None) -> Self:
        """Learn from labels: triplets are drawn among nearest neighbours of all partitions.

        Parameters
        ----------
        X : dask array, dask dataframe or list of delayed parts, of shape (n_samples, n_features)
            Rows; partitions are read once and stay on the workers during the fit.
        y : dask array, dask series or list of delayed parts, of shape (n_samples,)
            Class of each row, cut as X is.
        client : distributed.Client, optional
            Of the cluster; else the one in use, else that of a local cluster for this fit.

        Returns
        -------
        Self
            The fitted estimator: for one seed the same, whatever the partitions and workers.
        """
        started = perf_counter()
        with client_of(client) as used:
            rows = self._rows(Tasks(used), X, y)
            self.classes_ = rows.whole.classes
            return self._learn(*self._draw(rows, started), given=(X, y))._checked()

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit_triplets(self, X: Any, triplets: npt.ArrayLike, *, client: Any = None) -> Self:
        """Learn from your own triplets, in the order given.

        Parameters
        ----------
        X : dask array, dask dataframe or list of delayed parts, of shape (n_samples, n_features)
            Rows.
        triplets : array-like of shape (n_triplets, 3)
            Row numbers (a, b, c) through all partitions: a should be closer to b than to c.
        client : distributed.Client, optional
            Of the cluster; else the one in use, else that of a local cluster for this fit.

        Returns
        -------
        Self
            The fitted estimator.
        """
        started = perf_counter()
        with client_of(client) as used:
            rows = self._rows(Tasks(used), X)
            self._check_settings(rows)
            source = GivenTriplets(check_triplets(triplets, rows.shape[0]))
            seen = self._into_coordinates(rows)
            _, *rngs = self._streams()
            self.mining_seconds_ = perf_counter() - started
            return self._learn(seen, self._examples(source), rngs, given=(X, None))

    def transform(self, X: Any) -> Any:
        """Map rows, lazily and block by block if they are a dask collection.

        Parameters
        ----------
        X : dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        dask array, dask dataframe or ndarray, of shape (n_samples, n_components)
            ``X @ components_.T``, of the kind that X is.
        """
        if not (is_array(X) or is_dataframe(X)):
            return super().transform(X)
        check_is_fitted(self)
        plain = _Images(self.components_)
        if is_array(X):
            X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
            chunks = (X.chunks[0], (len(self.components_),))
            return X.map_blocks(plain, dtype=np.float64, chunks=chunks, name=None)
        names = self.get_feature_names_out().tolist()
        meta = X._meta.iloc[:0, :0].reindex(columns=names).astype(np.float64)
        return X.map_partitions(plain.of_frame, names, meta=meta)

    def _rows(self, tasks: Tasks, X: Any, y: Any = None) -> RowsOnCluster:
        read = tasks.client.compute(delayed_partitions(X, y, keys=tasks.key))
        rows = rows_on_cluster(tasks, read)
        self.n_features_in_ = rows.shape[1]
        names = column_names(X)
        if names is not None:
            self.feature_names_in_ = names
        return rows


class _Images:
    """``X @ components.T`` of one block."""

    def __init__(self, components: npt.NDArray[Any]) -> None:
        self.components = components

    def __call__(self, block: Any) -> Any:
        return np.asarray(block, dtype=np.float64) @ self.components.T

    def of_frame(self, frame: Any, names: list[str]) -> Any:
        """The same of a dataframe, with names for the columns."""
        import pandas as pd

        return pd.DataFrame(self(frame), columns=names, index=frame.index)


class DaskTripletSGD(OnCluster, TripletSGD):
    """:class:`~calipers.TripletSGD` for rows on a cluster; parameters and results are the same."""


class DaskSPML(OnCluster, SPML):
    """:class:`~calipers.SPML` for rows on a cluster."""


class DaskOASIS(OnCluster, OASIS):
    """:class:`~calipers.OASIS` for rows on a cluster."""


class DaskLEGO(OnCluster, LEGO):
    """:class:`~calipers.LEGO` for rows on a cluster."""


class DaskITML(OnCluster, ITML):
    """:class:`~calipers.ITML` for rows on a cluster."""
