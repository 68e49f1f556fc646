"""An estimator never mixes the attributes of two fits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import MetricCV, TripletSGD, load
from calipers.estimators import inputs
from learners import each_learner, iris, little, random_triplets

X, Y = iris()


def state(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


@each_learner
def test_a_fit_that_fails_changes_nothing(name: str) -> None:
    estimator = little(name).fit(X, Y)
    before = state(estimator)
    for bad_X, bad_y in ((X[:, :3], np.zeros(150)), (np.where(X > 5, np.nan, X), Y)):
        if name in ("Euclidean", "Scaled", "MLKR") and bad_y is not Y:
            continue  # they take any y
        with pytest.raises(ValueError, match=r"class|NaN"):
            estimator.fit(bad_X, bad_y)
        after = state(estimator)
        assert after.keys() == before.keys()
        assert all(after[each] is before[each] for each in before)


def test_another_kind_of_fit_leaves_nothing_behind() -> None:
    for estimator in (TripletSGD(random_state=0), MetricCV(random_state=0)):
        estimator.fit(X, Y)
        assert hasattr(estimator, "classes_")
        estimator.fit_triplets(X, random_triplets(150, 400))
        assert not hasattr(estimator, "classes_")
    learner = TripletSGD(random_state=0).fit(X, Y).partial_fit(X[::2], Y[::2])
    assert len(learner.triplet_curve_) == len(learner.loss_curve_) == 1


def test_a_batch_that_fails_is_forgotten() -> None:
    learner, other = TripletSGD(random_state=0), TripletSGD(random_state=0)
    outlier = X.copy()
    outlier[0, 0] = 1e70
    with pytest.raises(ValueError, match="powers overflow"):
        learner.partial_fit(outlier, Y)
    assert not state(learner)
    for batch in (slice(0, 150, 2), slice(1, 150, 2)):
        learner.partial_fit(X[batch], Y[batch])
        other.partial_fit(X[batch], Y[batch])
        with pytest.raises(ValueError, match="of type str"):
            learner.partial_fit(X[:4], ["a", "b", "a", "b"])
    np.testing.assert_array_equal(learner.components_, other.components_)


def test_trials_of_a_low_rank_are_not_counted() -> None:
    full = TripletSGD(random_state=0).fit(X, Y)
    cut = TripletSGD(n_components=2, random_state=0).fit(X, Y)
    counted = (cut.n_iter_, len(cut.loss_curve_), int(cut.triplet_curve_[-1]))
    as_full = (full.n_iter_, len(full.loss_curve_), int(full.triplet_curve_[-1]))
    is_factor = cut._last_round_ is None
    assert (counted == as_full) != is_factor
    assert counted[0] <= as_full[0]


def test_files_say_the_recipe_and_what_the_chosen_learner_resolved(tmp_path: Path) -> None:
    TripletSGD(random_state=0).fit(X, Y).save(tmp_path / "one")
    loaded = load(tmp_path / "one")
    assert loaded.recipe_ is not None
    assert loaded.recipe_["triplets"] == "all-pairs"
    candidates = [("sgd", TripletSGD(n_triplets=2000))]
    MetricCV(candidates, random_state=0).fit(X, Y).save(tmp_path / "two")
    loaded = load(tmp_path / "two")
    assert loaded.recipe_ is not None
    assert loaded.resolved_["n_triplets"] == 2000
    assert loaded.facts_["chosen_"] == "sgd"


@each_learner
def test_two_threads_cannot_fit_one_estimator(name: str) -> None:
    estimator = little(name)
    with inputs.restored_on_failure(estimator), ThreadPoolExecutor(1) as pool:
        other = pool.submit(estimator.fit, X, Y)
        with pytest.raises(RuntimeError, match=f"Another thread is fitting this {name}"):
            other.result()
        estimator.fit(X, Y)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(estimator.fit, X, Y).result()
