"""The documents of highest cosine, against sorting all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calipers.data import memmap
from calipers.search.nearest import nearest_documents

RNG = np.random.default_rng(0)
QUERIES, DOCUMENTS = RNG.standard_normal((7, 6)), RNG.standard_normal((50, 6))


@pytest.mark.parametrize("rows", [4, 17, 1000])
def test_blocks_give_what_sorting_gives(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memmap, "BLOCK_ELEMENTS", 6 * rows)
    unit = DOCUMENTS / np.linalg.norm(DOCUMENTS, axis=1, keepdims=True)
    cosines = QUERIES @ unit.T
    order = np.argsort(-cosines, axis=1)
    np.testing.assert_array_equal(nearest_documents(QUERIES, DOCUMENTS, 5), order[:, :5])
    found = nearest_documents(QUERIES, DOCUMENTS, 5, without=order[:, 1])
    np.testing.assert_array_equal(found, order[:, [0, 2, 3, 4, 5]])


def test_documents_may_be_half_precision_on_disk(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", DOCUMENTS.astype(np.float16))
    mapped = np.load(tmp_path / "d.npy", mmap_mode="r")
    found = nearest_documents(QUERIES.astype(np.float32), mapped, 3)
    expected = nearest_documents(QUERIES, mapped.astype(np.float64), 3)
    np.testing.assert_array_equal(found, expected)


def test_a_document_without_direction_is_named() -> None:
    documents = DOCUMENTS.copy()
    documents[31] = 0
    with pytest.raises(ValueError, match=r"^documents\[31\] is zero, so it has no direction"):
        nearest_documents(QUERIES, documents, 3)
