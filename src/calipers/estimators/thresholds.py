"""Distances up to which pairs are matches, and the probability of a match."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve, roc_curve

from calipers.arrays import FloatArray
from calipers.notices import DataWarning, warn_user

STRATEGIES = ("accuracy", "f_beta", "max_tpr", "max_tnr", "precision", "equal-error-rate")
_NEED_RATE = {"max_tpr", "max_tnr", "precision"}
NO_MATCH = -1.0  # a threshold that no distance is within


def find_threshold(
    distances: FloatArray,
    is_match: npt.NDArray[np.bool_],
    strategy: str,
    *,
    min_rate: float | None = None,
    beta: float = 1.0,
) -> float:
    """The distance up to which pairs are matches; see `PairClassifier` for strategies.

    >>> find_threshold(np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), "accuracy")
    1.0
    """
    check_strategy(strategy, min_rate, beta)
    rate = float(min_rate or 0.0)
    if strategy in ("f_beta", "precision"):
        precision, recall, thresholds = precision_recall_curve(is_match, -distances)
        precision, recall = precision[:-1], recall[:-1]
        if strategy == "precision":
            worth = np.where(precision >= rate, recall, -1.0)
        else:
            scale = beta**2 * precision + recall
            worth = (1 + beta**2) * precision * recall / np.where(scale > 0.0, scale, 1.0)
        if worth.max() < 0.0:
            warn_user(
                f"No threshold reaches min_rate={rate:g}: the highest precision among "
                f"{len(distances)} pairs is {precision.max():g}. No pair is a match now; lower "
                "min_rate, or choose another strategy.",
                DataWarning,
            )
            return NO_MATCH
    else:
        fpr, tpr, thresholds = roc_curve(is_match, -distances, drop_intermediate=False)
        n_match = int(is_match.sum())
        rights = n_match * tpr + (len(distances) - n_match) * (1.0 - fpr)
        worth = {
            "accuracy": rights,
            "max_tpr": np.where(1.0 - fpr >= rate, tpr, -1.0),
            "max_tnr": np.where(tpr >= rate, 1.0 - fpr, -1.0),
            "equal-error-rate": -np.abs(fpr - (1.0 - tpr)),
        }[strategy]
    found = float(-thresholds[int(np.argmax(worth))])
    return found if np.isfinite(found) else NO_MATCH


def check_strategy(strategy: str, min_rate: float | None, beta: float) -> None:
    """Raise unless a strategy has the numbers that it needs."""
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}.")
    if strategy in _NEED_RATE and not (isinstance(min_rate, Real) and 0 <= min_rate <= 1):
        raise ValueError(
            f"strategy {strategy!r} needs min_rate, a number from 0 to 1, got {min_rate!r}."
        )
    if not (isinstance(beta, Real) and 0 <= beta < np.inf):
        raise ValueError(f"beta must be a number that is not negative, got {beta!r}.")


def platt(distances: FloatArray, is_match: npt.NDArray[np.bool_]) -> FloatArray:
    """Slope and intercept of the log-odds of a match as a line of the distance (Platt 1999).

    Targets are (n + 1) / (n + 2) and 1 / (n + 2), so that kinds that are apart give a finite slope.
    """
    n_other, n_match = np.bincount(is_match)
    share = np.where(is_match, (n_match + 1) / (n_match + 2), 1 / (n_other + 2))
    largest = float(distances.max()) or 1.0  # of very small or large ones squares are no numbers
    middle, spread = largest * np.mean(distances / largest), largest * np.std(distances / largest)
    unit = float(spread) or 1.0
    sigmoid = LogisticRegression(C=np.inf, max_iter=1000)
    sigmoid.fit(
        np.tile((distances[:, None] - middle) / unit, (2, 1)),
        np.repeat([1, 0], len(distances)),
        sample_weight=np.concatenate([share, 1.0 - share]),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        slope = sigmoid.coef_[0, 0] / unit
        fitted = np.array([slope, sigmoid.intercept_[0] - slope * middle])
    if np.isfinite(fitted).all():
        return fitted
    return np.array([0.0, np.log((n_match + 1) / (n_other + 1))])  # of distances that are nearly 0


def relative_scale(one: Any, other: Any, samples: FloatArray) -> float:
    """Ratio of the median distances between samples of different pairs, of one to the other."""
    others = np.roll(samples[:, 1], len(samples) // 2, axis=0)
    apart = np.stack([samples[:, 0], others], axis=1)
    medians = [float(np.median(metric.pair_distance(apart))) for metric in (one, other)]
    return medians[0] / medians[1] if min(medians) > 0.0 else 1.0
