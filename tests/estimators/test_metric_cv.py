"""MetricCV: the one-standard-error rule, what is compared and kept, Ctrl-C, callbacks."""

from __future__ import annotations

import re
import signal
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from calipers import (
    Discriminant,
    Euclidean,
    MetricCV,
    Scaled,
    TripletSGD,
    WithinClass,
)
from calipers.estimators.metric_cv import label_candidates, pair_candidates, triplet_candidates
from calipers.evaluation import scores
from calipers.interrupt import InterruptedFitWarning
from calipers.metric.mahalanobis import MahalanobisMixin
from learners import iris, random_triplets
from watch import Quiet, Tasks

X, Y = iris()
WINE, WINE_Y = load_wine(return_X_y=True)
SMALL = TripletSGD(n_triplets=500, n_neighbors=3)
THREE: list[tuple[str, Any]] = [("euclidean", Euclidean()), ("scaled", Scaled()), ("sgd", SMALL)]


class Multiple(MahalanobisMixin):
    """A learner of a multiple of the identity."""

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def fit(self, X: Any, y: Any = None) -> Self:
        self.n_features_in_ = X.shape[1]
        self.components_ = self.factor * np.eye(X.shape[1])
        self.n_updates_ = 0
        return self


def multiples(n: int) -> list[tuple[str, Any]]:
    return [(f"times {k + 1}", Multiple(k + 1.0)) for k in range(n)]


# The rule


@example([0.01, 0.0], 0.0, 0)  # differences that do not vary, however much the errors do
@example([0.01, 0.0], 1.0, 0)
@given(
    st.lists(st.sampled_from([-0.2, -0.05, 0.0, 0.01, 0.05, 0.3]), min_size=1, max_size=5),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.integers(0, 2**32 - 1),
)
def test_the_first_within_one_standard_error_of_the_best(
    shifts: list[float], spread: float, seed: int
) -> None:
    """On made-up errors of each sample under each candidate."""
    rng = np.random.default_rng(seed)
    n = len(X)
    made_up = rng.random(n) + np.array(shifts)[:, None]
    made_up += spread * rng.standard_normal(made_up.shape)

    def errors(Z: Any, labels: Any, held: Any) -> Any:
        return made_up[round(float(Z[0, 0] / X[0, 0])) - 1, held]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scores, "impostor_share", errors)
        fitted = MetricCV(multiples(len(shifts)), random_state=0).fit(X, Y)
    means = made_up.mean(axis=1)
    best = int(means.argmin())
    differences = made_up - made_up[best]
    within = differences.mean(axis=1) <= differences.std(axis=1, ddof=1) / n**0.5
    within[best] = True
    expected = int(np.argmax(within))
    assert fitted.best_index_ == expected
    assert fitted.chosen_ == f"times {expected + 1}"
    assert fitted.best_score_ == pytest.approx(-means[expected])
    np.testing.assert_allclose(fitted.cv_results_["mean_test_score"], -means)
    np.testing.assert_array_equal(fitted.components_, (expected + 1) * np.eye(4))
    lowest = "has the lowest validation error" in fitted.reason_
    assert lowest == (expected == best)


def test_where_nothing_beats_euclidean_it_is_said_first() -> None:
    rng = np.random.default_rng(0)
    fitted = MetricCV(THREE, random_state=0).fit(rng.standard_normal((90, 3)), np.arange(90) % 3)
    assert fitted.chosen_ == "euclidean"
    np.testing.assert_array_equal(fitted.components_, np.eye(3))
    assert fitted.n_updates_ == 0
    start = "Nothing tried beats the Euclidean distance: 'euclidean' has "
    assert fitted.reason_.startswith(start)
    assert repr(fitted).startswith(start)
    assert repr(clone(fitted)).startswith("MetricCV(candidates=")
    noise = np.random.default_rng(1).permutation(Y)
    fitted = MetricCV(THREE, max_compared=60, random_state=0).fit(X, noise)
    told = " on 60 of 150 samples: 'euclidean' has "
    assert fitted.reason_.startswith(start.split(":")[0] + told)


# What is compared


def test_labels() -> None:
    fitted = MetricCV(random_state=0).fit(WINE, WINE_Y)
    assert fitted.chosen_ != "euclidean"
    names = [name for name, _ in label_candidates()]
    assert fitted.cv_results_["param_candidate"].tolist() == names
    assert names[:4] == ["euclidean", "scaled", "within-class", "discriminant"]
    assert repr(fitted).startswith(f"{fitted.chosen_!r} was chosen: it has ")
    assert fitted.classes_.tolist() == [0, 1, 2]
    again = clone(fitted.best_estimator_).fit(WINE, WINE_Y)
    np.testing.assert_array_equal(fitted.components_, again.components_)
    np.testing.assert_array_equal(fitted.transform(WINE), again.transform(WINE))


def split(triplets: Any, samples: Any, feature: int) -> Any:
    """Triplets and pairs that only one feature decides."""
    anchor, a, b = triplets.T
    values = samples[:, feature]
    swap = np.abs(values[anchor] - values[a]) > np.abs(values[anchor] - values[b])
    return np.column_stack([anchor, np.where(swap, b, a), np.where(swap, a, b)])


@pytest.mark.filterwarnings("ignore:ITML stopped after max_iter")  # ITML may stop early here
def test_triplets_and_pairs() -> None:
    """Samples are small where it counts."""
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((80, 5)) * [0.1, 3.0, 1.0, 1.0, 1.0]
    triplets = split(random_triplets(80, 1500), samples, 0)
    fitted = MetricCV(random_state=0).fit_triplets(samples, triplets)
    assert fitted.chosen_.startswith("triplet-sgd")
    assert len(fitted.cv_results_["params"]) == len(triplet_candidates())
    M = fitted.get_mahalanobis_matrix()
    assert M[0, 0] * 0.1**2 > np.diag(M)[1] * 3.0**2
    assert not hasattr(fitted, "classes_")
    some = triplets[:300]
    pairs = np.vstack([some[:, [0, 1]], some[:, [0, 2]]])
    signs = np.repeat([1, -1], 300)
    fitted = MetricCV(random_state=0).fit_pairs(samples, pairs, signs)
    assert fitted.chosen_ != "euclidean"
    assert len(fitted.cv_results_["params"]) == len(pair_candidates())
    worst = fitted.cv_results_["mean_test_score"][0]
    assert -0.5 < worst < fitted.best_score_ < 0.0


def test_folds_keep_the_triplets_of_an_anchor_together(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    class Recorded(TripletSGD):
        def fit_triplets(self, X: Any, triplets: Any, **more: Any) -> Any:
            seen.append(X[triplets[:, 0], 0])
            return super().fit_triplets(X, triplets, **more)

    triplets = np.vstack([random_triplets(30, 5)] * 40)
    triplets[:, 0] = np.arange(200) % 20
    triplets = triplets[(triplets[:, 0] != triplets[:, 1]) & (triplets[:, 0] != triplets[:, 2])]
    candidates = [("sgd", Recorded("as-sgd", random_state=0))]
    MetricCV(candidates, random_state=0).fit_triplets(X[:30], triplets)
    *folds, whole = [set(anchors.tolist()) for anchors in seen]
    left_out = [whole - fold for fold in folds]
    assert set.union(*left_out) == whole
    assert sum(map(len, left_out)) == len(whole)


def test_many_samples_are_compared_by_some_and_learned_from_all() -> None:
    class Sizes(Euclidean):
        seen: ClassVar[list[int]] = []

        def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **more: Any) -> Any:
            Sizes.seen.append(len(X))
            return super().fit(X, y, sample_weight, **more)

    samples = np.random.default_rng(0).standard_normal((400, 2))
    candidates, labels = [("sizes", Sizes())], np.arange(400) % 2
    MetricCV(candidates, cv=2, max_compared=300, random_state=0).fit(samples, labels)
    assert Sizes.seen == [150, 150, 400]


def test_many_small_classes_in_order_are_compared_whole() -> None:
    """Of evenly spaced samples no class had two, and every error was 1."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(200), 4)
    samples = rng.normal(size=(200, 6))[y] + rng.normal(size=(800, 6)) * [9, 9, 9, 0.1, 0.1, 0.1]
    candidates = [*THREE[:2], ("within-class", WithinClass())]
    fitted = MetricCV(candidates, max_compared=150, random_state=0).fit(samples, y)
    assert fitted.chosen_ == "within-class"
    assert -fitted.best_score_ < 0.9


def test_pairs_and_triplets_are_compared_by_some() -> None:
    class Counts(Euclidean):
        seen: ClassVar[list[int]] = []

        def fit_pairs(self, X: Any, pairs: Any, same: Any) -> Any:
            Counts.seen.append(len(pairs))
            return self.fit(X)

        def fit_triplets(self, X: Any, triplets: Any) -> Any:
            Counts.seen.append(len(triplets))
            return self.fit(X)

    metric = MetricCV([("counts", Counts())], cv=2, max_compared=20, random_state=0)
    triplets = np.stack([np.arange(60), np.arange(60, 120), np.arange(30, 90)], axis=1)
    metric.fit_pairs(X, triplets[:, :2], np.where(np.arange(60) % 2, 1, -1))
    metric.fit_triplets(X, triplets)
    assert sum(Counts.seen[:2]) == sum(Counts.seen[3:5]) == 20
    assert Counts.seen[2::3] == [60, 60]


def test_components_are_asked_of_every_candidate() -> None:
    candidates = [*THREE, ("lda", Discriminant())]
    fitted = MetricCV(candidates, n_components=2, random_state=0).fit(WINE, WINE_Y)
    assert fitted.components_.shape == (2, 13)
    assert fitted.best_estimator_.n_components == 2
    scored = MetricCV(THREE[:1], n_components=1, random_state=0).fit(WINE, WINE_Y).best_score_
    whole = MetricCV(THREE[:1], random_state=0).fit(WINE, WINE_Y).best_score_
    assert scored != whole  # judged as asked for


def test_a_candidate_that_cannot_be_fitted_is_left_out() -> None:
    labels = np.where(np.arange(150) < 147, Y, 7)
    candidates = [("many", TripletSGD(n_neighbors=130)), *THREE]
    fitted = MetricCV(candidates, random_state=0).fit(X, labels)
    assert fitted.notes_[-1].startswith(
        "The candidate 'many' was left out: TripletSGD has n_neighbors=130"
    )
    assert np.isnan(fitted.cv_results_["mean_test_score"][0])
    assert fitted.cv_results_["rank_test_score"][0] == 4
    with pytest.raises(ValueError, match=r"^No candidate of MetricCV could be fitted: TripletSGD"):
        MetricCV(candidates[:1]).fit(X, labels)
    pairs = random_triplets(150, 60)[:, :2], np.arange(60) % 2 * 2 - 1
    sentence = "MetricCV.fit_pairs cannot use the candidate 'sgd': TripletSGD has no fit_pairs"
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        MetricCV(THREE, random_state=0).fit_pairs(X, *pairs)


def test_results_are_in_the_form_of_grid_search() -> None:
    fitted = MetricCV(THREE, random_state=0).fit(WINE, WINE_Y)
    grid = {"n_neighbors": [1, 2, 3]}
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=3).fit(WINE, WINE_Y)
    results = fitted.cv_results_
    for name, got in results.items():
        value = search.cv_results_[name.replace("candidate", "n_neighbors")]
        assert type(got) is type(value)
        assert len(got) == len(value) == 3
    splits = [results[f"split{fold}_test_score"] for fold in range(3)]
    np.testing.assert_allclose(results["std_test_score"], np.std(splits, axis=0))
    order = np.argsort(-results["mean_test_score"])
    assert results["rank_test_score"][order].tolist() == [1, 2, 3]
    assert results["params"][fitted.best_index_] == {"candidate": fitted.chosen_}


# Jobs, seeds, Ctrl-C, callbacks


def test_any_number_of_jobs_gives_the_same_bits() -> None:
    one, two = (MetricCV(THREE, n_jobs=n, random_state=0).fit(X, Y) for n in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)
    for name, value in one.cv_results_.items():
        if "time" not in name and name != "params":
            np.testing.assert_array_equal(two.cv_results_[name], value)
    other = MetricCV(THREE, random_state=1).fit(X, Y)
    assert (one.cv_results_["split0_test_score"] != other.cv_results_["split0_test_score"]).any()


def test_a_seed_of_its_own_is_kept() -> None:
    candidates = [("own", clone(SMALL).set_params(random_state=5)), ("none", SMALL)]
    fitted = MetricCV(candidates, random_state=0).fit(X, Y)
    assert fitted.chosen_ == "own" or fitted.best_estimator_.random_state != 5
    assert MetricCV(candidates[:1]).fit(X, Y).best_estimator_.random_state == 5
    assert candidates[1][1].random_state is None


@pytest.mark.parametrize(
    ("candidates", "sentence"),
    [
        ([], "as (name, learner) tuples, each with a name of its own, got []."),
        (THREE[:1] * 2, "as (name, learner) tuples, each with a name of its own, got [("),
        ([Euclidean()], "as (name, learner) tuples, each with a name of its own, got [Euclidean"),
        ([("a", "b")], "learners of calipers, got 'b'."),
    ],
)
def test_candidates_that_are_none(candidates: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        MetricCV(candidates).fit(X, Y)


class AfterFits(Quiet):
    """Presses Ctrl-C after so many fits."""

    def __init__(self, n: int) -> None:
        self.left = n

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_while_choosing_keeps_the_best_so_far() -> None:
    learner = MetricCV(THREE, random_state=0).set_callbacks(AfterFits(7))
    with pytest.warns(InterruptedFitWarning, match=r"compared by then \('scaled'\)") as caught:
        learner.fit(WINE, WINE_Y)
    assert caught[0].filename == __file__
    assert learner.interrupted_
    spread = WINE.std(axis=0)  # it was learned from two folds of three
    np.testing.assert_allclose(
        np.sort(learner.components_.max(axis=0)), np.sort(1 / spread), rtol=0.2
    )
    assert np.isnan(learner.cv_results_["mean_test_score"]).tolist() == [False, False, True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(ValueError, match="the comparison was interrupted"):
        MetricCV(THREE, random_state=0).set_callbacks(AfterFits(1)).fit(WINE, WINE_Y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_count_fits(n_jobs: int) -> None:
    tasks = Tasks()
    fitted = MetricCV(THREE[2:], n_jobs=n_jobs, random_state=0).set_callbacks(tasks).fit(X, Y)
    assert tasks.ended == [("MetricCV", "step")] * 4 + [("MetricCV", "fit")]
    again = MetricCV(THREE[2:], random_state=0).fit(X, Y)
    np.testing.assert_array_equal(fitted.components_, again.components_)
