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

from calipers.version import __version__

if TYPE_CHECKING:
    from calipers import evaluation as evaluation
    from calipers import plot as plot
    from calipers.data.encoder import TableEncoder as TableEncoder
    from calipers.data.files import FileError as FileError
    from calipers.estimators import GMML as GMML
    from calipers.estimators import ITML as ITML
    from calipers.estimators import KISSME as KISSME
    from calipers.estimators import LEGO as LEGO
    from calipers.estimators import LFDA as LFDA
    from calipers.estimators import LMNN as LMNN
    from calipers.estimators import MCML as MCML
    from calipers.estimators import MLKR as MLKR
    from calipers.estimators import MMC as MMC
    from calipers.estimators import NCA as NCA
    from calipers.estimators import OASIS as OASIS
    from calipers.estimators import RCA as RCA
    from calipers.estimators import SCML as SCML
    from calipers.estimators import SPML as SPML
    from calipers.estimators import Discriminant as Discriminant
    from calipers.estimators import Euclidean as Euclidean
    from calipers.estimators import Scaled as Scaled
    from calipers.estimators import TripletSGD as TripletSGD
    from calipers.estimators import WithinClass as WithinClass
    from calipers.estimators.metric_cv import MetricCV as MetricCV
    from calipers.estimators.pairs import PairClassifier as PairClassifier
    from calipers.estimators.pairs import TripletClassifier as TripletClassifier
    from calipers.metric.saved import SavedMetric as SavedMetric
    from calipers.search.adapter import QueryAdapter as QueryAdapter
    from calipers.search.bridge import Bridge as Bridge
    from calipers.search.query_map import QueryMap as QueryMap
    from calipers.search.query_map import load as load
    from calipers.search.report import retrieval_report as retrieval_report
    from calipers.solvers import recipes as recipes

_HOME_OF = {
    "GMML": "calipers.estimators",
    "KISSME": "calipers.estimators",
    "RCA": "calipers.estimators",
    "NCA": "calipers.estimators",
    "MLKR": "calipers.estimators",
    "LFDA": "calipers.estimators",
    "ITML": "calipers.estimators",
    "LEGO": "calipers.estimators",
    "LMNN": "calipers.estimators",
    "MCML": "calipers.estimators",
    "MMC": "calipers.estimators",
    "OASIS": "calipers.estimators",
    "SCML": "calipers.estimators",
    "SPML": "calipers.estimators",
    "Bridge": "calipers.search.bridge",
    "Discriminant": "calipers.estimators",
    "Euclidean": "calipers.estimators",
    "FileError": "calipers.data.files",
    "MetricCV": "calipers.estimators.metric_cv",
    "QueryAdapter": "calipers.search.adapter",
    "QueryMap": "calipers.search.query_map",
    "SavedMetric": "calipers.metric.saved",
    "PairClassifier": "calipers.estimators.pairs",
    "TripletClassifier": "calipers.estimators.pairs",
    "Scaled": "calipers.estimators",
    "TableEncoder": "calipers.data.encoder",
    "TripletSGD": "calipers.estimators",
    "WithinClass": "calipers.estimators",
    "load": "calipers.search.query_map",
    "retrieval_report": "calipers.search.report",
}

_PUBLIC_MODULES = ("evaluation", "plot", "recipes")

__all__ = [
    "GMML",
    "ITML",
    "KISSME",
    "LEGO",
    "LFDA",
    "LMNN",
    "MCML",
    "MLKR",
    "MMC",
    "NCA",
    "OASIS",
    "RCA",
    "SCML",
    "SPML",
    "Bridge",
    "Discriminant",
    "Euclidean",
    "FileError",
    "MetricCV",
    "PairClassifier",
    "QueryAdapter",
    "QueryMap",
    "SavedMetric",
    "Scaled",
    "TableEncoder",
    "TripletClassifier",
    "TripletSGD",
    "WithinClass",
    "__version__",
    "evaluation",
    "load",
    "plot",
    "recipes",
    "retrieval_report",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its home module on first use."""
    if name in _PUBLIC_MODULES:
        return import_module(f"calipers.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'calipers' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
