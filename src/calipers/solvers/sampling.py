"""Sampling policies: the probability that a batch leads to an update.

Every method of the paper moves the metric by
``eta * slope / (batch_size * probability)`` along each triplet of an accepted batch; the
policies differ in the probability only. Dividing by it keeps the step unbiased. OASIS's policy
also sets the slope.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from calipers._core.compiled import (
    ByGradientNorm,
    ByRunningNorm,
    BySlope,
    EveryBatch,
    PassiveAggressive,
    Policy,
    gradient_norm,
)
from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.losses import Loss

__all__ = [
    "ByGradientNorm",
    "ByRunningNorm",
    "BySlope",
    "EveryBatch",
    "NormRule",
    "PassiveAggressive",
    "Policy",
    "gradient_norm",
    "largest_norm",
]

NormRule: TypeAlias = Literal["triplet", "batch", "bound", "running"]


def largest_norm(
    X: FloatArray,
    triplets: IndexArray,
    *,
    loss: Loss,
    start: float,
    batch_size: int,
    rule: NormRule,
    draws: int,
    rng: np.random.Generator,
) -> float:
    """Estimate W, the largest norm of a batch gradient, at the first iterate ``start * I``.

    The paper only says that W "is estimated by sampling". ``rule`` says how, from so many draws:

    - ``"triplet"``: the largest ``slope * norm`` of the sampled triplets, which bounds the
      gradient of any batch made of them;
    - ``"batch"``: the largest gradient norm of the sampled batches;
    - ``"bound"``: the largest ``norm`` of the sampled triplets; slopes never exceed 1;
    - ``"running"``: 0; the solver raises it.
    """
    if rule == "running":
        return 0.0
    size = batch_size if rule == "batch" else 1
    n_batches = max(1, len(triplets) // size)
    picked = rng.integers(n_batches, size=draws)
    largest = 0.0
    for batch in (triplets[size * p : size * (p + 1)] for p in picked):
        anchors, positives, negatives = (X[indices].astype(np.float64) for indices in batch.T)
        far, near = anchors - negatives, anchors - positives
        margins = start * (np.einsum("ij,ij->i", far, far) - np.einsum("ij,ij->i", near, near))
        slopes = np.ones(len(batch)) if rule == "bound" else loss.slope(margins)
        largest = max(largest, gradient_norm(far, near, slopes))
    return largest
