"""Calipers learns a distance (a Mahalanobis metric) from labels, pairs, triplets or clicks.

>>> import calipers
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> metric = calipers.TripletSGD(random_state=0).fit(X, y)
>>> metric.transform(X).shape
(150, 4)

Public names are loaded when first used, so that ``import calipers`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from calipers import evaluation as evaluation, plot as plot
    from calipers.data.encoder import TableEncoder as TableEncoder
    from calipers.data.files import FileError as FileError
    from calipers.estimators import (
        GMML as GMML,
        ITML as ITML,
        KISSME as KISSME,
        LEGO as LEGO,
        LFDA as LFDA,
        LMNN as LMNN,
        MCML as MCML,
        MLKR as MLKR,
        MMC as MMC,
        NCA as NCA,
        OASIS as OASIS,
        RCA as RCA,
        SCML as SCML,
        SPML as SPML,
        Discriminant as Discriminant,
        Euclidean as Euclidean,
        Scaled as Scaled,
        TripletSGD as TripletSGD,
        WithinClass as WithinClass,
    )
    from calipers.estimators.metric_cv import MetricCV as MetricCV
    from calipers.estimators.pairs import (
        PairClassifier as PairClassifier,
        TripletClassifier as TripletClassifier,
    )
    from calipers.metric.saved import SavedMetric as SavedMetric
    from calipers.search.adapter import QueryAdapter as QueryAdapter
    from calipers.search.bridge import Bridge as Bridge
    from calipers.search.query_map import QueryMap as QueryMap, load as load
    from calipers.search.report import retrieval_report as retrieval_report
    from calipers.solvers import recipes as recipes

_NAMES_OF = {
    "calipers.data.encoder": "TableEncoder",
    "calipers.data.files": "FileError",
    "calipers.estimators": (
        "Discriminant Euclidean GMML ITML KISSME LEGO LFDA LMNN MCML MLKR MMC NCA OASIS RCA SCML "
        "SPML Scaled TripletSGD WithinClass"
    ),
    "calipers.estimators.metric_cv": "MetricCV",
    "calipers.estimators.pairs": "PairClassifier TripletClassifier",
    "calipers.metric.saved": "SavedMetric",
    "calipers.search.adapter": "QueryAdapter",
    "calipers.search.bridge": "Bridge",
    "calipers.search.query_map": "QueryMap load",
    "calipers.search.report": "retrieval_report",
}
_HOME_OF = {name: home for home, names in _NAMES_OF.items() for name in names.split()}
_MODULES = ("evaluation", "plot", "recipes")

__all__ = sorted(["__version__", *_MODULES, *_HOME_OF])


def __getattr__(name: str) -> Any:
    """Load a public name from its home module on first use."""
    if name in _MODULES:
        return import_module(f"calipers.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'calipers' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
