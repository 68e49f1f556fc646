"""Options that commands share, the types of their arguments, and the learner they ask for."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    from calipers.cli.output import Meter

    Commands = argparse._SubParsersAction[Any]

STANDARD = "-"
"""The name of standard input, or output."""

N_VOTERS = 3
"""Neighbours that vote, by default."""

TABLE = "table: CSV, TSV, .xlsx, JSONL, Parquet, NPY, NPZ or LIBSVM; - reads CSV from stdin"


def advanced(command: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Return the group of the options that few people need, the last one of the help."""
    named = [group for group in command._action_groups if group.title == "advanced"]
    return named[0] if named else command.add_argument_group("advanced")


def add_output(command: argparse.ArgumentParser) -> None:
    """Add the options on how results are shown."""
    shown = "write JSON to stdout, and nothing else"
    command.add_argument("--json", action="store_true", help=shown)
    less = "show no progress bar and no remarks, but for what is left out"
    command.add_argument("--quiet", action="store_true", help=less)


def check_apart(written: Path, *read: str | None) -> None:
    """Raise if a file to be written is one that the command reads."""
    from calipers.data.files import FileError

    for path in read:
        if path is not None and written.resolve() == Path(path).resolve():
            raise FileError(
                f"{str(written)!r} is read by this command and would be lost: name another place."
            )


def _ending_in(endings: tuple[str, ...], text: str) -> Path:
    if Path(text).suffix.lower() in endings:
        return Path(text)
    raise argparse.ArgumentTypeError(f"the name must end in {', '.join(endings)}, got {text!r}")


picture = partial(_ending_in, (".png", ".svg", ".pdf"))
page = partial(_ending_in, (".html",))


def whole_number(text: str, least: int = 1, most: int | None = None) -> int:
    """Parse a whole number."""
    if text.isdecimal() and least <= int(text) and (most is None or int(text) <= most):
        return int(text)
    allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise argparse.ArgumentTypeError(f"must be a whole number {allowed}, got {text!r}")


at_least_two = partial(whole_number, least=2)
seed = partial(whole_number, least=0, most=2**32 - 1)


# What learns

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


def make_learner(options: argparse.Namespace) -> Any:
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


@contextmanager
def mistakes_in(source: str) -> Iterator[None]:
    """Say of which file it is what the library says of samples and labels."""
    from calipers.data.files import FileError

    try:
        yield
    except FileError:
        raise
    except (ValueError, TypeError) as wrong:
        raise FileError(f"{source}: {wrong}") from wrong
