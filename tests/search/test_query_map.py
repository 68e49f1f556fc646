"""A map as it serves: unit vectors by one product, from one file, without SciPy."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import QueryMap, load
from test_start_up import loaded_after

RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((3, 5)), RNG.standard_normal((3, 4))
QUERIES = RNG.standard_normal((40_000, 5))  # more than one block


def unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@pytest.mark.parametrize(("dtype", "out"), [("f8", "f8"), ("f4", "f4"), ("f2", "f4"), ("i8", "f8")])
def test_images_are_unit_vectors_of_the_product(dtype: str, out: str) -> None:
    queries = (10 * QUERIES).astype(dtype)
    images = QueryMap(A).transform(queries)
    assert images.dtype == np.dtype(out)
    expected = unit(queries.astype(out) @ A.T)
    np.testing.assert_allclose(images, expected, atol=1e-12 if out == "f8" else 1e-5)
    one = QueryMap(A).transform(queries[7])
    assert one.dtype == images.dtype
    np.testing.assert_allclose(one, images[7], atol=1e-12 if out == "f8" else 1e-6)
    assert QueryMap(A).transform(queries[:0]).shape == (0, 3)


def test_documents_are_mapped_or_stay_as_they_are() -> None:
    documents = RNG.standard_normal((6, 4))
    np.testing.assert_allclose(
        QueryMap(A, B).transform_documents(documents), unit(documents @ B.T), atol=1e-12
    )
    kept = QueryMap(A).transform_documents(documents[:, :3])
    np.testing.assert_allclose(kept, unit(documents[:, :3]), atol=1e-12)
    sizes = QueryMap(A, B)
    assert (sizes.n_query_features, sizes.n_document_features, sizes.n_components) == (5, 4, 3)
    assert QueryMap(A).n_document_features == 3


@pytest.mark.parametrize("scale", [1e-300, 1e-25, 1e25, 1e300])
def test_length_does_not_matter(scale: float) -> None:
    expected = QueryMap(A).transform(QUERIES[0])
    np.testing.assert_allclose(QueryMap(A).transform(scale * QUERIES[0]), expected, atol=1e-12)
    np.testing.assert_allclose(QueryMap(A).transform(scale * QUERIES[:1])[0], expected, atol=1e-12)


@pytest.mark.parametrize("of_documents", [None, B])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_file_and_a_pickle_give_the_same_map(
    of_documents: Any, dtype: str, tmp_path: Path
) -> None:
    facts = {"helps": True, "report": {"ndcg@10": [0.5, 0.75]}}
    saved = QueryMap(A.astype(dtype), of_documents, kind="bridge", facts=facts)
    saved.save(tmp_path / "map")
    for again in (load(tmp_path / "map"), pickle.loads(pickle.dumps(saved))):
        assert (again.kind, again.facts) == ("bridge", facts)
        assert again.query_components.dtype == np.dtype(dtype)
        assert np.array_equal(again.transform(QUERIES[:9]), saved.transform(QUERIES[:9]))
        documents = B[:, : saved.n_document_features]
        images = saved.transform_documents(documents)
        assert np.array_equal(again.transform_documents(documents), images)


def test_matrices_cannot_be_changed() -> None:
    given = A.copy()
    map_ = QueryMap(given)
    given[:] = 0
    assert np.array_equal(map_.query_components, A)
    with pytest.raises(ValueError, match="read-only"):
        map_.query_components[0, 0] = 7.0


def test_that_nothing_was_gained_is_said_first() -> None:
    assert repr(QueryMap(A, facts={"helps": False})) == (
        "QueryMap(helps=False, kind='adapter', n_query_features=5, n_components=3)"
    )


@pytest.mark.parametrize(
    ("queries", "told"),
    [
        (np.ones((2, 4)), r"queries must have 5 features, .* got shape \(2, 4\): embed them with"),
        (1.0, r"queries must have 5 features, or be one vector of them, got shape \(\)"),
        (np.zeros(5), r"queries\[0\] is zero, so it has no direction"),
        (np.full((3, 5), np.nan), r"queries\[0\] has values that are not finite"),
        (np.vstack([np.ones((33_000, 5)), np.zeros((1, 5))]), r"queries\[33000\] is zero"),
        ([5.0, 0.0, 0.0, 0.0, 0.0], r"images of queries\[0\] is zero, so it has no direction"),
    ],
)
def test_bad_queries_are_told_in_a_sentence(queries: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        QueryMap(A * [0.0, 1.0, 1.0, 1.0, 1.0]).transform(queries)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((np.ones(3),), "query_components must be a matrix of finite numbers"),
        (([[np.inf]],), "query_components must be a matrix of finite numbers"),
        ((A, B[:2]), "got 3 and 2: both map into one space"),
    ],
)
def test_matrices_that_make_no_map_are_refused(given: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        QueryMap(*given)


def test_onnx_gives_the_same_vectors() -> None:
    pytest.importorskip("onnx", reason="needs calipers[onnx]")
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    session = onnxruntime.InferenceSession(QueryMap(A).to_onnx())
    single = QUERIES[:9].astype(np.float32)
    images = session.run(None, {"X": single})[0]
    np.testing.assert_allclose(images, QueryMap(A).transform(single), atol=1e-6)
    assert session.get_modelmeta().custom_metadata_map["learner"] == "QueryAdapter"


def test_faiss_searches_a_filled_index_with_raw_queries() -> None:
    faiss = pytest.importorskip("faiss", reason="needs calipers[faiss]")
    documents = unit(RNG.standard_normal((30, 3))).astype(np.float32)
    filled = faiss.IndexFlatIP(3)
    filled.add(documents)
    index = faiss.IndexPreTransform(QueryMap(A).to_faiss(), filled)
    _, found = index.search(QUERIES[:4].astype(np.float32), 5)
    cosines = QueryMap(A).transform(QUERIES[:4]) @ documents.T
    assert found.tolist() == np.argsort(-cosines, axis=1)[:, :5].tolist()


def test_serving_loads_numpy_and_safetensors_only(tmp_path: Path) -> None:
    path = tmp_path / "adapter.safetensors"
    QueryMap(A).save(path)
    code = f"import calipers; calipers.load({str(path)!r}).transform([1.0, 2.0, 3.0, 4.0, 5.0])"
    assert loaded_after(code) == {"safetensors"}
