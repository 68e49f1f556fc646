"""The same map in other programs, each of them started: nearest documents and vectors agree."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from calipers import Bridge, QueryMap
from calipers.search import handover

RNG = np.random.default_rng(0)
TEXTS = [f"text {i}" for i in range(30)]
VECTORS = {text: RNG.standard_normal(6).astype(np.float32) for text in TEXTS}
DOCUMENTS = np.array([VECTORS[text] for text in TEXTS])
QUERY_MAP = QueryMap(RNG.standard_normal((6, 6)))
BOTH_MAP = QueryMap(RNG.standard_normal((3, 6)), RNG.standard_normal((3, 6)))
each_map = pytest.mark.parametrize("map_", [QUERY_MAP, BOTH_MAP], ids=["query", "both"])
NAME = """it's "quoted" $map$ ; --"""
SQL_NAME = '"' + NAME.replace('"', '""') + '"'


def best(map_: QueryMap, text: str, n: int = 5) -> list[int]:
    """Indices of the documents that the map finds."""
    cosines = map_.transform_documents(DOCUMENTS) @ map_.transform(VECTORS[text])
    found: list[int] = np.argsort(-cosines)[:n].tolist()
    return found


# Runtimes


@pytest.mark.parametrize("side", ["query", "document"])
def test_onnx_gives_the_same_vectors(side: str) -> None:
    pytest.importorskip("onnx", reason="needs calipers[onnx]")
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    session = onnxruntime.InferenceSession(handover.to_onnx(BOTH_MAP, side=side))
    expected = (BOTH_MAP.transform if side == "query" else BOTH_MAP.transform_documents)(DOCUMENTS)
    np.testing.assert_allclose(session.run(None, {"X": DOCUMENTS})[0], expected, atol=1e-6)
    assert session.get_modelmeta().custom_metadata_map["learner"] == "QueryAdapter"


def test_faiss_searches_a_filled_index_with_raw_queries() -> None:
    faiss = pytest.importorskip("faiss", reason="needs calipers[faiss]")
    filled = faiss.IndexFlatIP(6)
    filled.add(QUERY_MAP.transform_documents(DOCUMENTS))
    index = faiss.IndexPreTransform(handover.to_faiss(QUERY_MAP), filled)
    _, found = index.search(DOCUMENTS[:3], 5)
    assert found.tolist() == [best(QUERY_MAP, text) for text in TEXTS[:3]]


# Frameworks


class Embedder:
    """What both frameworks call an embedding model, without being one."""

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = VECTORS[text].tolist()
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    get_query_embedding = embed_query
    get_text_embedding_batch = embed_documents


@each_map
def test_langchain_finds_the_same_documents(map_: QueryMap) -> None:
    pytest.importorskip("langchain_core", reason="needs langchain-core")
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    embeddings = handover.to_langchain(map_, Embedder())
    assert isinstance(embeddings, Embeddings)
    store = InMemoryVectorStore.from_texts(TEXTS, embeddings)
    found = store.similarity_search("text 7", k=5)
    assert [TEXTS.index(document.page_content) for document in found] == best(map_, "text 7")
    if map_.document_components is None:
        assert embeddings.embed_documents(["text 1"]) == [VECTORS["text 1"].tolist()]


@each_map
def test_llama_index_finds_the_same_documents(map_: QueryMap) -> None:
    pytest.importorskip("llama_index.core", reason="needs llama-index-core")
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode

    model = handover.to_llama_index(map_, Embedder())
    nodes = [TextNode(text=text) for text in TEXTS]
    retriever = VectorStoreIndex(nodes, embed_model=model).as_retriever(similarity_top_k=5)
    found = retriever.retrieve("text 7")
    assert [TEXTS.index(node.get_content()) for node in found] == best(map_, "text 7")
    expected = map_.transform(VECTORS["text 7"].astype(np.float64))
    np.testing.assert_allclose(model.get_query_embedding("text 7"), expected, atol=1e-6)


# Stores


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
    postgres.psql(handover.to_pgvector(QUERY_MAP, NAME))
    query = f"{SQL_NAME}('{DOCUMENTS[7].tolist()}')"
    (made,) = rows_of(postgres, f"SELECT {query};")
    np.testing.assert_allclose(
        np.array(made.strip("[]").split(","), float), QUERY_MAP.transform(DOCUMENTS[7]), atol=1e-6
    )
    search = f"SELECT i FROM documents ORDER BY embedding <=> {query} LIMIT 5;"
    assert [*map(int, rows_of(postgres, search))] == best(QUERY_MAP, "text 7")
    indexed = "CREATE INDEX ON documents USING hnsw (embedding vector_cosine_ops);"
    plan = postgres.psql(f"{indexed} SET enable_seqscan = off; EXPLAIN {search}")
    assert "Index Scan using documents_embedding_idx" in plan


def test_pgvector_generates_a_column_of_mapped_documents(postgres: Any) -> None:
    postgres.psql(handover.to_pgvector(BOTH_MAP, "of_queries"))
    postgres.psql(handover.to_pgvector(BOTH_MAP, "of_documents", side="document"))
    made = "ADD COLUMN mapped vector(3) GENERATED ALWAYS AS (of_documents(embedding)) STORED"
    postgres.psql(f"ALTER TABLE documents {made};")
    order = f"ORDER BY mapped <=> of_queries('{DOCUMENTS[7].tolist()}') LIMIT 5"
    found = rows_of(postgres, f"SELECT i FROM documents {order};")
    assert [*map(int, found)] == best(BOTH_MAP, "text 7")


@each_map
def test_duckdb_finds_the_same_documents(map_: QueryMap) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    connection = duckdb.connect()
    connection.execute(handover.to_duckdb(map_, NAME))
    (made,) = connection.execute(f"SELECT {SQL_NAME}(?)", [DOCUMENTS[7].tolist()]).fetchone()
    np.testing.assert_allclose(made, map_.transform(DOCUMENTS[7]), atol=1e-6)
    k = map_.n_components
    connection.execute(f"CREATE TABLE documents (i INTEGER, embedding FLOAT[{k}])")
    for i, row in enumerate(map_.transform_documents(DOCUMENTS)):
        connection.execute("INSERT INTO documents VALUES (?, ?)", [i, row.tolist()])
    search = (
        f"SELECT i FROM documents ORDER BY array_cosine_distance(embedding, {SQL_NAME}(?)) LIMIT 5"
    )
    found = connection.execute(search, [DOCUMENTS[7].tolist()]).fetchall()
    assert [i for (i,) in found] == best(map_, "text 7")


def test_lancedb_finds_the_same_documents(tmp_path: Path) -> None:
    lancedb = pytest.importorskip("lancedb", reason="needs lancedb")
    rows = [{"i": i, "vector": row} for i, row in enumerate(DOCUMENTS)]
    table = lancedb.connect(tmp_path).create_table("documents", rows)
    query = QUERY_MAP.transform(DOCUMENTS[7])
    found = table.search(query).distance_type("cosine").limit(5).to_list()
    assert [row["i"] for row in found] == best(QUERY_MAP, "text 7")


def test_sqlite_vec_finds_the_same_documents() -> None:
    sqlite_vec = pytest.importorskip("sqlite_vec", reason="needs sqlite-vec")
    is_built_with_more = importlib.util.find_spec("pysqlite3") is not None
    sqlite3 = importlib.import_module("pysqlite3" if is_built_with_more else "sqlite3")
    connection = sqlite3.connect(":memory:")
    if not hasattr(connection, "enable_load_extension"):
        pytest.skip("this Python's sqlite3 loads no extensions; pysqlite3 does")
    connection.enable_load_extension(True)
    sqlite_vec.load(connection)
    connection.execute(
        "CREATE VIRTUAL TABLE documents USING vec0(embedding float[6] distance_metric=cosine)"
    )
    for i, row in enumerate(DOCUMENTS):
        connection.execute("INSERT INTO documents VALUES (?, ?)", [i, row.tobytes()])
    search = "SELECT rowid FROM documents WHERE embedding MATCH ? AND k = 5 ORDER BY distance"
    query = QUERY_MAP.transform(DOCUMENTS[7])
    found = connection.execute(search, [query.astype("float32").tobytes()]).fetchall()
    assert [i for (i,) in found] == best(QUERY_MAP, "text 7")
    connection.close()


# What is refused


def test_estimators_are_taken_once_they_are_fitted() -> None:
    bridge = Bridge(method="procrustes", random_state=0)
    with pytest.raises(TypeError, match="or a fitted QueryAdapter or Bridge, got Bridge: fit it"):
        handover.to_duckdb(bridge, "a")
    texts = RNG.standard_normal((60, 3))
    bridge.fit(texts, texts)
    assert handover.to_duckdb(bridge, "a") == handover.to_duckdb(bridge.map_, "a")


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"name": ""}, "name must be a text without zero bytes, got ''."),
        ({"name": "a\0b"}, r"name must be a text without zero bytes, got 'a\\x00b'."),
        ({"name": "a", "side": "both"}, "side must be one of query, document, got 'both'."),
        ({"name": "a", "side": "document"}, "The map leaves documents as they are: there is not"),
    ],
)
def test_what_cannot_be_handed_over_is_told(how: dict[str, str], told: str) -> None:
    for to_sql in (handover.to_pgvector, handover.to_duckdb):
        with pytest.raises(ValueError, match=told):
            to_sql(QUERY_MAP, **how)
