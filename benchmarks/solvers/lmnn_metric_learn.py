"""metric-learn's LMNN, run by an interpreter of its own: ``FILE.py GIVEN.npz ANSWER.npz``.

The shim: scikit-learn has renamed an argument that metric-learn passes. Steps are watched
through the method that evaluates them, to know the best L when the time is over.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np
import sklearn.utils
import sklearn.utils.validation


def shim() -> None:
    """Let scikit-learn take ``force_all_finite`` again."""

    def renamed(check: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(check)
        def call(*words: Any, **named: Any) -> Any:
            if "force_all_finite" in named:
                named["ensure_all_finite"] = named.pop("force_all_finite")
            return check(*words, **named)

        return call

    for name in ("check_array", "check_X_y"):
        taken = renamed(getattr(sklearn.utils.validation, name))
        setattr(sklearn.utils.validation, name, taken)
        setattr(sklearn.utils, name, taken)


class TimeIsOver(Exception):  # noqa: N818  it is no error
    """Raised by the first evaluation after the cap."""


def fit(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fit until the given seconds are over; the best L, and how it was come by."""
    shim()
    from metric_learn import LMNN  # type: ignore[import-not-found]

    best: list[Any] = [np.inf, np.eye(given["X"].shape[1])]  # the start, until a step is done

    class Watched(LMNN):  # type: ignore[misc]
        n_evaluations = 0

        def _loss_grad(self, X: Any, L: Any, *rest: Any) -> Any:
            if perf_counter() - started > given["seconds"]:
                raise TimeIsOver
            Watched.n_evaluations += 1
            answer = super()._loss_grad(X, L, *rest)
            if answer[1] <= best[0]:
                best[:] = answer[1], L.copy()
            return answer

    model = Watched(
        init="identity",
        n_neighbors=int(given["n_neighbors"]),
        regularization=1.0 - float(given["push_weight"]),
    )
    started = perf_counter()
    capped = False
    try:
        model.fit(given["X"], given["y"])
    except TimeIsOver:
        capped = True
    return {
        "seconds": perf_counter() - started,
        "components": best[1],
        "iterations": Watched.n_evaluations,
        "capped": capped,
    }


if __name__ == "__main__":
    np.savez(sys.argv[2], **fit(np.load(sys.argv[1])))
