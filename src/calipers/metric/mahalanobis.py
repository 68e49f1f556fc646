"""A learned metric: the matrix M, its factor L, and the methods that every learner has.

M = L'L with L = ``components_``, so the learned distance between two samples is the
Euclidean distance between their images under L.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from html import escape
from math import hypot
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from calipers.arrays import FloatArray
from calipers.data.cluster import transform_lazily
from calipers.data.samples import is_collection, refuse_kinds
from calipers.metric.file import Contents, contents_of, write

if TYPE_CHECKING:
    from calipers.data.encoder import TableEncoder


def _lengths(images: FloatArray) -> FloatArray:
    """Return the length of each row; squares neither overflow nor vanish.

    >>> _lengths(np.array([[3e200, 4e200], [3e-200, 0.0], [0.0, 0.0]]))
    array([5.e+200, 3.e-200, 0.e+000])
    """
    longest = np.abs(images).max(axis=1, initial=0.0)
    scaled = images / np.where(longest > 0.0, longest, 1.0)[:, None]
    return np.asarray(longest * np.linalg.norm(scaled, axis=1))


def spectrum(components: FloatArray) -> FloatArray:
    """Return the eigenvalues of ``L'L``, falling: as many as the smaller dimension of L.

    >>> spectrum(np.array([[0.0, 3.0], [1.0, 0.0]]))
    array([9., 1.])
    """
    return np.asarray(np.linalg.svd(components, compute_uv=False) ** 2)


def feature_shares(components: FloatArray, feature_scale: FloatArray | None = None) -> FloatArray:
    """Return the share of each feature in squared distances, on average; shares sum to 1.

    The mean squared distance of two random samples is twice the sum of M times the covariance.
    The part of feature i alone is ``M_ii feature_scale_i^2``, with `feature_scale` the standard
    deviations. Without it, all features have the same standard deviation.

    >>> feature_shares(np.array([[1.0, 1.0]]), np.array([1.0, 3.0]))
    array([0.1, 0.9])
    """
    scaled = components if feature_scale is None else components * feature_scale
    scaled = scaled / (np.abs(scaled).max() or 1.0)  # whose squares do not overflow
    parts = np.einsum("ki,ki->i", scaled, scaled)
    total = parts.sum()
    return np.asarray(parts / total if total > 0 else parts)


class MahalanobisMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The methods that every metric learner has once ``components_`` is fitted."""

    components_: FloatArray
    n_features_in_: int
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a metric; a stream may have begun without."""
        return hasattr(self, "components_")

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Show the parameters, and once fitted the sizes and what None and "auto" became."""
        text: str = super().__repr__(N_CHAR_MAX=N_CHAR_MAX)
        if not hasattr(self, "components_"):
            return text
        became = {
            name: getattr(self, f"{name}_", None)
            for name, given in self.get_params(deep=False).items()
            if given is None or isinstance(given, str)
        }
        shown = [f"{name}_={v!r}" for name, v in became.items() if isinstance(v, int | float | str)]
        sizes = f"{self.components_.shape[1]} features to {self._n_features_out} dimensions"
        return f"{text}  # {', '.join([sizes, *shown])}"

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram, once fitted under what was chosen and why."""
        diagram = str(super()._html_repr())
        return f"<p>{escape(repr(self))}</p>{diagram}" if hasattr(self, "components_") else diagram

    def transform(self, X: Any) -> Any:
        """Map samples so that the Euclidean distance between images is the learned distance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            ``X @ components_.T``.

        Raises
        ------
        ValueError
            X does not hold numbers, has other features, or has images beyond float64.
        """
        check_is_fitted(self)
        if is_collection(X):
            images = transform_lazily(X, self.components_)
            announced = X._meta if hasattr(X, "columns") else X
            validate_data(self, announced, reset=False, skip_check_array=True)
            return images
        refuse_kinds(X, "X")
        return self._images(validate_data(self, X, reset=False, dtype=[np.float64, np.float32]))

    def _images(self, samples: npt.NDArray[Any]) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            images = np.asarray(samples @ self.components_.T)
        if not np.isfinite(images).all():
            raise ValueError(
                f"X has values up to {np.abs(samples).max():.3g}, whose images are beyond float64: "
                "divide X, or leave out such samples."
            )
        return images

    def pair_distance(self, pairs: npt.ArrayLike) -> FloatArray:
        """Return the learned distance within each pair.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features)
            Pairs of samples.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Distances (not squared).
        """
        checked = self._check_pairs(pairs)
        return _lengths((checked[:, 0] - checked[:, 1]) @ self.components_.T)

    def _check_pairs(self, pairs: npt.ArrayLike) -> FloatArray:
        check_is_fitted(self)
        refuse_kinds(pairs, "pairs")
        checked: FloatArray = check_array(
            pairs, allow_nd=True, dtype=np.float64, input_name="pairs"
        )
        if checked.ndim != 3 or checked.shape[1:] != (2, self.n_features_in_):
            raise ValueError(
                f"pairs must have shape (n_pairs, 2, {self.n_features_in_}), got {checked.shape}: "
                "stack the two samples of each pair, e.g. np.stack([A, B], axis=1)."
            )
        return checked

    def pair_score(self, pairs: npt.ArrayLike) -> FloatArray:
        """Return minus the learned distance within each pair: higher for closer samples."""
        return -self.pair_distance(pairs)

    def get_metric(self) -> Callable[..., float]:
        """Return a function ``metric(u, v, squared=False)`` of two samples.

        The function holds a copy of the factor, so a refit does not change it. It can be the
        ``metric`` of a scikit-learn neighbours estimator.
        """
        check_is_fitted(self)
        components = self.components_.copy()
        width = components.shape[1]

        def metric(u: npt.ArrayLike, v: npt.ArrayLike, squared: bool = False) -> float:
            first, second = (np.ravel(np.asarray(each, dtype=float)) for each in (u, v))
            if not len(first) == len(second) == width:
                raise ValueError(
                    f"The metric takes two samples of {width} features, got {len(first)} and "
                    f"{len(second)} values: pass one sample each."
                )
            distance = hypot(*(components @ (first - second)).tolist())
            return distance * distance if squared else distance

        return metric

    def get_mahalanobis_matrix(self) -> FloatArray:
        """Return M of shape (n_features, n_features): ``(u-v)' M (u-v)`` is a squared distance."""
        check_is_fitted(self)
        return np.asarray(self.components_.T @ self.components_)

    def save(self, path: str | os.PathLike[str], *, encoder: TableEncoder | None = None) -> None:
        """Write the metric into a safetensors file, for :func:`calipers.load`.

        The file holds the factor, names of features and classes, the parameters and facts
        about the training. It gets its name once it is complete. Until then, and if writing
        fails, an older file of that name stays as it was.

        Parameters
        ----------
        path : path-like
            Name of the file.
        encoder : TableEncoder, optional
            What made the features of a table. The file then holds it too, and
            ``calipers.load(path).transform`` takes the table itself.

        Raises
        ------
        FileError
            Writing the file failed.
        """
        check_is_fitted(self)
        contents = self._contents()
        if encoder is not None:
            names = encoder.get_feature_names_out().tolist()
            contents = replace(contents, encoder=encoder.to_json(), feature_names=names)
        write(contents, path)

    def _contents(self) -> Contents:
        return contents_of(self)

    def to_onnx(self) -> bytes:
        """Return `transform` as an ONNX model, in single precision.

        Its input ``X`` is float32 of shape [N, n_features], its output ``transformed`` of
        shape [N, n_components]. Needs the package onnx.
        """
        from calipers.metric.exports import onnx_model

        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return onnx_model(
            self.components_,
            feature_names=None if names is None else [str(name) for name in names],
            learner=type(self).__name__,
        )

    def to_faiss(self) -> Any:
        """Return `transform` as a ``faiss.LinearTransform``, to put before any index.

        ``faiss.IndexPreTransform(metric.to_faiss(), faiss.IndexFlatL2(n_components))`` then
        takes samples of X and finds their neighbours under the metric. Needs the package faiss.
        """
        from calipers.metric.exports import faiss_transform

        check_is_fitted(self)
        return faiss_transform(self.components_)
