"""A learned map as it serves: from queries into the space of documents, by NumPy alone."""

from __future__ import annotations

import os
from copy import deepcopy
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from calipers.data.files import FileError
from calipers.metric.file import Contents, read, write
from calipers.metric.file.values import to_json

LEARNER_OF = {"adapter": "QueryAdapter", "bridge": "Bridge"}
"""Learner of each kind of map."""

_VECTORS_AT_ONCE = 1 << 15
_SAFE_SQUARES = (1e-30, 1e30)  # of lengths that float32 squares without loss


class QueryMap:
    """A linear map of queries, and of documents if they are mapped too, onto unit vectors.

    ``transform(q)`` is ``Aq / |Aq|`` with A = `query_components`: the length of q does not matter.
    The cosine of two images is their inner product. A map cannot be changed; it can be compared,
    copied and pickled.

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

    query_components: npt.NDArray[Any]
    document_components: npt.NDArray[Any] | None
    kind: str
    _facts: dict[str, Any]
    _transposed: dict[Any, npt.NDArray[Any] | None]

    def __init__(
        self,
        query_components: npt.ArrayLike,
        document_components: npt.ArrayLike | None = None,
        *,
        kind: str = "adapter",
        facts: dict[str, Any] | None = None,
    ) -> None:
        if kind not in LEARNER_OF:
            raise ValueError(f"kind must be one of {', '.join(LEARNER_OF)}, got {kind!r}.")
        of_queries = _frozen(query_components, "query_components")
        of_documents = None
        if document_components is not None:
            of_documents = _frozen(document_components, "document_components")
            if len(of_documents) != len(of_queries):
                raise ValueError(
                    "query_components and document_components must have as many rows, got "
                    f"{len(of_queries)} and {len(of_documents)}: both map into one space."
                )
        vars(self).update(
            query_components=of_queries,
            document_components=of_documents,
            kind=kind,
            _facts=to_json(dict(facts or {})),
            _transposed={},
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> QueryMap:
        """Read a map that `save` wrote; :func:`calipers.load` does the same.

        Raises
        ------
        FileError
            The file is not there, damaged, or holds something else.
        """
        contents = read(path)
        if contents.kind not in LEARNER_OF:
            raise FileError(
                f"{os.fspath(path)!r} is a saved {contents.kind}, not a map of queries: read it "
                "with calipers.load."
            )
        return cls.of(contents)

    @classmethod
    def of(cls, contents: Contents) -> QueryMap:
        """Return the map that a file holds."""
        return cls(
            contents.components,
            contents.arrays.get("document_components"),
            kind=contents.kind,
            facts=contents.facts,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map into a safetensors file, completely or not at all.

        Raises
        ------
        FileError
            Writing the file failed.
        """
        from calipers.version import __version__

        arrays = {"components": self.query_components}
        if self.document_components is not None:
            arrays["document_components"] = self.document_components
        write(
            Contents(
                arrays,
                LEARNER_OF[self.kind],
                kind=self.kind,
                facts=self._facts,
                written_by=__version__,
            ),
            path,
        )

    @property
    def facts(self) -> dict[str, Any]:
        """What is known about the map: a copy."""
        return deepcopy(self._facts)

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
        return self._mapped(queries, "query")

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
        return self._mapped(documents, "document")

    def _mapped(self, given: npt.ArrayLike, side: str) -> npt.NDArray[Any]:
        plural = "queries" if side == "query" else "documents"
        vectors = np.asarray(given)
        n_features = self.n_query_features if side == "query" else self.n_document_features
        if (
            vectors.ndim not in (1, 2)
            or vectors.shape[-1] != n_features
            or vectors.dtype.kind not in "fiu"
        ):
            _refuse(vectors, plural, n_features)
        dtype = np.float32 if vectors.dtype in (np.float32, np.float16) else np.float64
        matrix = self._transposed_components(side, dtype)
        if vectors.ndim == 1:
            return _unit_image(np.asarray(vectors, dtype=dtype), matrix, plural)
        images = np.empty((len(vectors), self.n_components), dtype=dtype)
        for start in range(0, len(vectors), _VECTORS_AT_ONCE):
            block = slice(start, start + _VECTORS_AT_ONCE)
            images[block] = _unit_images(np.asarray(vectors[block], dtype), matrix, plural, start)
        return images

    def _transposed_components(self, side: str, dtype: Any) -> npt.NDArray[Any] | None:
        """Return the transposed matrix of one side in a dtype; it is made once."""
        cache = self._transposed
        if (side, dtype) not in cache:
            matrix = self.query_components if side == "query" else self.document_components
            cache[side, dtype] = None if matrix is None else np.asarray(matrix, dtype=dtype).T
        return cache[side, dtype]

    def __setattr__(self, name: str, value: object = None) -> NoReturn:
        raise AttributeError(f"A QueryMap cannot be changed: make a new one with another {name}.")

    __delattr__ = __setattr__

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self.query_components, self.document_components, self.kind, self._facts)
        return _restored, given

    def __sklearn_clone__(self) -> QueryMap:
        """Return the map itself: it has no parameters, and cannot be changed."""
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QueryMap):
            return NotImplemented
        return (
            self.kind == other.kind
            and self._facts == other._facts
            and _same(self.query_components, other.query_components)
            and _same(self.document_components, other.document_components)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        verdict = "helps=False, " if self._facts.get("helps") is False else ""
        return (
            f"QueryMap({verdict}kind={self.kind!r}, n_query_features={self.n_query_features}, "
            f"n_components={self.n_components})"
        )


def _restored(of_queries: Any, of_documents: Any, kind: str, facts: dict[str, Any]) -> QueryMap:
    return QueryMap(of_queries, of_documents, kind=kind, facts=facts)


def _frozen(given: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """Return a copy that cannot be changed, float32 or float64."""
    array = np.array(given)
    array = np.array(
        array, dtype=np.float32 if array.dtype == np.float32 else np.float64, order="C"
    )
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise ValueError(
            f"{name} must be a matrix of finite numbers, got shape {array.shape}"
            f"{'' if np.isfinite(array).all() else ' with values that are not finite'}."
        )
    array.setflags(write=False)
    return array


def _same(first: npt.NDArray[Any] | None, second: npt.NDArray[Any] | None) -> bool:
    if first is None or second is None:
        return first is second
    return first.dtype == second.dtype and np.array_equal(first, second)


def _unit_image(
    vector: npt.NDArray[Any], matrix: npt.NDArray[Any] | None, plural: str
) -> npt.NDArray[Any]:
    """Return the image of one vector, by as few calls as can be: a server waits for it."""
    with np.errstate(over="ignore", invalid="ignore"):
        image = vector if matrix is None else vector.dot(matrix)
        square = image.dot(image)
    if _SAFE_SQUARES[0] < square < _SAFE_SQUARES[1]:
        return np.asarray(image / np.sqrt(square))
    return np.asarray(_unit_images(vector[None], matrix, plural, 0)[0])


def _unit_images(
    vectors: npt.NDArray[Any], matrix: npt.NDArray[Any] | None, plural: str, first: int
) -> npt.NDArray[Any]:
    images = unit_vectors(vectors, plural, first)
    if matrix is None:
        return images
    images = images @ matrix
    lengths = np.linalg.norm(images, axis=1, keepdims=True)
    if not lengths.all():
        at = int((lengths == 0).argmax())
        raise ValueError(
            f"{plural}[{first + at}] is mapped to zero, so its image has no direction: use a map "
            "with more components, or leave it out."
        )
    return np.asarray(images / lengths)


def unit_vectors(vectors: npt.NDArray[Any], plural: str, first: int = 0) -> npt.NDArray[Any]:
    """Scale vectors to length 1; raise if one has no direction.

    Vectors are scaled by their largest entry first, so that squares do not overflow. An error
    names them `plural` and counts them from `first` on.

    >>> unit_vectors(np.array([[3e300, 4e300]]), "queries")
    array([[0.6, 0.8]])
    """
    scaled = vectors / largest_entries(vectors, plural, first)
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1, keepdims=True))


def largest_entries(
    vectors: npt.NDArray[Any], plural: str, first: int | npt.NDArray[np.intp] = 0
) -> npt.NDArray[Any]:
    """Return the largest absolute entry of each vector; raise if one has no direction.

    An error counts vectors from `first` on, or names the one of these indices.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    wrong = ~(np.isfinite(largest) & (largest > 0))[:, 0]
    if wrong.any():
        at = int(wrong.argmax())
        what = "is zero" if largest[at] == 0 else "has values that are not finite"
        index = first[at] if isinstance(first, np.ndarray) else first + at
        raise ValueError(
            f"{plural}[{index}] {what}, so it has no direction: leave it out, or embed its text "
            "again."
        )
    return np.asarray(largest)


def _refuse(vectors: npt.NDArray[Any], plural: str, n_features: int) -> NoReturn:
    if vectors.dtype.kind not in "fiu":
        raise ValueError(
            f"{plural} must be real numbers, got {vectors.dtype}: pass a dense array of embeddings."
        )
    raise ValueError(
        f"{plural} must have {n_features} features, or be one vector of them, got shape "
        f"{vectors.shape}: embed them with the model that the map was learned for."
    )
