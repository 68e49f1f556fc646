"""max_samples: a share of every class, the same wherever the samples are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from calipers import TripletSGD
from calipers.data.disk import DiskSamples
from calipers.data.samples import MemorySamples, thinned

rng = np.random.default_rng(0)
X = rng.standard_normal((1000, 3))
LABELS = np.concatenate([np.zeros(900, dtype=np.intp), np.full(97, 1), [2, 2, 3]])


def test_every_class_keeps_its_share_and_at_least_two() -> None:
    kept = thinned(MemorySamples(X, LABELS), 100)
    assert kept.class_sizes.tolist() == [90, 10, 2, 1]


def test_no_more_than_there_are_stay_as_they_are() -> None:
    samples = MemorySamples(X, LABELS)
    assert thinned(samples, 1000) is samples
    assert thinned(samples, None) is samples


def test_samples_on_disk_are_thinned_alike(tmp_path: Path) -> None:
    on_disk = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=X.shape)
    on_disk[:] = X
    one = thinned(MemorySamples(X, LABELS), 200)
    other = thinned(DiskSamples(on_disk, LABELS), 200)
    np.testing.assert_array_equal(one.take(np.arange(50)), other.take(np.arange(50)))


def test_a_fit_learns_from_the_thinned_samples_only() -> None:
    y = np.arange(1000) % 2
    few = thinned(MemorySamples(X, y), 100)
    indices = np.arange(few.shape[0])
    expected = TripletSGD(random_state=0).fit(few.take(indices), few.labels_of(indices))
    fitted = TripletSGD(max_samples=100, random_state=0).fit(X, y)
    np.testing.assert_array_equal(fitted.components_, expected.components_)
    assert fitted.n_triplets_ == expected.n_triplets_
