"""Metric learners by name, and how a command fits one."""

from __future__ import annotations

import argparse
import inspect
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.commands.style import at_least_two, count, remark, seed

if TYPE_CHECKING:
    import numpy.typing as npt

    from calipers.tables.table import Chosen

SGD = ("auto", "sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")
CLASSES = {"spml": "SPML", "lmnn": "LMNN", "oasis": "OASIS", "lego": "LEGO", "itml": "ITML"}
SLOW = "learning (compiles once)"  # what is shown while neighbours are searched for, too


def add_learner(command: argparse.ArgumentParser) -> None:
    """Add the options on what learns."""
    command.add_argument(
        "--method",
        choices=(*SGD, *CLASSES),
        default="auto",
        help="what learns the metric (default: %(default)s)",
    )
    command.add_argument(
        "--components", type=count, metavar="K", help="dimensions to keep (default: all)"
    )
    command.add_argument(
        "--triplets", type=count, metavar="N", help="triplets to learn from (default: the method's)"
    )
    command.add_argument(
        "--standardize",
        action="store_true",
        help="learn from features divided by their spread, for columns of unlike units; the "
        "division becomes a part of the metric",
    )
    command.add_argument("--seed", type=seed, default=0, help="random seed (default: %(default)s)")


def add_folds(command: argparse.ArgumentParser) -> None:
    """Add the options on how a learner is judged."""
    command.add_argument(
        "--folds", type=at_least_two, default=5, help="parts that are left out in turn (default: 5)"
    )
    command.add_argument(
        "--neighbors", type=count, default=3, help="neighbours that vote (default: 3)"
    )
    command.add_argument(
        "--at", type=count, default=10, help="k of precision and recall at k (default: 10)"
    )


def make(options: argparse.Namespace) -> Any:
    """Return the estimator that the options ask for.

    Raises
    ------
    FileError
        An option is of no use to the method.
    """
    import calipers

    if options.method in SGD:
        learner, given = calipers.TripletSGD, {"method": options.method}
    else:
        learner, given = getattr(calipers, CLASSES[options.method]), {}
    accepted = inspect.signature(learner).parameters
    asked = {
        "n_components": ("--components", options.components),
        "n_triplets": ("--triplets", options.triplets),
        "random_state": ("", options.seed),
    }
    for name, (option, value) in asked.items():
        if name in accepted and value is not None:
            given[name] = value
        elif option and value is not None:
            raise calipers.FileError(f"{option} is of no use to --method {options.method}.")
    return learner(**given)


def read_labelled(options: argparse.Namespace) -> Chosen:
    """Read rows and labels; say aside which columns are left out.

    Raises
    ------
    FileError
        The data cannot be read, or have no labels.
    """
    from calipers import tables
    from calipers.files import FileError

    path = Path(options.data)
    table = tables.read(path, kind=options.format, label=options.label, encoding=options.encoding)
    chosen = table.choose(label=options.label, ignore=options.ignore)
    if chosen.y is None:
        raise FileError(f"{path} is read without labels: name their column with --label.")
    if chosen.left_out and not options.quiet:
        remark(f"Left out, not numbers: {', '.join(chosen.left_out)}.")
    return chosen


def learn(
    estimator: Any, X: npt.NDArray[Any], y: npt.NDArray[Any], *, source: str, standardize: bool
) -> tuple[Any, list[str]]:
    """Fit the estimator; returns it and the warnings that came.

    Raises
    ------
    FileError
        The data cannot be learned from; the sentence is the estimator's.
    """
    import numpy as np

    from calipers.files import FileError
    from calipers.mapped import divided, spread_of

    unit = np.ones(X.shape[1])
    if standardize:
        spread = spread_of(X)
        unit = np.where(spread > 0, spread, 1.0)
        X = divided(X, unit)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.fit(X, y)
    except (ValueError, TypeError) as wrong:
        raise FileError(f"{source}: {' '.join(str(wrong).split())}") from wrong
    except MemoryError as wrong:
        raise FileError(
            f"{source}: {X.shape[0]:,} rows of {X.shape[1]:,} features need more memory than there "
            "is: take fewer rows, or reduce the features first."
        ) from wrong
    if standardize:
        estimator.components_ = estimator.components_ / unit
        if hasattr(estimator, "similarity_"):
            estimator.similarity_ = estimator.similarity_ / np.outer(unit, unit)
    told = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
    return estimator, list(dict.fromkeys(told))
