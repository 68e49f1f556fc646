"""Fits of the first edition, run by its own interpreter: ``FILE.py FOLDER``.

For every line of standard input, JSON of a learner and its settings, it fits ``given.npz`` of the
folder, writes the components to ``answer.npz`` and replies with a line of JSON. Only NumPy and the
first edition are imported.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

WARM_UP = ((300, 5), (300, 60), (40, 80))  # samples and features


def fit(X: Any, y: Any, learner: str, settings: dict[str, Any]) -> tuple[float, Any]:
    """Seconds of a fit, and the learner."""
    import calipers

    started = perf_counter()
    model: Any = getattr(calipers, learner)(**settings).fit(X, y)
    return perf_counter() - started, model


def warm_up() -> None:
    """Compile or load the code, for data of several shapes."""
    rng = np.random.default_rng(0)
    for n, d in WARM_UP:
        fit(rng.normal(size=(n, d)), np.arange(n) % 3, "TripletSGD", {"random_state": 0})


def main(folder: Path) -> None:
    """Reply until standard input ends."""
    replies, sys.stdout = sys.stdout, sys.stderr  # what a fit prints is no reply
    warnings.simplefilter("ignore")
    warm_up()
    for line in sys.stdin:
        with np.load(folder / "given.npz") as given:
            X, y = given["X"], given["y"]
        reply: dict[str, Any]
        try:
            seconds, model = fit(X, y, **json.loads(line))
        except ValueError as error:
            reply = {"refused": str(error)}
        else:
            np.savez(folder / "answer.npz", components=model.components_)
            reply = {"seconds": seconds, "n_updates": int(model.n_updates_)}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
