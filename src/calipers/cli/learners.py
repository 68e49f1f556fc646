"""Metric learners by name, and how a command fits one."""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING, Any

from calipers.cli.options import advanced, seed, whole_number
from calipers.cli.reading import mistakes_in

if TYPE_CHECKING:
    import numpy.typing as npt

    from calipers.cli.output import Meter

FOR_MOST = ("cv", "triplet-sgd", "nca", "discriminant", "within-class", "gmml")
THE_OTHERS = (
    *("euclidean", "scaled", "lmnn", "oasis", "spml", "lego", "itml", "mcml", "mmc", "scml"),
    *("lfda", "rca", "kissme"),
)
METHODS = ("all-pairs-sgd", "sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")


def add_learner(command: argparse.ArgumentParser) -> None:
    """Add the options on what learns."""
    command.add_argument(
        "--learner",
        choices=(*FOR_MOST, *THE_OTHERS),
        default="cv",
        metavar="NAME",
        help="what learns the metric: cv (the default) chooses by cross-validation; "
        f"{', '.join(FOR_MOST[1:])}; for comparison the paper's baselines and the classics: "
        f"{', '.join(THE_OTHERS)}",
    )
    kept = "dimensions to keep (default: all)"
    command.add_argument("--n-components", type=whole_number, metavar="K", help=kept)
    group = advanced(command)
    of_sgd = f"algorithm of --learner triplet-sgd: {', '.join(METHODS)} (default: {METHODS[0]})"
    group.add_argument("--method", choices=METHODS, metavar="NAME", help=of_sgd)
    drawn = "triplets of a round, for learners that draw triplets (default: the learner's)"
    group.add_argument("--n-triplets", type=whole_number, metavar="N", help=drawn)
    group.add_argument("--seed", type=seed, default=0, help="random seed (default: %(default)s)")


def make(options: argparse.Namespace) -> Any:
    """Return the estimator that the options ask for.

    Raises
    ------
    FileError
        An option has no meaning for the learner.
    """
    import calipers

    classes = {name.lower(): name for name in calipers.__all__} | {"cv": "MetricCV"}
    learner = getattr(calipers, classes[options.learner.replace("-", "")])()
    given = {name: getattr(options, name) for name in ("method", "n_components", "n_triplets")}
    if "random_state" in learner.get_params(deep=False):
        given["random_state"] = options.seed
    with mistakes_in(f"--learner {options.learner}"):
        return learner.set_params(**{k: value for k, value in given.items() if value is not None})


def learn(estimator: Any, X: npt.NDArray[Any], y: npt.NDArray[Any], callback: Meter) -> list[str]:
    """Fit the estimator; returns the warnings that came."""
    if hasattr(estimator, "set_callbacks"):
        estimator.set_callbacks(callback)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    users = [str(found.message) for found in caught if issubclass(found.category, UserWarning)]
    return list(dict.fromkeys(users))
