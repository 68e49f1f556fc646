"""What `study` compares: other constants of the default fit, and other learners."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import calipers
from calipers import TripletSGD, recipes
from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import MemorySamples
from calipers.metric import init
from calipers.paper.protocol import Metric
from calipers.solvers import plan

Fit: TypeAlias = Callable[[FloatArray, IndexArray, int], Metric]  # of samples, labels and a seed

DEFAULT = "TripletSGD"
BETTER_EUCLIDEAN = "Euclidean or Scaled"
LEARNERS = (
    *(DEFAULT, "MetricCV", "Euclidean", BETTER_EUCLIDEAN),
    *("Scaled", "WithinClass", "Discriminant", "LMNN", "NCA", "SCML", "LFDA"),
)

PLANNED = tuple(
    name for name, value in vars(plan).items() if name.isupper() and isinstance(value, int | float)
)
"""Constants of :mod:`calipers.solvers.plan`."""

VALUES: Mapping[str, Sequence[Any]] = {
    "N_NEIGHBORS": (3, 5, 10, 14),
    "N_ROUNDS": (1, 2, 4, 6),
    "init": init.NAMES,
    "MOMENTUM": (0.8, 0.95),
    "SQUARE_MOMENTUM": (0.98, 0.995),
}
"""Values to try; other constants are halved and doubled."""

ELSEWHERE: Mapping[str, Sequence[tuple[str, str]]] = {
    "NCA": (
        ("calipers.solvers.low_rank", "STEPS_PER_ROOT"),
        ("calipers.solvers.low_rank", "STEP"),
        ("calipers.solvers.soft_neighbors", "WIDTH"),
        ("calipers.solvers.low_rank", "MOMENTUM"),
        ("calipers.solvers.low_rank", "SQUARE_MOMENTUM"),
    ),
}
"""Constants of a learner that are not in its file: their modules and names."""


class Choice(NamedTuple):
    """A learner with its settings."""

    name: str
    fit: Fit


@contextmanager
def planned(name: str, value: float, module: Any = plan) -> Iterator[None]:
    """Give a constant of a module another value within a block."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def numbers_of(name: str, settings: Sequence[Mapping[str, Any]] = ()) -> list[Choice]:
    """Choices that differ from a learner's defaults in some settings, else in one number each.

    A number is a parameter or a constant; without settings each has the values of `VALUES`, or is
    halved and doubled.
    """
    kind = getattr(calipers, name)
    own = import_module(kind.__module__)
    homes = {key: own for key in vars(own) if key.isupper()}
    homes |= {key: import_module(path) for path, key in ELSEWHERE.get(name, ())}
    present = {key: getattr(module, key) for key, module in homes.items()} | kind().get_params()
    for key in (key for one in settings for key in one if key not in present):
        raise SystemExit(f"{name} has no number {key!r}, only {', '.join(sorted(present))}.")
    settings = settings or [
        {key: value}
        for key, number in present.items()
        if isinstance(number, int | float) and not isinstance(number, bool)
        for value in _values(key, number)
    ]
    return [
        Choice(",".join(f"{key}={value}" for key, value in one.items()), _with(kind, one, homes))
        for one in settings
    ]


def _with(kind: Any, settings: Mapping[str, Any], homes: Mapping[str, Any]) -> Fit:
    """A learner with other parameters and, while it is fitted, other constants."""

    def fit(X: FloatArray, y: IndexArray, seed: int) -> Metric:
        model = kind()
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        with ExitStack() as stack:
            for key, value in settings.items():
                if key in homes:
                    stack.enter_context(planned(key, value, homes[key]))
                else:
                    model.set_params(**{key: value})
            return _fitted(model, X, y)

    return fit


def constants() -> dict[str, list[Choice]]:
    """Choices that differ from the default in one constant, by its name."""
    default = TripletSGD()
    found = {name: _others(name, getattr(plan, name), _with_constant) for name in PLANNED}
    for name in ("smoothness", "radius", "init"):
        found[name] = _others(name, getattr(default, name), _with_parameter)
    found["learning_rate"] = _others("learning_rate", float(plan.BATCH_SIZE), _with_parameter)
    for name, value in (("clip", None), ("average", False)):
        found[name] = [Choice(f"{name}={value}", _with_choice(name, value))]
    return found


def _others(name: str, present: Any, make: Callable[[str, Any], Fit]) -> list[Choice]:
    return [Choice(f"{name}={value}", make(name, value)) for value in _values(name, present)]


def _values(name: str, present: Any) -> list[Any]:
    values = VALUES.get(name) or (_half(present), 2 * present)
    return [value for value in values if value != present]


def _half(value: float) -> float:
    return max(1, value // 2) if isinstance(value, int) else value / 2


def _with_constant(name: str, value: float) -> Fit:
    def fit(X: FloatArray, y: IndexArray, seed: int) -> Metric:
        with planned(name, value):
            return _fitted(TripletSGD(random_state=seed), X, y)

    return fit


def _with_parameter(name: str, value: Any) -> Fit:
    return lambda X, y, seed: _fitted(TripletSGD(**{name: value}, random_state=seed), X, y)


def _with_choice(name: str, value: Any) -> Fit:
    return _with_parameter("method", recipes.all_pairs_sgd(**{name: value}))


def learner(name: str) -> Choice:
    """One of `LEARNERS`, with its defaults."""
    if name == BETTER_EUCLIDEAN:
        return Choice(name, better_euclidean)

    def fit(X: FloatArray, y: IndexArray, seed: int) -> Metric:
        model = getattr(calipers, name)()
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        return _fitted(model, X, y)

    return Choice(name, fit)


def _fitted(model: Any, X: FloatArray, y: IndexArray) -> Metric:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted: Metric = model.fit(X, y)
    return fitted


def better_euclidean(X: FloatArray, y: IndexArray, seed: int) -> Metric:
    """Raw or standardised features, by the leave-one-out 3-NN error of the training samples."""
    samples = MemorySamples(X, np.unique(y, return_inverse=True)[1])
    is_scaled = init.resolved_init("auto", samples) == "scaled"
    return _fitted(calipers.Scaled() if is_scaled else calipers.Euclidean(), X, y)
