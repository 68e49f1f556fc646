"""Classes with the names of metric-learn, made of ours by the tables of docs/metric_learn.rst.

``pytest -p checks.switched`` puts them in front of metric-learn's own classes, so that its tests
try ours. The results go, one JSON line for each test, to the file that ``SWITCHED_ROWS`` names.
"""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Generator, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import calipers


class Switch(NamedTuple):
    """Our learner for a class of metric-learn, and what that class learns from."""

    ours: str
    takes: str  # labels, samples, pairs or triplets
    words: Mapping[str, str] = MappingProxyType({})  # our parameters by those of metric-learn


_LMNN = {"regularization": "push_weight", "convergence_tol": "tol"}
_ITML = {"gamma": "slack_weight", "n_constraints": "n_triplets"}
_SCML = {"beta": "l1_weight", "gamma": "learning_rate", "max_iter": "n_triplets"}
CLASSES = {
    "NCA": Switch("NCA", "labels"),
    "LMNN": Switch("LMNN", "labels", _LMNN),
    "LFDA": Switch("LFDA", "labels", {"k": "n_neighbors"}),
    "MLKR": Switch("MLKR", "labels"),
    "RCA": Switch("RCA", "labels"),
    "RCA_Supervised": Switch("RCA", "labels"),
    "ITML": Switch("ITML", "pairs", _ITML),
    "ITML_Supervised": Switch("ITML", "labels", _ITML),
    "SCML": Switch("SCML", "triplets", _SCML),
    "SCML_Supervised": Switch("SCML", "labels", {**_SCML, "k_genuine": "n_neighbors"}),
    "MMC": Switch("MMC", "pairs"),
    "MMC_Supervised": Switch("MMC", "labels"),
    "SDML": Switch("GMML", "pairs"),
    "SDML_Supervised": Switch("GMML", "labels"),
    "LSML_Supervised": Switch("TripletSGD", "labels"),
    "Covariance": Switch("Scaled", "samples"),
}
"""The page's table of learners, but for LSML: nothing of ours learns from quadruplets."""

INITS = {"lda": "within-class", "pca": "identity", "covariance": "within-class"}
"""What to say for metric-learn's names of initial metrics."""

used: list[str] = []
"""The classes that the test under way has made."""


class _Switched:
    """Takes metric-learn's words for parameters."""

    _names: Mapping[str, str]
    _tuple_size = None  # tests of messages ask for it
    preprocessor: Any
    pair_distance: Any

    def __new__(cls, **given: Any) -> Any:
        used.append(cls.__name__)
        return object.__new__(cls)  # our answers to metric-learn's words are left out

    def __init__(self, **given: Any) -> None:
        names = type(self)._get_param_names()  # type: ignore[attr-defined]
        ours = {self._names.get(word, word): value for word, value in given.items()}
        for name in names:
            setattr(self, name, ours.get(name, getattr(type(self), name, None)))
        self.set_params(**{name: value for name, value in ours.items() if name in names})

    def set_params(self, **given: Any) -> Any:
        init = given.get("init")
        if isinstance(init, str):
            given["init"] = INITS.get(init, init)
        return super().set_params(**given)  # type: ignore[misc]

    def score_pairs(self, pairs: Any) -> Any:
        return self.pair_distance(pairs)

    def _check_preprocessor(self) -> None:
        """Do nothing; metric-learn's tests call it before methods of learners without a fit."""


class _OfSamples(_Switched):
    """A learner from samples, or from indices of `preprocessor`."""

    def fit(self, X: Any, y: Any = None) -> Any:
        return super().fit(self._found(X, 1), y)  # type: ignore[misc]

    def transform(self, X: Any) -> Any:
        return super().transform(self._found(X, 1))  # type: ignore[misc]

    def pair_distance(self, pairs: Any) -> Any:
        return super().pair_distance(self._found(pairs, 2))

    def _found(self, given: Any, n_axes: int) -> Any:
        if self.preprocessor is None or np.ndim(given) != n_axes:
            return given
        indices = np.asarray(given)
        if not callable(self.preprocessor):
            return np.asarray(self.preprocessor)[indices]
        return np.asarray(self.preprocessor(indices.ravel())).reshape(*indices.shape, -1)


class _OfTuples(_Switched):
    """A classifier of pairs or triplets with the parameters of its learner."""

    _ours: type
    metric_: Any

    @property
    def metric(self) -> Any:
        return self._ours(**{name: getattr(self, name) for name in _defaults(self._ours)})

    @property
    def components_(self) -> Any:
        return self.metric_.components_

    @components_.setter
    def components_(self, L: Any) -> None:
        if not hasattr(self, "metric_"):  # a class of the tests, which learns nothing
            self.metric_ = calipers.Euclidean().fit(np.eye(*np.shape(L)))
            self.classes_ = np.array([-1, 1])
        self.metric_.components_ = L

    def _prepare_inputs(self, tuples: Any, y: Any, type_of_inputs: str) -> tuple[Any, Any]:
        return self._samples(tuples), np.asarray(y)  # type: ignore[attr-defined]


class _OfPairs(_OfTuples, calipers.PairClassifier):
    strategy, min_rate, beta, cv = "accuracy", None, 1.0, 3

    def fit(self, pairs: Any, y: Any, calibration_params: dict[str, Any] | None = None) -> Any:
        for name, value in (calibration_params or {}).items():
            setattr(self, name, value)
        return super().fit(pairs, y)

    def decision_function(self, pairs: Any) -> Any:
        return self.pair_score(pairs)


class _OfTriplets(_OfTuples, calipers.TripletClassifier):
    pass


def stand_in(name: str, switch: Switch) -> type:
    """A class that takes metric-learn's words, and learns as our learner does."""
    ours = getattr(calipers, switch.ours)
    kinds = {"pairs": (_OfPairs,), "triplets": (_OfTriplets,)}
    more = {"_ours": ours, "_names": switch.words, "__module__": __name__}
    defaults = {**_defaults(ours), "preprocessor": None}

    def initialise(self: Any, **given: Any) -> None:
        _Switched.__init__(self, **given)

    keyword, first = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_ONLY
    initialise.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter("self", first)]
        + [inspect.Parameter(word, keyword, default=value) for word, value in defaults.items()]
    )
    bases = kinds.get(switch.takes, (_OfSamples, ours))
    made = type(name, bases, {**defaults, **more, "__init__": initialise})
    globals()[name] = made  # where pickle looks for it
    return made


def _defaults(ours: type) -> dict[str, Any]:
    return {name: each.default for name, each in inspect.signature(ours).parameters.items()}


def pytest_configure(config: Any) -> None:
    """Put our classes in front of metric-learn's."""
    metric_learn: Any = import_module("metric_learn")
    base_metric: Any = import_module("metric_learn.base_metric")
    for name, switch in CLASSES.items():
        setattr(metric_learn, name, stand_in(name, switch))
    base_metric._PairsClassifierMixin = stand_in("Pairs", Switch("Euclidean", "pairs"))
    base_metric._TripletsClassifierMixin = _OfTriplets
    base_metric.MahalanobisMixin = type("MahalanobisMixin", (), {})
    checked: Any = pytest.warns

    def warns(expected: Any = Warning, **more: Any) -> Any:
        """Take None for no warning at all, as pytest once did."""
        recorded = warnings.catch_warnings(record=True, action="always")
        return recorded if expected is None else checked(expected, **more)

    vars(pytest)["warns"] = warns


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, Any]:
    """Write the result of a test, and whether it made a class of ours."""
    report = yield
    if report.when == "call" or report.failed:  # also where its set-up fails
        said = "" if call.excinfo is None else call.excinfo.exconly()
        row = {"file": item.path.stem, "test": item.name, "outcome": report.outcome, "said": said}
        with Path(os.environ["SWITCHED_ROWS"]).open("a") as rows:
            rows.write(json.dumps({**row, "is_ours": bool(used)}) + "\n")
        used.clear()
    return report
