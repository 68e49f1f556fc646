"""One run: fit outside of everything else, then score, then keep what pictures need."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calipers.paper.protocol import split_error
from calipers.paper.runs import Row
from calipers.paper.systems import System, lego_limits
from calipers.paper.theory import Theory
from calipers.paper.training import training_curve
from calipers.plot import principal_plane

if TYPE_CHECKING:
    from calipers.arrays import FloatArray, IndexArray
    from calipers.paper.datasets import Split

N_POINTS = 300
"""Test samples in the picture of a data set."""

_GRID = 1000  # coordinates of a picture are whole numbers up to this


def measure(
    system: System,
    data: Split,
    drawn: tuple[IndexArray, float] | None,
    *,
    seed: int,
    callback: Any = None,
    pictures: bool = True,
) -> Row:
    """Fit and score one system; what it refuses is a row too, with the reason.

    Parameters
    ----------
    system : System
        What to fit.
    data : Split
        Training and test part.
    drawn : tuple of triplets and seconds, or None
        For learners from triplets.
    seed : int
        Of the learner's own random numbers.
    callback : scikit-learn callback, optional
        Shows progress.
    pictures : bool, default=True
        Whether to keep eigenvalues and a picture of the test part.

    Returns
    -------
    dict
        The part of a row that says what came out.
    """
    row: Row = {"data": _measures(data)}
    part = _part(data, system.most, seed)
    if part is not data:
        row["trained_on"] = len(part.y_train)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            metric = _fitted(system, part, drawn, seed=seed, callback=callback)
            row["error"] = 100 * split_error(data, metric)
    except (ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as problem:
        return {**row, "failed": f"{type(problem).__name__}: {problem}"}
    said = [*getattr(metric, "notes_", []), *(str(warning.message) for warning in caught)]
    row |= {"notes": list(dict.fromkeys(said)), **_counts(system, metric, drawn)}
    row["curve"] = _curve(metric)
    if system.name == "as-sgd":
        theory = Theory.of(metric)
        row["bound"] = {
            "updates": theory.update_bound,
            "sharp": theory.sharp_update_bound,
            "contraction": theory.contraction,
        }
    if pictures and drawn is not None and system.kind == "sgd":
        row["training"] = training_curve(metric, data.X_train, drawn[0], seed=seed)
    if pictures:
        row["spectrum"] = _significant(np.linalg.svd(metric.components_, compute_uv=False) ** 2)
        row["picture"] = _picture(data, metric)
    return row


def _part(data: Split, most: int | None, seed: int) -> Split:
    """The data with as many training samples, drawn evenly; all of them where that is enough."""
    n = len(data.y_train)
    if most is None or n <= most:
        return data
    kept = np.sort(np.random.default_rng(seed).permutation(n)[:most])
    return replace(data, X_train=data.X_train[kept], y_train=data.y_train[kept])


def _fitted(
    system: System,
    data: Split,
    drawn: tuple[IndexArray, float] | None,
    *,
    seed: int,
    callback: Any,
) -> Any:
    n_triplets = len(drawn[0]) if drawn else 1
    metric = system.make(seed=seed, n_triplets=n_triplets)
    if callback is not None and hasattr(metric, "set_callbacks"):
        metric.set_callbacks(callback)
    if system.kind in ("none", "batch") or drawn is None:
        return metric.fit(data.X_train, data.y_train)
    if system.kind == "sgd":
        metric.set_params(n_neighbors=None)  # which given triplets have no use for
    if system.home == "LEGO":
        metric.set_params(**lego_limits(data.X_train, drawn[0], seed=seed))
    return metric.fit_triplets(data.X_train, drawn[0])


def _measures(data: Split) -> Row:
    """What Table 1 tells of a data set, and its note."""
    return {
        "n_classes": len(np.unique(np.concatenate([data.y_train, data.y_test]))),
        "n_features": data.X_train.shape[1],
        "n_train": len(data.y_train),
        "n_test": len(data.y_test),
        "note": data.note,
    }


def _counts(system: System, metric: Any, drawn: tuple[IndexArray, float] | None) -> Row:
    """Seconds, updates and projections; None where a system has none.

    The steps of a batch method are not the updates that the paper's Table 6 counts.
    """
    mining = getattr(metric, "mining_seconds_", None)
    shared = drawn is not None and system.kind in ("online", "sgd")
    return {
        "seconds": getattr(metric, "solve_seconds_", None),
        "mining_seconds": drawn[1] if drawn is not None and shared else mining,
        "updates": int(metric.n_updates_) if system.kind in ("online", "sgd") else None,
        "projections": getattr(metric, "n_projections_", None),
    }


def _curve(metric: Any) -> Row | None:
    """Triplets seen, mean loss of those since the point before, updates so far."""
    loss = getattr(metric, "loss_curve_", None)
    if loss is None:
        return None
    seen = getattr(metric, "triplet_curve_", None)
    if seen is None:
        seen = metric.pair_curve_ // 2  # a triplet is two pairs
    return {
        "triplets": np.asarray(seen).tolist(),
        "loss": _significant(loss),
        "updates": metric.update_curve_.tolist(),
    }


def _picture(data: Split, metric: Any) -> Row:
    """Two principal components of some test samples, before and after, and their classes."""
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.permutation(len(data.y_test))[:N_POINTS])
    X = data.X_test[chosen]
    return {
        "classes": data.y_test[chosen].tolist(),
        "before": _on_grid(principal_plane(X)),
        "after": _on_grid(principal_plane(metric.transform(X))),
    }


def _on_grid(points: FloatArray) -> list[list[int]]:
    largest = float(np.abs(points).max(initial=0.0))
    if not (0.0 < largest < np.inf):
        largest = np.inf
    grid: list[list[int]] = np.rint(points / largest * _GRID).astype(int).tolist()
    return grid


def _significant(values: Sequence[float] | FloatArray) -> list[float | None]:
    """Numbers with five digits, which pictures need; None for what is not a number."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in values]
