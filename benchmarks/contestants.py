"""Who is compared by `peers`: names, files of `learners`, settings and environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks import lmnn
from benchmarks.learners.splits import Features
from calipers.recipes import RECIPES

DEFAULT = next(iter(RECIPES))

ENVIRONMENTS: Mapping[str, tuple[str, ...]] = {
    "metric-learn": lmnn.PACKAGES,
    "mlpack": ("mlpack==4.8.0",),
    "torch": ("torch==2.13.0", "pytorch-metric-learning==2.9.0"),
}
"""Name of an environment to what pip installs there."""


class Contestant(NamedTuple):
    """A way to learn a metric.

    Attributes
    ----------
    name : str
        What the table calls it.
    learner : str or None
        File of `benchmarks.learners`; None for Euclidean distance, which is not learned.
    settings : mapping
        What its ``fit`` is told beside data, seed and cap.
    environment : str or None
        Key of ENVIRONMENTS; None for ours.
    features : str
        What it is given.
    seeded : bool
        Whether another seed makes another metric of the same data.
    """

    name: str
    learner: str | None
    settings: Mapping[str, Any] = {}
    environment: str | None = None
    features: Features = "raw"
    seeded: bool = True


def _ours(method: str) -> Contestant:
    name = "Calipers" if method == DEFAULT else f"Calipers {method}"
    return Contestant(name, "triplet_sgd", {"method": method})


def _by_name(name: str) -> Contestant:
    seeded = name in ("NCA", "SCML", "ITML")
    return Contestant(f"Calipers {name}", "by_name", {"learner": name}, seeded=seeded)


def _metric_learn(name: str) -> Contestant:
    settings = {"learner": name if name in ("LFDA", "NCA") else f"{name}_Supervised"}
    return Contestant(f"metric-learn {name}", "metric_learn_weak", settings, "metric-learn")


def _torch(loss: str) -> Contestant:
    return Contestant(f"torch {loss}", "torch_linear", {"loss": loss}, "torch", "min-max")


CONTESTANTS = (
    Contestant("Calipers MetricCV", "metric_cv"),
    *map(_ours, RECIPES),
    Contestant("Calipers LMNN", "large_margin", seeded=False),
    *map(_by_name, ("NCA", "SCML", "LFDA", "RCA", "KISSME", "GMML", "ITML", "MMC", "Discriminant")),
    Contestant("Euclidean", None, seeded=False),
    Contestant("LDA", "lda", seeded=False),
    Contestant("NCA", "nca"),
    Contestant("metric-learn LMNN", "metric_learn_lmnn", {}, "metric-learn", seeded=False),
    *map(_metric_learn, ("ITML", "MMC", "SCML", "LFDA", "RCA", "NCA")),
    Contestant("pylmnn", "pylmnn_lmnn", {}, "metric-learn", seeded=False),
    Contestant("mlpack LMNN", "mlpack_lmnn", {}, "mlpack"),
    *map(_torch, ("NCALoss", "NCALoss, not normalised", "TripletMarginLoss")),
)
