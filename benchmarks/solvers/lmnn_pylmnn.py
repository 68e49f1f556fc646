"""pylmnn, run by an interpreter of its own: ``FILE.py GIVEN.npz ANSWER.npz``.

The shim: a module it imports but needs only to tune parameters, two names of another, and
SciPy's ``minimize``, which no longer takes a matrix to start from. It stops after 50
iterations unless told otherwise; it is given as many as it wants.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np
import scipy.optimize


def shim() -> None:
    """Stand in for what is not there any more."""
    modules: dict[str, dict[str, Any]] = {
        "six": {"integer_types": (int, np.integer), "string_types": (str,)},
        "GPyOpt": {},
        "GPyOpt.methods": {"BayesianOptimization": None},
    }
    for name, content in modules.items():
        module = ModuleType(name)
        vars(module).update(content)
        sys.modules.setdefault(name, module)
    minimize = scipy.optimize.minimize

    def from_matrix(*, x0: Any, options: dict[str, Any], **named: Any) -> Any:
        options.pop("disp", None)
        return minimize(x0=np.ravel(x0), options=options, **named)

    scipy.optimize.minimize = from_matrix


class TimeIsOver(Exception):  # noqa: N818  it is no error
    """Raised at the end of the iteration in which the cap strikes."""


def fit(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fit until the given seconds are over; the last L, and how it was come by."""
    shim()
    from pylmnn import LargeMarginNearestNeighbor  # type: ignore[import-not-found]

    reached: list[Any] = [None, 0]

    def watch(components: Any, n_iterations: int) -> None:
        reached[:] = components.reshape(-1, given["X"].shape[1]).copy(), n_iterations
        if perf_counter() - started > given["seconds"]:
            raise TimeIsOver

    model = LargeMarginNearestNeighbor(
        init="identity",
        n_neighbors=int(given["n_neighbors"]),
        weight_push_loss=float(given["push_weight"]),
        max_iter=int(given["max_iter"]),
        callback=watch,
        random_state=0,
    )
    started = perf_counter()
    capped = False
    try:
        model.fit(given["X"], given["y"])
        reached[0] = model.components_
    except TimeIsOver:
        capped = True
    return {
        "seconds": perf_counter() - started,
        "components": reached[0],
        "iterations": reached[1],
        "capped": capped,
    }


if __name__ == "__main__":
    np.savez(sys.argv[2], **fit(np.load(sys.argv[1])))
