"""A square linear layer under a loss of pytorch-metric-learning, stopped after a while."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch
from pytorch_metric_learning import distances, losses  # type: ignore[import-not-found]

from benchmarks.learners.fitted import Fitted

EPOCHS = 30
BATCH = 128
LEARNING_RATE = 1e-3


def loss_function(name: str) -> Any:
    """The loss as it comes, or NCA's between samples that are not brought to length 1."""
    if name == "NCALoss, not normalised":
        return losses.NCALoss(distance=distances.LpDistance(normalize_embeddings=False, power=2))
    return getattr(losses, name)()


def fit(X: Any, y: Any, *, seed: int, cap: float, loss: str) -> Fitted:
    """Fit by Adam; it ends with the batch in which the cap strikes."""
    torch.manual_seed(seed)
    function = loss_function(loss)
    started = perf_counter()
    samples, labels = torch.from_numpy(X).float(), torch.from_numpy(y)
    layer = torch.nn.Linear(X.shape[1], X.shape[1], bias=False)
    optimiser = torch.optim.Adam(layer.parameters(), lr=LEARNING_RATE)
    n_batches, capped = 0, False
    for batch in (
        part for _ in range(EPOCHS) for part in torch.randperm(len(samples)).split(BATCH)
    ):
        optimiser.zero_grad()
        function(layer(samples[batch]), labels[batch]).backward()
        optimiser.step()
        n_batches += 1
        capped = perf_counter() - started > cap
        if capped:
            break
    components = layer.weight.detach().double().numpy()
    seconds = perf_counter() - started
    unit_length = bool(function.distance.normalize_embeddings)
    return Fitted(components, seconds, n_batches, capped, unit_length)


def warm_up(X: Any, y: Any, *, seed: int, cap: float, loss: str) -> None:
    """One batch, with which the optimiser loads much of its code."""
    fit(X, y, seed=seed, cap=0.0, loss=loss)
