"""Samples in memory and in a memory map give the same answers."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers.data import samples
from calipers.data.samples import (
    DiskSamples,
    MemorySamples,
    Samples,
    gathered,
    thinned,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(230, 5))
LABELS = np.append(RNG.integers(0, 4, 229), 4)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calipers.data.samples.BLOCK_ELEMENTS", 5 * 32)
    monkeypatch.setattr(samples, "_TAKEN_AT_ONCE", 3)


def on_disk(folder: Path, X: Any, labels: Any = LABELS) -> DiskSamples:
    np.save(folder / "X.npy", X)
    return DiskSamples(np.load(folder / "X.npy", mmap_mode="r"), labels)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_answers_of_a_file_are_those_in_memory(tmp_path: Path, dtype: Any) -> None:
    stored, loaded = on_disk(tmp_path, X.astype(dtype)), MemorySamples(X.astype(dtype), LABELS)
    pairs: list[tuple[Samples, Samples]] = [
        (stored, loaded),
        (
            stored.transformed(np.negative).transformed(np.exp),
            loaded.transformed(np.negative).transformed(np.exp),
        ),
    ]
    indices, examples = RNG.permutation(230)[:40], RNG.integers(0, 230, (20, 3))
    for got, expected in pairs:
        assert got.shape == expected.shape
        np.testing.assert_array_equal(got.class_sizes, expected.class_sizes)
        np.testing.assert_array_equal(got.singletons, [229])
        np.testing.assert_array_equal(got.limits(), expected.limits())
        np.testing.assert_array_equal(got.take(indices), expected.take(indices), strict=True)
        np.testing.assert_array_equal(got.labels_of(indices), expected.labels_of(indices))
        np.testing.assert_array_equal(
            np.hstack(got.nearest(indices, n_same=3, n_other=2)),
            np.hstack(expected.nearest(indices, n_same=3, n_other=2)),
        )
        blocks = list(zip(got.blocks(), expected.blocks(), strict=True))
        assert [first for (first, _), _ in blocks] == list(range(0, 230, 32))
        for (_, one), (_, other) in blocks:
            np.testing.assert_array_equal(one, other)
        taken, local = got.local(examples, n_columns=3)
        assert len(taken) == len(np.unique(examples))
        np.testing.assert_array_equal(
            taken[local], expected.take(examples.ravel())[None].reshape(20, 3, 5)
        )


def test_integers_of_a_file_become_float64(tmp_path: Path) -> None:
    stored = on_disk(tmp_path, np.arange(12).reshape(6, 2), None)
    assert stored.take(np.array([0])).dtype == np.float64
    assert {block.dtype for _, block in stored.blocks()} == {np.dtype(np.float64)}


def test_sizes_and_singletons() -> None:
    some = MemorySamples(np.zeros((6, 1)), np.array([2, 0, 2, 1, 4, 4]))
    assert some.class_sizes.tolist() == [1, 1, 2, 0, 2]
    assert some.singletons.tolist() == [1, 3]
    unlabelled = MemorySamples(np.zeros((6, 1)))
    assert unlabelled.class_sizes.tolist() == unlabelled.singletons.tolist() == []


def test_a_block_has_one_sample_where_that_is_larger_than_a_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("calipers.data.samples.BLOCK_ELEMENTS", 2)
    assert [len(block) for _, block in MemorySamples(X[:4]).blocks()] == [1, 1, 1, 1]
    assert list(MemorySamples(X[:0]).blocks()) == []


def test_examples_are_indices_into_what_was_gathered() -> None:
    loaded = MemorySamples(X, LABELS)
    examples = np.array([[7, 3, 1], [3, 40, -1]])  # pairs and their signs
    taken, local = gathered(loaded, examples, 2)
    np.testing.assert_array_equal(taken, X[[3, 7, 40]])
    np.testing.assert_array_equal(local, [[1, 0, 1], [0, 2, -1]])
    everything, same = loaded.local(examples, n_columns=2)
    assert everything is X
    assert same is examples


def test_all_samples_are_a_view_that_cannot_be_written() -> None:
    everything = MemorySamples(X, LABELS).take(np.arange(230))
    assert np.shares_memory(everything, X)
    assert not everything.flags.writeable
    assert X.flags.writeable


def test_samples_of_a_file_can_be_pickled_with_their_maps(tmp_path: Path) -> None:
    stored = on_disk(tmp_path, X).transformed(np.exp)
    stored.weights = np.ones(230)
    again = pickle.loads(pickle.dumps(stored))
    np.testing.assert_array_equal(again.take(np.arange(5)), np.exp(X[:5]))


# max_samples


def test_every_class_keeps_its_share_and_at_least_two(tmp_path: Path) -> None:
    many = RNG.normal(size=(1000, 3))
    labels = np.concatenate([np.zeros(900, dtype=np.intp), np.full(97, 1), [2, 2, 3]])
    one = thinned(MemorySamples(many, labels, np.arange(1.0, 1001.0)), 100)
    assert one.class_sizes.tolist() == [90, 10, 2, 1]
    assert one.weights is not None
    indices = one.weights.astype(np.intp) - 1
    np.testing.assert_array_equal(one.take(np.arange(103)), many[indices])
    other = thinned(on_disk(tmp_path, many, labels), 100)
    np.testing.assert_array_equal(other.take(np.arange(103)), many[indices])


def test_no_more_than_there_are_stay_as_they_are() -> None:
    loaded = MemorySamples(X, LABELS)
    assert thinned(loaded, 230) is loaded
