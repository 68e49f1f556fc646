"""A learned map as it serves: from queries into the space of documents, by NumPy alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.metric.file import Contents, read, write

LEARNER_OF = {"adapter": "QueryAdapter", "bridge": "Bridge"}
"""Learner of each kind of map."""

_VECTORS_AT_ONCE = 1 << 15


class QueryMap:
    """A linear map of queries, and of documents if they are mapped too, onto unit vectors.

    ``transform(q)`` is ``Aq / |Aq|`` with A = `query_components`: the length of q does not matter.
    The cosine of two images is their inner product.

    Parameters
    ----------
    query_components : array-like of shape (n_components, n_query_features)
        A.
    document_components : array-like of shape (n_components, n_document_features), optional
        The same for documents. By default documents stay as they are, with n_components features.
    kind : {"adapter", "bridge"}, default="adapter"
        Whether the map was learned from relevant documents, or between two embedding models.
    facts : dict, optional
        What is known about the map, as JSON has it: whether it helps (``helps``), scores,
        parameters. A file keeps them.

    Raises
    ------
    ValueError
        The matrices are not finite, or do not map into one space.

    Examples
    --------
    >>> halved = QueryMap([[1.0, 0.0], [0.0, 0.5]])
    >>> halved.transform([3.0, 8.0])
    array([0.6, 0.8])
    >>> halved
    QueryMap(kind='adapter', n_query_features=2, n_components=2)
    """

    def __init__(
        self,
        query_components: npt.ArrayLike,
        document_components: npt.ArrayLike | None = None,
        *,
        kind: str = "adapter",
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.query_components = _matrix(query_components, "query_components")
        self.document_components: npt.NDArray[Any] | None = None
        self.kind = kind
        self.facts = dict(facts or {})
        if document_components is not None:
            self.document_components = _matrix(document_components, "document_components")
            if len(self.document_components) != self.n_components:
                raise ValueError(
                    "query_components and document_components must have as many rows, got "
                    f"{self.n_components} and {len(self.document_components)}: both map into one "
                    "space."
                )
        self._in_single_precision = [
            None if matrix is None else matrix.astype(np.float32)
            for matrix in (self.query_components, self.document_components)
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map into a safetensors file, which :func:`calipers.load` reads.

        Raises
        ------
        FileError
            Writing the file failed.
        """
        arrays = {"components": self.query_components}
        if self.document_components is not None:
            arrays["document_components"] = self.document_components
        learner = LEARNER_OF[self.kind]
        write(Contents(arrays, learner, kind=self.kind, facts=self.facts), path)

    @property
    def n_query_features(self) -> int:
        """Number of features that queries have."""
        return int(self.query_components.shape[1])

    @property
    def n_components(self) -> int:
        """Number of features that images have."""
        return int(self.query_components.shape[0])

    @property
    def n_document_features(self) -> int:
        """Number of features that documents have before they are mapped."""
        of_documents = self.document_components
        return self.n_components if of_documents is None else int(of_documents.shape[1])

    def transform(self, queries: npt.ArrayLike) -> npt.NDArray[Any]:
        """Map queries into the space of documents.

        Parameters
        ----------
        queries : array-like of shape (n_queries, n_query_features) or (n_query_features,)
            Embeddings of queries, or of one query.

        Returns
        -------
        ndarray of shape (n_queries, n_components) or (n_components,)
            Unit vectors; float32 if the queries are float32 or float16, else float64.

        Raises
        ------
        ValueError
            The queries have another number of features, or no direction.
        """
        return self._images(queries, 0, "queries", self.n_query_features)

    def transform_documents(self, documents: npt.ArrayLike) -> npt.NDArray[Any]:
        """Map documents for the index; without `document_components` only scale them to length 1.

        Parameters
        ----------
        documents : array-like of shape (n_documents, n_document_features) or (n_document_features,)
            Embeddings of documents, or of one document.

        Returns
        -------
        ndarray of shape (n_documents, n_components) or (n_components,)
            Unit vectors, of a dtype as in `transform`.
        """
        return self._images(documents, 1, "documents", self.n_document_features)

    def _images(
        self, given: npt.ArrayLike, side: int, name: str, n_features: int
    ) -> npt.NDArray[Any]:
        vectors = np.asarray(given)
        if vectors.ndim not in (1, 2) or vectors.shape[-1] != n_features:
            raise ValueError(
                f"{name} must have {n_features} features, or be one vector of them, got shape "
                f"{vectors.shape}: embed them with the model that the map was learned for."
            )
        dtype: Any = np.float64
        matrix = (self.query_components, self.document_components)[side]
        if vectors.dtype in (np.float32, np.float16):
            dtype, matrix = np.float32, self._in_single_precision[side]
        rows = np.atleast_2d(vectors)
        images = np.empty((len(rows), self.n_components), dtype=dtype)
        for start in range(0, len(rows), _VECTORS_AT_ONCE):
            indices = range(start, min(start + _VECTORS_AT_ONCE, len(rows)))
            block = unit_vectors(rows[start : start + _VECTORS_AT_ONCE], name, indices, dtype)
            if matrix is not None:
                block = unit_vectors(block @ matrix.T, f"images of {name}", indices, dtype)
            images[start : start + _VECTORS_AT_ONCE] = block
        return images.reshape(*vectors.shape[:-1], self.n_components)

    def to_onnx(self) -> bytes:
        """Return the map of queries as an ONNX model; needs the package onnx.

        For documents take ``QueryMap(map.document_components).to_onnx()``.

        Returns
        -------
        bytes
            A model with input ``X`` (float32, [N, d]) and output ``transformed`` ([N,
            n_components]), of unit length.
        """
        from calipers.metric.exports import onnx_model

        learner = LEARNER_OF[self.kind]
        return onnx_model(self.query_components, learner=learner, to_unit_length=True)

    def to_faiss(self) -> Any:
        """Return the map of queries as a ``faiss.LinearTransform``; needs the package faiss.

        ``faiss.IndexPreTransform(map.to_faiss(), index)`` searches an index that is filled already
        with queries as they come from the model. Images are not scaled to unit length, which does
        not change the order of documents.

        Returns
        -------
        faiss.LinearTransform
            The transform.
        """
        from calipers.metric.exports import faiss_transform

        return faiss_transform(self.query_components)

    def to_sentence_transformer(self, model: Any) -> Any:
        """Return a model of sentence-transformers (5 or later) whose queries are mapped.

        Saved to a folder it is loaded without Calipers. ``encode_query`` maps; ``encode_document``
        and ``encode`` give documents as the index has them. For a bridge, `model` is the new model,
        and only queries are to be encoded.

        Parameters
        ----------
        model : SentenceTransformer
            The model that embeds queries; it stays as it is.

        Returns
        -------
        SentenceTransformer
            The model's modules, then a ``Router`` with a ``Dense`` layer for queries.
        """
        import torch
        from sentence_transformers import SentenceTransformer

        try:
            from sentence_transformers.base.modules import Dense, Normalize, Router
        except ImportError:  # before 6
            from sentence_transformers.models import Dense, Normalize, Router

        def route(matrix: npt.NDArray[Any] | None) -> list[Any]:
            if matrix is None:
                return [Normalize()]
            k, d = matrix.shape
            weights = torch.tensor(np.asarray(matrix, dtype=np.float32))
            identity = torch.nn.Identity()
            dense = Dense(d, k, bias=False, activation_function=identity, init_weight=weights)
            return [dense, Normalize()]

        router = Router.for_query_document(
            query_modules=route(self.query_components),
            document_modules=route(self.document_components),
            default_route="document",
        )
        return SentenceTransformer(
            modules=[*model, router], prompts=model.prompts, device=str(model.device)
        )

    def __repr__(self) -> str:
        verdict = "helps=False, " if self.facts.get("helps") is False else ""
        return (
            f"QueryMap({verdict}kind={self.kind!r}, n_query_features={self.n_query_features}, "
            f"n_components={self.n_components})"
        )


def load(path: str | os.PathLike[str]) -> Any:
    """Read what ``save`` or the command line wrote: a metric, an adapter or a bridge.

    The file holds numbers and text only: loading runs no code from it. For an adapter or a bridge
    it loads neither scikit-learn nor SciPy.

    Parameters
    ----------
    path : path-like
        Name of the file.

    Returns
    -------
    SavedMetric or QueryMap
        The metric, or the map of an adapter or a bridge, ready to use.

    Raises
    ------
    FileError
        The file is not there, damaged, or of another format.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from calipers import Euclidean, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Euclidean().fit(np.eye(3)).save(f"{folder}/metric.safetensors")
    ...     metric = load(f"{folder}/metric.safetensors")
    >>> metric
    SavedMetric(learner='Euclidean', n_features=3, n_components=3)
    """
    contents = read(path)
    if contents.kind != "metric":
        of_documents = contents.arrays.get("document_components")
        return QueryMap(contents.components, of_documents, kind=contents.kind, facts=contents.facts)
    from calipers.metric.saved import SavedMetric

    return SavedMetric(contents)


def _matrix(given: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """Return a copy that cannot be changed, float32 or float64."""
    is_single = getattr(given, "dtype", None) == np.float32
    matrix = np.array(given, dtype=np.float32 if is_single else np.float64, order="C")
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise ValueError(
            f"{name} must be a matrix of finite numbers, got an array of shape {matrix.shape}."
        )
    matrix.setflags(write=False)
    return matrix


def unit_vectors(
    vectors: npt.NDArray[Any],
    name: str,
    indices: Sequence[int] | IndexArray,
    dtype: npt.DTypeLike,
) -> npt.NDArray[Any]:
    """Scale vectors to length 1; raise if one has no direction.

    Vectors are scaled by their largest entry first, so that squares do not overflow. An error
    names them `name` and counts them by `indices`.

    >>> unit_vectors(np.array([[3e300, 4e300]]), "queries", [0], np.float64)
    array([[0.6, 0.8]])
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    wrong = ~(np.isfinite(largest) & (largest > 0))[:, 0]
    if wrong.any():
        at = int(wrong.argmax())
        what = "is zero" if largest[at] == 0 else "has values that are not finite"
        raise ValueError(
            f"{name}[{indices[at]}] {what}, so it has no direction: leave it out, or embed its "
            "text again."
        )
    largest = largest.astype(np.result_type(vectors, dtype))  # the quotient is rounded once
    scaled = (vectors / largest).astype(dtype, copy=False)
    scaled /= np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return np.asarray(scaled)
