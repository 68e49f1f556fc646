"""Maps of queries in other programs: one line each.

Every function takes a :class:`~calipers.QueryMap`, or a fitted adapter or bridge.
What it makes gives the vectors of ``map.transform``, and for documents those of
``map.transform_documents``, in single precision.

Stores that are searched with a vector need no function: ``table.search(map.transform(query))`` of
LanceDB, ``[map.transform(query).astype("float32").tobytes()]`` as the parameter for sqlite-vec.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.metric.file import export
from calipers.search.query_map import LEARNER_OF, QueryMap

_MAPPED_SIDES = ("query", "document")


def to_onnx(map_: Any, *, side: str = "query") -> bytes:
    """Return the map as an ONNX model; needs the package onnx.

    Parameters
    ----------
    map_ : QueryMap, QueryAdapter or Bridge
        The map.
    side : {"query", "document"}, default="query"
        Which vectors the model maps.

    Returns
    -------
    bytes
        A model with input ``X`` (float32, [N, d]) and output ``transformed`` ([N, n_components]),
        of unit length.
    """
    served = _served(map_)
    return export.onnx_model(
        _matrix(served, side), learner=LEARNER_OF[served.kind], to_unit_length=True
    )


def to_faiss(map_: Any, *, side: str = "query") -> Any:
    """Return the map as a ``faiss.LinearTransform``; needs the package faiss.

    ``faiss.IndexPreTransform(to_faiss(map_), index)`` searches an index that is filled already
    with queries as they come from the model. Images are not scaled to unit length, which does not
    change the order of documents.

    Parameters
    ----------
    map_ : QueryMap, QueryAdapter or Bridge
        The map.
    side : {"query", "document"}, default="query"
        Which vectors are mapped.

    Returns
    -------
    faiss.LinearTransform
        The transform.
    """
    return export.faiss_transform(_matrix(_served(map_), side))


def to_sentence_transformer(map_: Any, model: Any) -> Any:
    """Return a model of sentence-transformers whose queries are mapped.

    ``to_sentence_transformer(map_, model).save(folder)`` writes a folder that sentence-transformers
    (5 or later) loads without Calipers. ``encode_query`` maps; ``encode_document`` and ``encode``
    give documents as the index has them. A bridge needs the new model here, and its documents are
    not the old model's: use it for queries only.

    Parameters
    ----------
    map_ : QueryMap, QueryAdapter or Bridge
        The map.
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

    served = _served(map_)

    def route(matrix: npt.NDArray[Any] | None) -> list[Any]:
        if matrix is None:
            return [Normalize()]
        k, d = matrix.shape
        weights = torch.tensor(np.asarray(matrix, dtype=np.float32))
        dense = Dense(
            d, k, bias=False, activation_function=torch.nn.Identity(), init_weight=weights
        )
        return [dense, Normalize()]

    router = Router.for_query_document(
        query_modules=route(served.query_components),
        document_modules=route(served.document_components),
        default_route="document",
    )
    return SentenceTransformer(
        modules=[*model, router], prompts=model.prompts, device=str(model.device)
    )


def to_langchain(map_: Any, embeddings: Any) -> Any:
    """Return embeddings for LangChain whose queries are mapped.

    Parameters
    ----------
    map_ : QueryMap, QueryAdapter or Bridge
        The map.
    embeddings : Embeddings
        What embeds texts: anything with ``embed_query`` and ``embed_documents``.

    Returns
    -------
    langchain_core.embeddings.Embeddings
        Embeddings to give to a vector store.
    """
    from langchain_core.embeddings import Embeddings

    served = _served(map_)

    class MappedEmbeddings(Embeddings):  # type: ignore[misc]
        """Embeddings of which queries, and documents if the map says so, are mapped."""

        def embed_query(self, text: str) -> list[float]:
            return _listed(served.transform(embeddings.embed_query(text)))

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [*map(_listed, _documents(served, embeddings.embed_documents(texts)))]

    return MappedEmbeddings()


def to_llama_index(map_: Any, embed_model: Any) -> Any:
    """Return an embedding model for LlamaIndex whose queries are mapped.

    Parameters
    ----------
    map_ : QueryMap, QueryAdapter or Bridge
        The map.
    embed_model : BaseEmbedding
        What embeds texts: anything with ``get_query_embedding`` and ``get_text_embedding_batch``.

    Returns
    -------
    llama_index.core.base.embeddings.base.BaseEmbedding
        A model to give to an index or a retriever.
    """
    from llama_index.core.base.embeddings.base import BaseEmbedding

    served = _served(map_)

    class MappedEmbedding(BaseEmbedding):  # type: ignore[misc]
        """An embedding model of which queries, and documents if the map says so, are mapped."""

        def _get_query_embedding(self, query: str) -> list[float]:
            return _listed(served.transform(embed_model.get_query_embedding(query)))

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            made = embed_model.get_text_embedding_batch(texts)
            return [*map(_listed, _documents(served, made))]

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

    return MappedEmbedding(model_name=getattr(embed_model, "model_name", "unknown"))


def to_pgvector(map_: Any, name: str, *, side: str = "query") -> str:
    """Return SQL that creates the map as a function of PostgreSQL with pgvector.

    The function is immutable, so ``ORDER BY embedding <=> name($1)`` uses an index, and a column
    may be ``GENERATED ALWAYS AS (name(embedding)) STORED``. It holds its numbers, which a dump
    keeps.

    Parameters
    ----------
    map_ : QueryMap, QueryAdapter or Bridge
        The map.
    name : str
        Name of the function, which is quoted.
    side : {"query", "document"}, default="query"
        Which vectors the function maps.

    Returns
    -------
    str
        One statement, ``CREATE OR REPLACE FUNCTION``.

    Examples
    --------
    >>> print(to_pgvector(QueryMap([[1.0, 0.5]]), "adapt"))
    CREATE OR REPLACE FUNCTION "adapt"(given vector) RETURNS vector
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $map$
    BEGIN
      RETURN (SELECT array_agg(value / length ORDER BY i) FROM (
        SELECT i, value, sqrt(sum(value * value) OVER ()) AS length FROM (
          SELECT i, -(components <#> given) AS value
          FROM unnest('{"[1.0,0.5]"}'::vector[]) WITH ORDINALITY AS of_map(components, i)
        ) AS of_product) AS of_image)::vector;
    END
    $map$;
    """
    rows = ",".join(f'"[{",".join(row)}]"' for row in _texts(_served(map_), side))
    return f"""CREATE OR REPLACE FUNCTION {_quoted(name)}(given vector) RETURNS vector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $map$
BEGIN
  RETURN (SELECT array_agg(value / length ORDER BY i) FROM (
    SELECT i, value, sqrt(sum(value * value) OVER ()) AS length FROM (
      SELECT i, -(components <#> given) AS value
      FROM unnest('{{{rows}}}'::vector[]) WITH ORDINALITY AS of_map(components, i)
    ) AS of_product) AS of_image)::vector;
END
$map$;"""


def to_duckdb(map_: Any, name: str, *, side: str = "query") -> str:
    """Return SQL that creates the map as a macro of DuckDB, with a table of its numbers.

    ``ORDER BY array_cosine_distance(embedding, name($1))`` then finds documents.

    Parameters
    ----------
    map_ : QueryMap, QueryAdapter or Bridge
        The map.
    name : str
        Name of the macro and of the table, which is quoted.
    side : {"query", "document"}, default="query"
        Which vectors the macro maps.

    Returns
    -------
    str
        Two statements.
    """
    served = _served(map_)
    rows = ",\n".join(f"({i}, '[{','.join(row)}]')" for i, row in enumerate(_texts(served, side)))
    k, d = served.n_components, _matrix(served, side).shape[1]
    quoted = _quoted(name)
    return f"""CREATE OR REPLACE TABLE {quoted} AS
SELECT i, components::FLOAT[{d}] AS components FROM (VALUES
{rows}) AS of_map(i, components);
CREATE OR REPLACE MACRO {quoted}(given) AS (
SELECT list(value / length ORDER BY i)::FLOAT[{k}] FROM (
  SELECT i, value, sqrt(sum(value * value) OVER ()) AS length FROM (
    SELECT i, array_inner_product(components, given::FLOAT[{d}]) AS value FROM {quoted})));"""


def _served(map_: Any) -> QueryMap:
    """Return the map itself, or that of a fitted estimator."""
    served = getattr(map_, "map_", map_)
    if not isinstance(served, QueryMap):
        raise TypeError(
            f"map_ must be a QueryMap, or a fitted QueryAdapter or Bridge, got "
            f"{type(map_).__name__}: fit it first, or read it with calipers.load."
        )
    return served


def _matrix(served: QueryMap, side: str) -> npt.NDArray[Any]:
    if side not in _MAPPED_SIDES:
        raise ValueError(f"side must be one of {', '.join(_MAPPED_SIDES)}, got {side!r}.")
    matrix = served.query_components if side == "query" else served.document_components
    if matrix is None:
        raise ValueError(
            "The map leaves documents as they are: there is nothing to hand over for them, use "
            "side='query'."
        )
    return matrix


def _texts(served: QueryMap, side: str) -> Iterator[list[str]]:
    """Yield the rows of the matrix, in the fewest digits that give the same float32."""
    for row in np.asarray(_matrix(served, side), dtype=np.float32):
        yield [str(value) for value in row]


def _documents(served: QueryMap, vectors: Any) -> Any:
    """Return documents mapped, or as they are, for the index has them so."""
    return vectors if served.document_components is None else served.transform_documents(vectors)


def _listed(vector: Any) -> list[float]:
    return vector if isinstance(vector, list) else [*map(float, vector)]


def _quoted(name: str) -> str:
    """Return an identifier of SQL.

    >>> _quoted('new "old" map')
    '"new ""old"" map"'
    """
    if not name or "\0" in name:
        raise ValueError(f"name must be a text without zero bytes, got {name!r}.")
    return '"' + name.replace('"', '""') + '"'
