"""Second moments of labelled samples and of pairs: what closed forms are computed from.

Sums over blocks are the same wherever samples are, and sums over batches are those of all samples
at once, up to rounding. Weights count samples: one of weight 2 is as good as two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import MemorySamples, Samples
from calipers.threads import single_threaded_blas

_ROUNDING = 1e-9  # share of a sum of weights that is not known


class Moments(NamedTuple):
    """Sizes, means and scatters of classes; samples without labels are one class."""

    sizes: FloatArray  # (n_classes,), sums of weights
    means: FloatArray  # (n_classes, d)
    within: FloatArray  # (d, d), the sum of the classes' scatters
    by_size: FloatArray  # (d, d), the sum of each class's scatter times its size

    @property
    def n(self) -> float:
        """Number of samples."""
        return float(self.sizes.sum())

    @property
    def between(self) -> FloatArray:
        """Scatter of the class means, each as often as its class has samples."""
        centered = self.means - self.means[0]  # exactly 0 for a constant feature
        centered -= self.sizes @ centered / self.n
        return np.asarray((centered.T * self.sizes) @ centered)

    @property
    def covariance(self) -> FloatArray:
        """Covariance of all samples."""
        return (self.within + self.between) / self.n

    @property
    def similar(self) -> FloatArray:
        """Mean of vv' over the differences v of all pairs of one class; 0 without any."""
        n_pairs = float(self.sizes @ np.maximum(self.sizes - 1.0, 0.0))
        if n_pairs <= _ROUNDING * self.n:  # weights that sum to 1 make no pair
            return np.zeros_like(self.within)
        return 2.0 * self.by_size / n_pairs

    @property
    def dissimilar(self) -> FloatArray:
        """Mean of uu' over the differences u of all pairs of two classes; 0 without any."""
        scatter = self.n * self.within - self.by_size + self.n * self.between
        n_pairs = self.n**2 - float(self.sizes @ self.sizes)
        return 2.0 * scatter / n_pairs if n_pairs > 0.0 else np.zeros_like(scatter)


@single_threaded_blas()
def moments_of(samples: Samples) -> Moments:
    """Moments of samples, each counted by its weight, by two passes over their blocks.

    Sums are of differences from the first sample: a constant feature has no variance, exactly.

    >>> from calipers.data.samples import MemorySamples
    >>> X = np.array([[0.0], [2.0], [9.0]])
    >>> moments = moments_of(MemorySamples(X, np.array([0, 0, 1])))
    >>> moments.similar, moments.dissimilar  # of 2; of 9 and 7
    (array([[4.]]), array([[65.]]))
    """
    d, n_classes = samples.shape[1], max(1, len(samples.class_sizes))
    origin = _first(samples)
    sizes, sums = np.zeros(n_classes), np.zeros((n_classes, d))
    for block, codes, weight in _blocks(samples):
        sizes += np.bincount(codes, weight, minlength=n_classes)
        sums += class_sums(block - origin, codes, weight, n_classes)
    means = origin + sums / sizes[:, None]
    within, by_size = np.zeros((2, d, d))
    for block, codes, weight in _blocks(samples):
        centered = (block - means[codes]) * np.sqrt(weight)[:, None]
        within += centered.T @ centered
        if n_classes > 1:
            by_size += (centered * sizes[codes][:, None]).T @ centered
    return Moments(sizes, means, within, by_size if n_classes > 1 else sizes[0] * within)


@single_threaded_blas()
def squares_of(samples: Samples) -> tuple[float, FloatArray, FloatArray]:
    """Size, mean and sum of squared deviations of all samples, without a d x d matrix.

    >>> from calipers.data.samples import MemorySamples
    >>> squares_of(MemorySamples(np.array([[0.0, 0.1], [2.0, 0.1], [4.0, 0.1]])))[2]
    array([8., 0.])
    """
    origin, n, total = _first(samples), 0.0, np.zeros((2, samples.shape[1]))
    for block, _, weight in _blocks(samples):
        n += float(weight.sum())
        total[0] += weight @ (block - origin)
    mean = origin + total[0] / n
    for block, _, weight in _blocks(samples):
        total[1] += weight @ (block - mean) ** 2
    return n, mean, total[1]


def _first(samples: Samples) -> FloatArray:
    return np.asarray(samples.take(np.zeros(1, dtype=np.intp))[0], dtype=np.float64)


def _blocks(samples: Samples) -> Iterator[tuple[npt.NDArray[Any], IndexArray, FloatArray]]:
    """Blocks of samples, their classes and their weights."""
    labelled, weights = bool(len(samples.class_sizes)), samples.weights
    for first, block in samples.blocks():
        n = len(block)
        codes = samples.labels_of(np.arange(first, first + n)) if labelled else np.zeros(n, np.intp)
        yield block, codes, np.ones(n) if weights is None else weights[first : first + n]


def class_sums(
    X: npt.NDArray[Any], codes: IndexArray, weights: FloatArray, n_classes: int
) -> FloatArray:
    """Weighted sum of the samples of each class, in order."""
    places = codes, np.arange(len(codes))
    return np.asarray(csr_array((weights, places), shape=(n_classes, len(codes))) @ X)


class StreamedMoments:
    """Moments of samples that come batch by batch; it keeps a d x d matrix for each class.

    With ``diagonal`` it keeps the diagonal of that matrix.

    >>> stream = StreamedMoments()
    >>> stream.add(np.array([[0.0], [9.0]]), np.array(["a", "b"]))
    >>> stream.add(np.array([[2.0]]), np.array(["a"]))
    >>> stream.moments().similar
    array([[4.]])
    """

    def __init__(self, before: StreamedMoments | None = None, *, diagonal: bool = False) -> None:
        self._of: dict[Any, tuple[float, FloatArray, FloatArray]]  # size, mean, scatter
        self._of = {} if before is None else dict(before._of)
        self.diagonal: bool = diagonal if before is None else before.diagonal
        self._classes: npt.NDArray[Any] | None = None if before is None else before._classes

    @property
    def classes(self) -> npt.NDArray[Any]:
        """Labels so far, ascending."""
        assert self._classes is not None
        return self._classes

    @property
    def variances(self) -> FloatArray:
        """Variance of each feature, of all samples so far."""
        parts = list(self._of.values())
        sizes = np.array([size for size, _, _ in parts])
        centered = np.array([mean for _, mean, _ in parts]) - parts[0][1]
        centered -= sizes @ centered / sizes.sum()
        within = sum(each if self.diagonal else np.diag(each) for _, _, each in parts)
        return np.asarray((within + sizes @ centered**2) / sizes.sum())

    @single_threaded_blas()
    def add(
        self, X: npt.NDArray[Any], y: npt.NDArray[Any], weights: FloatArray | None = None
    ) -> None:
        """Let a batch pass (Chan, Golub and LeVeque 1979)."""
        classes, codes = np.unique(y, return_inverse=True)
        self._classes = with_classes(self._classes, classes)
        for code, label in enumerate(classes.tolist()):
            of_class = codes == code
            of_some = None if weights is None else weights[of_class]
            added, batch_mean, scatter = self._scatter(MemorySamples(X[of_class], weights=of_some))
            size, mean, so_far = self._of.get(label, (0.0, np.zeros(X.shape[1]), 0.0))
            shift, total = batch_mean - mean, size + added
            apart = shift * shift if self.diagonal else np.outer(shift, shift)
            scatter = so_far + scatter + (size * added / total) * apart
            self._of[label] = total, mean + shift * (added / total), scatter

    def _scatter(self, samples: Samples) -> tuple[float, FloatArray, FloatArray]:
        if self.diagonal:
            return squares_of(samples)
        moments = moments_of(samples)
        return moments.n, moments.means[0], moments.within

    def moments(self) -> Moments:
        """Moments of all batches so far, classes ascending by label."""
        sizes, means, scatters = zip(*(self._of[label] for label in sorted(self._of)), strict=True)
        by_size = sum(size * scatter for size, scatter in zip(sizes, scatters, strict=True))
        return Moments(np.array(sizes), np.array(means), sum(scatters), np.asarray(by_size))


def with_classes(before: npt.NDArray[Any] | None, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Classes of a stream and of one more batch, ascending, in the labels' own type."""
    if before is None:
        return np.unique(y)
    return np.unique(np.concatenate([before, y]))


PAIRS_AT_ONCE = 2**14


@single_threaded_blas()
def mean_outer_product(samples: Samples, pairs: IndexArray) -> FloatArray:
    """Mean of vv' over the differences v of pairs of samples, as indices of shape (n, 2)."""
    total = np.zeros((samples.shape[1], samples.shape[1]))
    for first in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[first : first + PAIRS_AT_ONCE]
        difference = samples.take(some[:, 0]).astype(np.float64) - samples.take(some[:, 1])
        total += difference.T @ difference
    return total / len(pairs)
