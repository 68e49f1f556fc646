"""Calls in a process of their own: ``python -m benchmarks.fresh TASK ARGUMENTS``.

A task is a function below; it takes and returns what JSON can say. Whatever it prints is
left aside, only the last line is its answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.rows import ROOT, Row


class FreshProcessError(RuntimeError):
    """The process gave no answer; the message says why."""


def call(task: str, *, seconds: float | None = None, **arguments: Any) -> Row:
    """Run a task in a fresh process, which may be ended after some seconds."""
    words = [sys.executable, "-m", "benchmarks.fresh", task, json.dumps(arguments)]
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise FreshProcessError(f"ended after {seconds:.0f} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise FreshProcessError(lines[-1] if lines else f"ended by signal {-done.returncode}")
    answer: Row = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


FIRST_FIT = """
import json, os, sys
from time import perf_counter, process_time
started = perf_counter()
from calipers import TripletSGD
from sklearn.datasets import load_iris
imported = perf_counter()
TripletSGD().fit(*load_iris(return_X_y=True))
seconds = {"import_seconds": imported - started, "fit_seconds": perf_counter() - imported}
seconds["cpu_seconds"] = process_time()  # of the whole process so far
print(json.dumps({**seconds, "writable": os.access(sys.prefix, os.W_OK)}))
"""


def first_fit(python: Path, *, user: str | None = None) -> Row:
    """Seconds of importing Calipers and of fitting iris in a fresh process.

    As another user it has an empty environment: no home, no place for temporary files. Raises
    FreshProcessError where there is no such user or this one may not change to it.
    """
    if user is not None and getattr(os, "geteuid", lambda: 1)() != 0:
        raise FreshProcessError(f"only root may become {user}")
    words = [str(python), "-I", "-c", FIRST_FIT]
    try:
        group = None if user is None else _group(user)
        done = subprocess.run(
            words,
            cwd=Path(python).anchor,
            user=user,
            group=group,
            extra_groups=None if user is None else (),
            env=None if user is None else {},
            capture_output=True,
            text=True,
        )
    except (OSError, LookupError, ValueError) as error:
        raise FreshProcessError(f"not started: {error}") from None
    if done.returncode:
        raise FreshProcessError((done.stderr.strip().splitlines() or ["no word"])[-1])
    answer: Row = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def _group(user: str) -> int:
    import pwd  # not on Windows

    return pwd.getpwnam(user).pw_gid


def fit_memory(
    *, name: str, data_dir: str | None, shrink: int, n_triplets: int, method: Any, warm: bool
) -> Row:
    """Peak memory of a complete fit above the loaded X.

    ``warm``: libraries have been loaded by a small fit before; else loading them counts.
    """
    from sklearn.base import clone

    from benchmarks.clock import resident_megabytes, traced_megabytes
    from benchmarks.shapes import data_set
    from calipers import TripletSGD

    data = data_set(name, data_dir=data_dir, shrink=shrink)
    model = TripletSGD(method, n_rounds=1, n_triplets=n_triplets, random_state=0)
    if warm:
        clone(model).set_params(n_triplets=500).fit(data.X[:300], data.y[:300])
    resident = resident_megabytes(lambda: model.fit(data.X, data.y))
    return {
        "data": data.name,
        "shape": data.shape,
        "X_megabytes": data.X.nbytes / 1e6,
        "resident_megabytes": resident,
        "traced_megabytes": traced_megabytes(lambda: model.fit(data.X, data.y)) if warm else None,
    }


def two_fits(*, method: Any, n_samples: int, n_features: int) -> Row:
    """Seconds of the first and of the second fit of this process."""
    import numpy as np

    from calipers import TripletSGD

    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 5
    X = rng.normal(size=(n_samples, n_features)) + rng.normal(size=(5, n_features))[y]
    seconds = []
    for _ in range(2):
        started = perf_counter()
        TripletSGD(method, random_state=0).fit(X, y)
        seconds.append(perf_counter() - started)
    return {"first_seconds": seconds[0], "second_seconds": seconds[1]}


def default_fit(*, folder: str, memmap: bool, n_triplets: int | None) -> Row:
    """Seconds and memory of a default fit on the X.npy and y.npy of a folder."""
    from time import process_time

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


def nca(*, cap: float, threads: int, **which: Any) -> Row:
    """A fit of scikit-learn's NeighborhoodComponentsAnalysis, then its error."""
    from threadpoolctl import threadpool_limits

    from benchmarks.learners import nca as learner
    from benchmarks.learners import splits
    from calipers.paper.protocol import split_error

    data = splits.split_of(**which)
    with threadpool_limits(threads, user_api="blas"):
        started = process_time()
        fitted = learner.fit(data.X_train, data.y_train, seed=which["split"], cap=cap)
        cpu_seconds = process_time() - started
    return {
        "seconds": fitted.seconds,
        "cpu_seconds": cpu_seconds,
        "iterations": fitted.n_iterations,
        "capped": fitted.capped,
        "error": 100 * split_error(data, fitted),
    }


TASKS = {task.__name__: task for task in (fit_memory, two_fits, default_fit, nca)}


def main() -> None:
    """Run the task named on the command line and print its answer."""
    warnings.simplefilter("ignore")
    task, arguments = sys.argv[1:]
    print(json.dumps(TASKS[task](**json.loads(arguments))))


if __name__ == "__main__":
    main()
