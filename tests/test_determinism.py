"""The same seed gives the same bits: over threads, processes and jobs, and beside others."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from learners import LEARNERS, iris

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X, Y = (each[::3] for each in iris())

PROGRAM = """
import hashlib, sys
from sklearn.base import clone
from learners import LEARNERS, iris
X, y = iris()
for name, learner in LEARNERS.items():
    fitted = clone(learner).fit(X, y)
    print(name, hashlib.sha256(fitted.components_.tobytes()).hexdigest())
"""


def in_a_process(program: str = PROGRAM, **variables: str) -> str:
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": paths, **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_same_bits_in_any_process_and_for_any_number_of_threads() -> None:
    one = in_a_process(CALIPERS_NUM_THREADS="1", PYTHONHASHSEED="1", OMP_NUM_THREADS="1")
    two = in_a_process(CALIPERS_NUM_THREADS="2", PYTHONHASHSEED="2", OMP_NUM_THREADS="2")
    assert one == two
    assert len(one.splitlines()) == len(LEARNERS)


def fitted(name: str) -> Any:
    return clone(LEARNERS[name]).fit(X, Y).components_


def test_fits_at_the_same_time_do_not_disturb_each_other() -> None:
    alone = {name: fitted(name) for name in LEARNERS}
    names = [name for name in LEARNERS for _ in range(3)]
    with ThreadPoolExecutor(8) as pool:
        for name, components in zip(names, pool.map(fitted, names), strict=True):
            np.testing.assert_array_equal(components, alone[name], err_msg=name)


def test_fits_do_not_touch_the_global_random_state() -> None:
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state(legacy=False)["state"]["key"].copy()  # noqa: NPY002
    for name in LEARNERS:
        fitted(name)
    after = np.random.get_state(legacy=False)["state"]["key"]  # noqa: NPY002
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("name", ["TripletSGD", "LMNN", "OASIS"])
def test_a_search_is_the_same_for_any_number_of_jobs(name: str) -> None:
    scores = []
    for n_jobs in (1, 2):
        model = make_pipeline(clone(LEARNERS[name]), KNeighborsClassifier(3))
        step = model.steps[0][0]
        search = GridSearchCV(model, {f"{step}__n_neighbors": [1, 2]}, cv=3, n_jobs=n_jobs)
        search.fit(X, Y)
        scores.append(search.cv_results_["mean_test_score"])
        best = search.best_estimator_[0].components_
    np.testing.assert_array_equal(*scores)
    again = clone(search.best_estimator_[0]).fit(X, Y).components_
    np.testing.assert_array_equal(best, again)
