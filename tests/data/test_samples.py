"""Samples in memory: anchors, blocks, and examples re-indexed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from calipers.data import memmap
from calipers.data.samples import (
    Chain,
    MemorySamples,
    Samples,
    anchor_indices,
    chained,
    count_anchors,
    gathered,
)

X = np.random.default_rng(0).normal(size=(50, 3))
LABELS = np.arange(50) % 4


def test_anchors_leave_out_singletons() -> None:
    some = MemorySamples(np.zeros((6, 1)), np.array([2, 0, 2, 1, 4, 4]))
    assert anchor_indices(some, np.arange(count_anchors(some))).tolist() == [0, 2, 4, 5]


def test_sizes_and_singletons() -> None:
    some = MemorySamples(np.zeros((6, 1)), np.array([2, 0, 2, 1, 4, 4]))
    assert some.class_sizes.tolist() == [1, 1, 2, 0, 2]
    assert some.singletons.tolist() == [1, 3]
    unlabelled = MemorySamples(np.zeros((6, 1)))
    assert unlabelled.class_sizes.tolist() == []
    assert unlabelled.singletons.tolist() == []


@pytest.mark.parametrize("size", [1, 7, 50, 51])
def test_blocks_cover_all_samples_in_order(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memmap, "BLOCK_ELEMENTS", 3 * size)
    samples: Samples = MemorySamples(X, LABELS)
    blocks = list(samples.blocks())
    assert [first for first, _ in blocks] == list(range(0, 50, size))
    assert all(block.size <= 3 * size for _, block in blocks)
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), X)


def test_a_block_has_one_sample_where_that_is_larger_than_a_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memmap, "BLOCK_ELEMENTS", 2)
    assert [len(block) for _, block in MemorySamples(X[:4]).blocks()] == [1, 1, 1, 1]
    assert list(MemorySamples(X[:0]).blocks()) == []


def test_examples_are_indices_into_what_was_gathered() -> None:
    samples = MemorySamples(X, LABELS)
    examples = np.array([[7, 3, 1], [3, 40, -1]])  # pairs and their signs
    taken, local = gathered(samples, examples, 2)
    np.testing.assert_array_equal(taken, X[[3, 7, 40]])
    np.testing.assert_array_equal(local, [[1, 0, 1], [0, 2, -1]])
    everything, same = samples.local(examples, n_columns=2)
    assert everything is X
    assert same is examples


def test_transformed_samples_keep_indices_and_classes() -> None:
    images = MemorySamples(X, LABELS).transformed(np.negative)
    np.testing.assert_array_equal(images.take(np.array([4, 2])), -X[[4, 2]])
    np.testing.assert_array_equal(images.labels_of(np.array([4, 2])), LABELS[[4, 2]])


def test_maps_are_chained_in_order_and_can_be_pickled() -> None:
    assert chained(None, np.negative) is np.negative
    both = pickle.loads(pickle.dumps(chained(np.exp, np.negative)))
    assert isinstance(both, Chain)
    np.testing.assert_array_equal(both(X), -np.exp(X))
