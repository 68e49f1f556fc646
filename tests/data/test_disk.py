"""Samples in a memory map: every answer is that of the same samples in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers.data import disk, memmap
from calipers.data.disk import DiskSamples
from calipers.data.samples import MemorySamples, Samples

RNG = np.random.default_rng(0)
X = RNG.normal(size=(230, 5))
LABELS = np.append(RNG.integers(0, 4, 229), 4)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memmap, "BLOCK_ELEMENTS", 5 * 32)
    monkeypatch.setattr(disk, "_TAKEN_AT_ONCE", 3)


def both(folder: Path, dtype: Any = np.float64) -> tuple[Samples, Samples]:
    np.save(folder / "X.npy", X.astype(dtype))
    on_disk = DiskSamples(np.load(folder / "X.npy", mmap_mode="r"), LABELS)
    return on_disk, MemorySamples(X.astype(dtype), LABELS)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_answers_are_those_in_memory(tmp_path: Path, dtype: Any) -> None:
    for samples, expected in [
        both(tmp_path, dtype),
        [kind.transformed(np.negative) for kind in both(tmp_path, dtype)],
    ]:
        assert samples.shape == expected.shape
        np.testing.assert_array_equal(samples.class_sizes, expected.class_sizes)
        np.testing.assert_array_equal(samples.singletons, [229])
        np.testing.assert_array_equal(samples.limits(), expected.limits())
        indices = RNG.permutation(230)[:40]
        taken = samples.take(indices)
        np.testing.assert_array_equal(taken, expected.take(indices))
        assert taken.dtype == dtype
        np.testing.assert_array_equal(samples.labels_of(indices), expected.labels_of(indices))
        for got, true in zip(
            samples.nearest(indices, n_same=3, n_other=2),
            expected.nearest(indices, n_same=3, n_other=2),
            strict=True,
        ):
            np.testing.assert_array_equal(got, true)


def test_blocks_are_those_in_memory(tmp_path: Path) -> None:
    samples, expected = both(tmp_path)
    blocks, true = list(samples.blocks()), list(expected.blocks())
    assert [first for first, _ in blocks] == [first for first, _ in true] == list(range(0, 230, 32))
    for (_, got), (_, block) in zip(blocks, true, strict=True):
        np.testing.assert_array_equal(got, block)


def test_examples_are_re_indexed(tmp_path: Path) -> None:
    samples, _ = both(tmp_path)
    examples = RNG.integers(0, 230, (20, 3))
    taken, local = samples.local(examples, n_columns=3)
    assert len(taken) == len(np.unique(examples))
    np.testing.assert_array_equal(taken[local], X[examples])


def test_integers_become_float64(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.arange(12).reshape(6, 2))
    samples = DiskSamples(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert samples.take(np.array([0])).dtype == np.float64
    assert {block.dtype for _, block in samples.blocks()} == {np.dtype(np.float64)}
