"""Lines that users of metric-learn write, with another import."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils import get_tags

import calipers
from calipers import switching
from learners import LEARNERS, each_learner

QUICK_START = """
from metric_learn import NCA
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

X, y = load_iris(return_X_y=True)
clf = make_pipeline(NCA(), KNeighborsClassifier())
scores = cross_val_score(clf, X, y)
"""

SUPERVISED = """
from metric_learn import {name}
model = {name}(n_components=2).fit(X, y)
transformed = model.fit_transform(X, y)
metric = model.get_metric()
distance = metric(X[0], X[1])
distances = model.pair_distance(X[:2][None])
scores = model.pair_score(X[:2][None])
M = model.get_mahalanobis_matrix()
L = model.components_
"""


def run(lines: str, **names: Any) -> dict[str, Any]:
    exec(lines.replace("metric_learn", "calipers"), names)
    return names


def test_its_first_lines() -> None:
    assert run(QUICK_START)["scores"].mean() > 0.9


@pytest.mark.parametrize("name", ["NCA", "LMNN", "LFDA", "MLKR", "RCA"])
def test_learners_from_labels(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    got = run(SUPERVISED.format(name=name), X=X, y=y)
    np.testing.assert_allclose(got["transformed"], X @ got["L"].T)
    np.testing.assert_allclose(got["M"], got["L"].T @ got["L"])
    np.testing.assert_allclose(got["distances"], got["distance"])
    np.testing.assert_allclose(got["scores"], -got["distances"])


@pytest.mark.parametrize("name", sorted(switching.SHARED))
def test_the_page_has_every_name_that_both_have(name: str) -> None:
    page = Path(__file__).parents[1] / "docs" / "metric_learn.rst"
    assert page.read_text().count(f"``{name}(") >= 2
    assert hasattr(calipers, name)


@pytest.mark.parametrize("name", ["ITML", "NCA", "SCML"])
@pytest.mark.parametrize("pairs", [np.ones((5, 2, 3)), np.ones((5, 2, 3)).tolist()], ids=type)
@pytest.mark.parametrize("y", [(np.ones(5),), ()], ids=["labels", "no labels"])
def test_pairs_of_samples_are_shown_another_way(name: str, pairs: Any, y: Any) -> None:
    learner = getattr(calipers, name)()
    with pytest.raises(ValueError, match=r"got shape \(5, 2, 3\): pass pairs") as error:
        learner.fit(pairs, *y)
    for kind, method in (("Pair", "fit_pairs"), ("Triplet", "fit_triplets")):
        (named,) = re.findall(rf"{kind}Classifier\((\w+)\(\)\)", str(error.value))
        assert hasattr(getattr(calipers, named)(), method)
        assert (named == name) == hasattr(learner, method)


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - {"Euclidean", "Scaled"}))
def test_labels_that_are_missing(name: str) -> None:
    assert get_tags(LEARNERS[name]).target_tags.required
    with pytest.raises(ValueError, match=f"^{name} requires y .*: pass a label for each, or learn"):
        LEARNERS[name].fit(np.ones((5, 2)))


PREPROCESSOR = {
    "ITML": r"ITML\(\)\.fit_pairs\(X, pairs, y\), or PairClassifier\(ITML\(\), preprocessor=X\)",
    "SCML": r"SCML\(\)\.fit_triplets\(X, triplets\), or TripletClassifier\(SCML\(\), prepro",
    "NCA": r"NCA\(\)\.fit\(X\[indices\], y\)",
}


@pytest.mark.parametrize("name", PREPROCESSOR)
def test_a_preprocessor_is_answered_by_another_way(name: str) -> None:
    message = f"^{name} has no parameter 'preprocessor', .*: .*write {PREPROCESSOR[name]}"
    with pytest.raises(TypeError, match=message):
        getattr(calipers, name)(preprocessor=np.ones((3, 2)))


@each_learner
def test_unknown_words_are_left_to_python(name: str) -> None:
    learner = type(LEARNERS[name])
    with pytest.raises(TypeError, match="unexpected keyword argument 'no_such_word'"):
        learner(no_such_word=True)
    assert "n_components" in inspect.signature(learner).parameters


NAMES = {name for learner in LEARNERS.values() for name in learner.get_params(deep=False)}
METHODS = {"set_callbacks", "fit_pairs", "fit_triplets"}


@each_learner
@pytest.mark.parametrize("word", switching._INSTEAD)
def test_an_answer_names_only_what_the_learner_has(name: str, word: str) -> None:
    learner = LEARNERS[name]
    if word in learner.get_params(deep=False):
        return
    with pytest.raises(TypeError, match=f"'{word}'") as refused:
        type(learner)(**{word: 1})
    said = str(refused.value)
    assert ("metric-learn" in said) == (name in switching.SHARED)
    if "unexpected keyword" in said:
        assert name not in switching.SHARED
        return
    answer = said.removeprefix(f"{name} has no parameter '{word}'")
    named = {*re.findall(r"\w+", answer)}
    assert named & NAMES <= {*learner.get_params(deep=False)}
    assert {method for method in named & METHODS if not hasattr(learner, method)} == set()
    if word == "verbose":
        assert ("ProgressBar" in answer) == hasattr(learner, "set_callbacks")


def test_steps_of_scml_are_triplets_drawn_or_given() -> None:
    said = r"draws; batch_size of them are a step; fit_triplets takes each given triplet once, so"
    with pytest.raises(TypeError, match=said):
        calipers.SCML(max_iter=9)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"say n_triplets, which fit\(X, y\) draws\.$"):
        calipers.OASIS(max_iter=9)  # type: ignore[call-arg]


@pytest.mark.parametrize("word", ["max_iter", "gamma", "verbose"])
def test_a_class_that_metric_learn_has_not_is_not_spoken_of_as_its(word: str) -> None:
    with pytest.raises(TypeError, match=rf"^.*unexpected keyword argument '{word}'$"):
        calipers.Euclidean(**{word: 1})
    with pytest.raises(TypeError, match=r"^GMML has no parameter 'preprocessor': write GMML\(\)"):
        calipers.GMML(preprocessor=np.ones((3, 2)))  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("name", "word", "ours"),
    [
        ("LFDA", "k", "n_neighbors"),
        ("ITML", "gamma", "slack_weight"),
        ("LMNN", "regularization", "push_weight"),
        ("SCML", "beta", "l1_weight"),
        ("SCML", "gamma", "learning_rate"),
        ("ITML", "n_constraints", "n_triplets"),
        ("SCML", "max_iter", "n_triplets"),
    ],
)
def test_the_word_to_use_is_a_parameter(name: str, word: str, ours: str) -> None:
    learner = getattr(calipers, name)
    assert ours in learner().get_params()
    with pytest.raises(TypeError, match=f"'{word}', which metric-learn has: say {ours}"):
        learner(**{word: 1})


@pytest.mark.parametrize("name", ["NCA", "MLKR", "TripletSGD"])
@pytest.mark.parametrize("init", switching._INITS)
def test_initial_metrics_are_answered_by_ours(name: str, init: str) -> None:
    X, y = load_iris(return_X_y=True)
    said = f"^{name} has no init='{init}', which metric-learn has: .* say '([a-z-]+)'"
    with pytest.raises(ValueError, match=said) as refused:
        getattr(calipers, name)(init=init).fit(X, y)
    ours = re.findall("say '([a-z-]+)'", str(refused.value))[0]
    getattr(calipers, name)(init=ours).fit(X, y)


@pytest.mark.parametrize("name", ["NCA", "TripletSGD"])
def test_an_initial_matrix_has_the_components_asked_for(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    learner = getattr(calipers, name)
    assert learner(init=np.eye(4), n_components=3).fit(X, y).components_.shape == (3, 4)
    with pytest.raises(ValueError, match="n_components=3, but init has 2 rows: set at most 2"):
        learner(init=np.eye(4)[:2], n_components=3).fit(X, y)


@pytest.mark.parametrize("name", switching._CLASSES)
def test_classes_are_answered_by_what_to_write(name: str) -> None:
    with pytest.raises(
        ImportError, match=f"^calipers has no {name}, which metric-learn has: "
    ) as no:
        exec(f"from calipers import {name}")
    for ours in re.findall(r"(\w+)\(\)\.", str(no.value)):
        assert hasattr(calipers, ours)
    for learner, method in re.findall(r"(\w+)\(\)\.(\w+)", str(no.value)):
        assert hasattr(getattr(calipers, learner), method)
