"""Default fits in a process of their own: ``python -m benchmarks.fresh ARGUMENTS`` (JSON)."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.rows import ROOT, Row


class FreshProcessError(RuntimeError):
    """The process gave no answer; the message says why."""


def call(*, seconds: float | None = None, **arguments: Any) -> Row:
    """Run `default_fit` in a fresh process, which may be ended after some seconds."""
    words = [sys.executable, "-m", "benchmarks.fresh", json.dumps(arguments)]
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise FreshProcessError(f"ended after {seconds:.0f} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise FreshProcessError(lines[-1] if lines else f"ended by signal {-done.returncode}")
    answer: Row = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def default_fit(*, folder: str, memmap: bool, n_triplets: int | None) -> Row:
    """Seconds and memory of a default fit on the X.npy and y.npy of a folder."""
    import numpy as np

    from benchmarks.clock import resident_megabytes, timed
    from calipers import TripletSGD

    X = np.load(Path(folder, "X.npy"), mmap_mode="r" if memmap else None)
    y = np.load(Path(folder, "y.npy"))
    small = np.array(X[:300])
    TripletSGD(n_triplets=500, init="scaled").fit(small, np.arange(300) % 3)
    model = TripletSGD(n_triplets=n_triplets, random_state=0)
    taken: list[float] = []

    def fit() -> None:
        started = process_time()
        taken.extend([timed(lambda: model.fit(X, y))[0], process_time() - started])

    above = resident_megabytes(fit)
    return {
        "X_megabytes": X.nbytes / 1e6,
        "mining_seconds": model.mining_seconds_,
        "solve_seconds": model.solve_seconds_,
        "seconds": taken[0],
        "cpu_seconds": taken[1],
        "above_megabytes": above,
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(default_fit(**json.loads(sys.argv[1]))))
