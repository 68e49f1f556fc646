"""The recipes of the page "In your vector database", run as they stand there."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from calipers import QueryMap

PAGE = Path(__file__).parents[2] / "docs" / "search" / "vector_database.rst"
RNG = np.random.default_rng(0)
TEXTS = [f"text {i}" for i in range(30)]
VECTORS = {text: RNG.standard_normal(6).astype(np.float32) for text in TEXTS}
DOCUMENTS = np.array([*VECTORS.values()])
QUERY_MAP = QueryMap(RNG.standard_normal((6, 6)))
BOTH_MAP = QueryMap(RNG.standard_normal((3, 6)), RNG.standard_normal((3, 6)))


def recipe(heading: str, query_map: QueryMap) -> dict[str, Any]:
    """Run the Python of a section; return what it defines."""
    section = re.split(r"\n(.+)\n-{3,}\n", PAGE.read_text(encoding="utf-8"))
    text = section[section.index(heading) + 1]
    block = re.search(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text)
    assert block is not None
    names: dict[str, Any] = {"np": np, "query_map": query_map}
    exec(dedent(block[1]), names)
    return names


def best(query_map: QueryMap, text: str) -> list[int]:
    """Indices of the five documents that the map finds."""
    cosines = query_map.transform_documents(DOCUMENTS) @ query_map.transform(VECTORS[text])
    found: list[int] = np.argsort(-cosines)[:5].tolist()
    return found


class Embedder:
    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = VECTORS[text].tolist()
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


@pytest.mark.parametrize("query_map", [QUERY_MAP, BOTH_MAP], ids=["query", "both"])
def test_langchain_finds_the_same_documents(query_map: QueryMap) -> None:
    pytest.importorskip("langchain_core", reason="needs langchain-core")
    from langchain_core.vectorstores import InMemoryVectorStore

    mapped = recipe("LangChain", query_map)["MappedEmbeddings"](Embedder(), query_map)
    store = InMemoryVectorStore.from_texts(TEXTS, mapped)
    found = store.similarity_search("text 7", k=5)
    assert [TEXTS.index(document.page_content) for document in found] == best(query_map, "text 7")


@pytest.fixture(scope="module")
def postgres() -> Iterator[Any]:
    """A real server with pgvector, in a folder that its user may enter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a missing XDG_RUNTIME_DIR
        pgserver = pytest.importorskip("pgserver", reason="needs pgserver, PostgreSQL as a wheel")
    with TemporaryDirectory() as folder, pgserver.get_server(folder, cleanup_mode="stop") as server:
        server.psql("CREATE EXTENSION vector; CREATE TABLE documents (i int, embedding vector(6));")
        rows = ", ".join(f"({i}, '{row.tolist()}')" for i, row in enumerate(DOCUMENTS))
        server.psql(f"INSERT INTO documents VALUES {rows};")
        yield server


def rows_of(server: Any, sql: str) -> list[str]:
    """Rows that the server's own client shows."""
    lines = server.psql("\\t on\n" + sql).splitlines()
    return [line.strip() for line in lines if line and not line.startswith("Tuples only")]


def test_pgvector_finds_the_same_documents_by_an_index(postgres: Any) -> None:
    postgres.psql(recipe("PostgreSQL with pgvector", QUERY_MAP)["sql"])
    query = f"adapt_query('{DOCUMENTS[7].tolist()}')"
    (made,) = rows_of(postgres, f"SELECT {query};")
    image = np.array(made.strip("[]").split(","), float)
    expected = QUERY_MAP.transform(DOCUMENTS[7])
    np.testing.assert_allclose(image / np.linalg.norm(image), expected, atol=1e-6)
    search = f"SELECT i FROM documents ORDER BY embedding <=> {query} LIMIT 5;"
    assert [*map(int, rows_of(postgres, search))] == best(QUERY_MAP, "text 7")
    indexed = "CREATE INDEX ON documents USING hnsw (embedding vector_cosine_ops);"
    plan = postgres.psql(f"{indexed} SET enable_seqscan = off; EXPLAIN {search}")
    assert "Index Scan using documents_embedding_idx" in plan
