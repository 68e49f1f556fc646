"""Runs of the first edition's solver, by its own interpreter: ``FILE.py FOLDER``.

Every line of standard input is a problem in JSON; its arrays are in ``given.npz`` of the folder.
The decisions go to ``answer.npy`` and seconds and counts into a line of JSON. Only NumPy and the
edition that is installed are imported: this one too, which shows what differs by chance.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

COUNTS = ("updates", "changes")


def solver_of(given: dict[str, Any], d: int) -> Any:
    """The solver of a problem, before its first step."""
    rngs = {
        "accept_rng": np.random.default_rng([given["seed"], 1]),
        "pick_rng": np.random.default_rng([given["seed"], 2]),
    }
    try:
        from calipers.solver import Solver  # type: ignore[import-not-found]
    except ModuleNotFoundError:
        return _this_edition(given, d, rngs)
    from calipers import recipes
    from calipers.solvers.losses import SmoothHinge
    from calipers.solvers.sampling import ByGradientNorm

    parts: dict[str, Any] = {name: given[name] for name in ("learning_rate", "radius")}
    if given["method"] not in ("sgd", "as-sgd"):
        parts["batch_size"] = given["batch_size"]
    if given["method"] == "ha-sgd":
        parts["policy"] = ByGradientNorm(given["largest"])
    recipe = getattr(recipes, given["method"].replace("-", "_"))
    return Solver(recipe(loss=SmoothHinge(given["smoothness"]), **parts), d, **rngs)


def _this_edition(given: dict[str, Any], d: int, rngs: dict[str, Any]) -> Any:
    from calipers.solvers.losses import SmoothHinge
    from calipers.solvers.sampling import ByGradientNorm, BySlope, EveryBatch
    from calipers.solvers.sgd import Settings, SGDSolver

    method = given["method"]
    settings = Settings(
        loss=SmoothHinge(given["smoothness"]),
        policy=EveryBatch()
        if method in ("sgd", "mini-sgd")
        else ByGradientNorm(given["largest"])
        if method == "ha-sgd"
        else BySlope(),
        **{name: given[name] for name in ("batch_size", "learning_rate", "radius")},
    )
    return SGDSolver(settings, d, **rngs)


def solve(given: dict[str, Any], X: Any, triplets: Any) -> tuple[Any, dict[str, float]]:
    """Decisions, and what was measured."""
    started, cpu_started = perf_counter(), process_time()
    solver = solver_of(given, X.shape[1])
    accepted = solver.advance(X, triplets[: given["n_triplets"]])
    _ = solver.average
    measured = {
        "seconds": perf_counter() - started,
        "cpu_seconds": process_time() - cpu_started,
    }
    kept = getattr(solver, "core_state", None)
    for name in COUNTS:
        count = solver.iterate.tally[0][name] if kept is None else getattr(kept, name)
        measured[name] = int(count)
    return accepted, measured


def main(folder: Path) -> None:
    """Reply until standard input ends."""
    replies, sys.stdout = sys.stdout, sys.stderr  # what a solver prints is no reply
    warnings.simplefilter("ignore")
    X, triplets, version = None, None, None
    for line in sys.stdin:
        given = json.loads(line)
        if given["arrays"] != version:
            version = given["arrays"]
            with np.load(folder / "given.npz") as arrays:
                X, triplets = arrays["X"], arrays["triplets"]
        accepted, measured = solve(given, X, triplets)
        np.save(folder / "answer.npy", accepted)
        replies.write(json.dumps(measured) + "\n")
        replies.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
