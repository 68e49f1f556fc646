"""Metric learners by name, and how a command fits one."""

from __future__ import annotations

import argparse
import inspect
import re
import warnings
from typing import TYPE_CHECKING, Any

from calipers.cli.options import N_VOTERS, at_least_two, seed, whole_number

if TYPE_CHECKING:
    import numpy.typing as npt

    from calipers.arrays import FloatArray

LEARNERS = {
    "cv": "MetricCV",
    "euclidean": "Euclidean",
    "scaled": "Scaled",
    "within-class": "WithinClass",
    "discriminant": "Discriminant",
    "lfda": "LFDA",
    "rca": "RCA",
    "kissme": "KISSME",
    "gmml": "GMML",
    "triplet-sgd": "TripletSGD",
    "spml": "SPML",
    "scml": "SCML",
    "oasis": "OASIS",
    "lego": "LEGO",
    "itml": "ITML",
    "lmnn": "LMNN",
    "mmc": "MMC",
    "mcml": "MCML",
    "nca": "NCA",
}
"""Public classes by their name on the command line."""

METHOD_NAMES = ("all-pairs-sgd", "sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")


def add_learner(command: argparse.ArgumentParser) -> None:
    """Add the options on what learns."""
    command.add_argument(
        "--learner",
        choices=tuple(LEARNERS),
        default="cv",
        help="what learns the metric; cv selects a learner by cross-validation (default: cv)",
    )
    command.add_argument(
        "--method",
        choices=METHOD_NAMES,
        help="algorithm of --learner triplet-sgd (default: all-pairs-sgd)",
    )
    command.add_argument(
        "--components", type=whole_number, metavar="K", help="dimensions to keep (default: all)"
    )
    command.add_argument(
        "--triplets",
        type=whole_number,
        metavar="N",
        help="triplets of a round, for learners that draw triplets (default: the learner's)",
    )
    command.add_argument(
        "--max-compared",
        type=at_least_two,
        metavar="N",
        help="samples that --learner cv compares candidates on (default: 3000)",
    )
    command.add_argument(
        "--standardize",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="divide features by their standard deviation first; the division becomes a part of "
        "the metric (default: no)",
    )
    command.add_argument("--seed", type=seed, default=0, help="random seed (default: %(default)s)")


def add_folds(command: argparse.ArgumentParser) -> None:
    """Add the options on how a learner is evaluated."""
    command.add_argument(
        "--folds", type=at_least_two, default=5, help="parts held out in turn (default: 5)"
    )
    command.add_argument(
        "--neighbors",
        type=whole_number,
        default=N_VOTERS,
        help="neighbours that vote (default: %(default)s)",
    )
    command.add_argument(
        "--at", type=whole_number, default=10, help="k of precision and recall at k (default: 10)"
    )


def make(options: argparse.Namespace) -> Any:
    """Return the estimator that the options ask for.

    Raises
    ------
    FileError
        An option has no meaning for the learner.
    """
    import calipers

    learner = getattr(calipers, LEARNERS[options.learner])
    accepted = inspect.signature(learner).parameters
    parameters = {
        "method": ("--method", options.method),
        "n_components": ("--components", options.components),
        "n_triplets": ("--triplets", options.triplets),
        "max_compared": ("--max-compared", options.max_compared),
        "random_state": ("", options.seed),
    }
    given: dict[str, Any] = {}
    for name, (option, value) in parameters.items():
        if name in accepted and value is not None:
            given[name] = value
        elif option and value is not None:
            hint = ": add --learner triplet-sgd" if option == "--method" else ""
            raise calipers.FileError(f"{option} is of no use to --learner {options.learner}{hint}.")
    return learner(**given)


_OPTION_OF = {
    "n_components": "--components",
    "n_triplets": "--triplets",
    "max_compared": "--max-compared",
}


def _in_words_of_the_command(mistake: str) -> str:
    """Name options in place of parameters, and leave all else as it is.

    >>> _in_words_of_the_command("X has n_triplets=5, too few: raise n_triplets.")
    'X has --triplets 5, too few: raise --triplets.'
    >>> _in_words_of_the_command("could not convert string to float: 'n_triplets'")
    "could not convert string to float: 'n_triplets'"
    """
    sentence = " ".join(mistake.split())
    for parameter, option in _OPTION_OF.items():
        word = rf"(?<![\w'\"]){parameter}"
        sentence = re.sub(rf"{word}=(?=\d)", f"{option} ", sentence)
        sentence = re.sub(rf"{word}(?![\w'\"=])", option, sentence)
    return sentence.replace(", or None for all.", ".")  # which is to leave out the option


def feature_units(X: npt.NDArray[Any], *, standardize: bool) -> FloatArray:
    """Return what each feature is divided by: its standard deviation, or 1 if it is constant."""
    import numpy as np

    from calipers.data.memmap import column_std
    from calipers.data.samples import DiskSamples

    if not standardize:
        return np.ones(X.shape[1])
    low, high = DiskSamples(X).limits()
    deviations = column_std(X)  # of constants not quite 0, by rounding
    return np.where((low < high) & (deviations > 0), deviations, 1.0)


def learn(
    estimator: Any, X: npt.NDArray[Any], y: npt.NDArray[Any], *, source: str, standardize: bool
) -> list[str]:
    """Fit the estimator; returns the warnings that came.

    Raises
    ------
    FileError
        The data cannot be learned from; the sentence is the estimator's.
    """
    import numpy as np

    from calipers.data.files import FileError
    from calipers.data.memmap import divided

    units = feature_units(X, standardize=standardize)
    if standardize:
        X = divided(X, units)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.fit(X, y)
    except (ValueError, TypeError) as wrong:
        raise FileError(f"{source}: {_in_words_of_the_command(str(wrong))}") from wrong
    except MemoryError as wrong:
        raise FileError(
            f"{source}: {X.shape[0]:,} samples of {X.shape[1]:,} features need more memory than "
            "there is: take fewer samples, or reduce the features first."
        ) from wrong
    if standardize:
        estimator.components_ = estimator.components_ / units
        estimator.feature_scale_ = estimator.feature_scale_ * units
        if hasattr(estimator, "similarity_"):
            estimator.similarity_ = estimator.similarity_ / np.outer(units, units)
    users = [str(found.message) for found in caught if issubclass(found.category, UserWarning)]
    return list(dict.fromkeys(users))
