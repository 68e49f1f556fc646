"""A map as it serves: unit vectors by one product, from one file, without SciPy."""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from calipers import FileError, QueryMap
from metric_files import message, parts, sealed, small_file
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
    for again in (
        QueryMap.load(tmp_path / "map"),
        pickle.loads(pickle.dumps(saved)),
        deepcopy(saved),
        clone(saved),
    ):
        assert again == saved
        assert again.facts == facts
        assert again.query_components.dtype == np.dtype(dtype)
        with pytest.raises(ValueError, match="read-only"):
            again.query_components[0, 0] = 7.0


def test_maps_that_differ_are_not_equal() -> None:
    first = QueryMap(A)
    others = [
        QueryMap(2 * A),
        QueryMap(A, B),
        QueryMap(A, kind="bridge"),
        QueryMap(A, facts={"a": 1}),
    ]
    assert all(first != other for other in [*others, "a map"])


def test_a_map_cannot_be_changed() -> None:
    given = A.copy()
    map_ = QueryMap(given, facts={"helps": True})
    given[:] = 0
    map_.facts["helps"] = False
    assert map_ == QueryMap(A, facts={"helps": True})
    with pytest.raises(AttributeError, match="A QueryMap cannot be changed: make a new one with"):
        map_.kind = "bridge"
    with pytest.raises(AttributeError, match="A QueryMap cannot be changed"):
        del map_.kind


def test_that_nothing_was_gained_is_said_first() -> None:
    assert repr(QueryMap(A, facts={"helps": False})) == (
        "QueryMap(helps=False, kind='adapter', n_query_features=5, n_components=3)"
    )


@pytest.mark.parametrize(
    ("queries", "told"),
    [
        (
            np.ones((2, 4)),
            "queries must have 5 features, or be one vector of them, got shape (2, 4): embed them "
            "with the model that the map was learned for.",
        ),
        (
            1.0,
            "queries must have 5 features, or be one vector of them, got shape (): embed them with "
            "the model that the map was learned for.",
        ),
        (["a"] * 5, "queries must be real numbers, got <U1: pass a dense array of embeddings."),
        (
            np.zeros(5),
            "queries[0] is zero, so it has no direction: leave it out, or embed its text again.",
        ),
        (
            np.where(np.arange(5) == 1, np.nan, QUERIES[:3]),
            "queries[0] has values that are not finite, so it has no direction: leave it out, or "
            "embed its text again.",
        ),
        (
            np.vstack([np.ones((33_000, 5)), np.zeros((1, 5))]),
            "queries[33000] is zero, so it has no direction: leave it out, or embed its text "
            "again.",
        ),
    ],
)
def test_bad_queries_are_told_in_a_sentence(queries: Any, told: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        QueryMap(A).transform(queries)
    assert str(caught.value) == told


def test_an_image_without_direction_is_told() -> None:
    with pytest.raises(ValueError, match=r"^documents\[1\] is mapped to zero, so its image"):
        QueryMap([[1.0, 0.0]], [[1.0, 0.0]]).transform_documents(np.eye(2))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"query_components": np.ones(3)}, "query_components must be a matrix of finite numbers"),
        ({"query_components": [[np.inf]]}, "with values that are not finite."),
        ({"query_components": A, "document_components": B[:2]}, "got 3 and 2: both map into one"),
        ({"query_components": A, "kind": "metric"}, "kind must be one of adapter, bridge, got"),
    ],
)
def test_matrices_that_make_no_map_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        QueryMap(**given)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    with pytest.raises(FileError, match="is a saved metric, not a map of queries: read it with"):
        QueryMap.load(path)
    QueryMap(A, B).save(path)
    outer, body = parts(path.read_bytes())
    outer["document_components"]["shape"] = [4, 3]
    path.write_bytes(sealed(outer, body))
    assert "'document_components' has shape (4, 3), not (3, 3)" in message(path)


def test_serving_loads_numpy_and_safetensors_only(tmp_path: Path) -> None:
    path = tmp_path / "adapter.safetensors"
    QueryMap(A).save(path)
    code = f"import calipers; calipers.load({str(path)!r}).transform([1.0, 2.0, 3.0, 4.0, 5.0])"
    assert loaded_after(code) == {"safetensors"}
