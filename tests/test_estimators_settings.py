"""Settings that are refused: the full sentence for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from little_learners import (
    X,
    Y,
    each_learner,
    little,
    small,
)


def interval(name: str, kind: str, limits: str, got: str) -> str:
    return (
        f"The {name!r} parameter of TripletSGD must be {kind} in the range {limits}. "
        f"Got {got} instead."
    )


REFUSED_EVERYWHERE: list[tuple[str, Any, str]] = [
    (
        "n_components",
        5,
        "TripletSGD was asked for n_components=5, but X has 4 features: ask for at most 4, or "
        "None for all.",
    ),
]


@each_learner
@pytest.mark.parametrize(("setting", "value", "sentence"), REFUSED_EVERYWHERE)
def test_settings_refused_by_every_learner(
    setting: str, value: Any, sentence: str, name: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        little(name, **{setting: value}).fit(X, Y)
    assert str(caught.value) == sentence.replace("TripletSGD", name)


@pytest.mark.parametrize(
    ("name", "setting", "allowed"),
    [
        ("SPML", "n_triplets", "an int in the range [1, inf)"),
        ("OASIS", "n_triplets", "an int in the range [1, inf)"),
        ("LEGO", "n_triplets", "an int in the range [1, inf)"),
        ("ITML", "n_triplets", "an int in the range [1, inf)"),
        ("SPML", "n_neighbors", "an int in the range [1, inf)"),
        ("OASIS", "n_neighbors", "an int in the range [1, inf)"),
        ("LEGO", "n_neighbors", "an int in the range [1, inf)"),
        ("ITML", "n_neighbors", "an int in the range [1, inf)"),
        ("SPML", "ridge", "a float in the range (0.0, inf)"),
        ("OASIS", "aggressiveness", "a float in the range (0.0, inf)"),
        ("LEGO", "learning_rate", "a float in the range (0.0, inf)"),
        ("LEGO", "near_distance", "a float in the range (0.0, inf) or None"),
        ("LEGO", "far_distance", "a float in the range (0.0, inf) or None"),
        ("ITML", "slack_weight", "a float in the range (0.0, inf)"),
        ("ITML", "near_distance", "a float in the range (0.0, inf) or None"),
        ("ITML", "far_distance", "a float in the range (0.0, inf) or None"),
    ],
)
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_settings_refused_by_one_learner(
    name: str, setting: str, allowed: str, value: float
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        little(name, **{setting: value}).fit(X, Y)
    assert str(caught.value) == (
        f"The {setting!r} parameter of {name} must be {allowed}. Got {value} instead."
    )


REFUSED_SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"n_triplets": 0}, interval("n_triplets", "an int", "[1, inf) or None", "0")),
    ({"n_triplets": 10.0}, interval("n_triplets", "an int", "[1, inf) or None", "10.0")),
    ({"batch_size": 0}, interval("batch_size", "an int", "[1, inf) or None", "0")),
    ({"learning_rate": 0.0}, interval("learning_rate", "a float", "(0.0, inf) or None", "0.0")),
    ({"learning_rate": np.nan}, interval("learning_rate", "a float", "(0.0, inf) or None", "nan")),
    ({"learning_rate": np.inf}, interval("learning_rate", "a float", "(0.0, inf) or None", "inf")),
    ({"smoothness": -1.0}, interval("smoothness", "a float", "(0.0, inf) or None", "-1.0")),
    ({"radius": 0.0}, interval("radius", "a float", "(0.0, inf)", "0.0")),
    ({"n_neighbors": 0}, interval("n_neighbors", "an int", "[1, inf) or None", "0")),
    (
        {"n_components": 0},
        "The 'n_components' parameter of TripletSGD must be an int in the range [1, inf) or "
        "None. Got 0 instead.",
    ),
    (
        {"tau_max": 0.0},
        "The 'tau_max' parameter of TripletSGD must be a float in the range (0.0, inf) or None. "
        "Got 0.0 instead.",
    ),
    (
        {"method": "as_sgd"},
        "The 'method' parameter of TripletSGD must be one of 'auto', 'sgd', 'mini-sgd', 'as-sgd', "
        "'hr-sgd', 'ha-sgd', got 'as_sgd'. Did you mean 'as-sgd'?",
    ),
    (
        {"method": "HR-SGD"},
        "The 'method' parameter of TripletSGD must be one of 'auto', 'sgd', 'mini-sgd', 'as-sgd', "
        "'hr-sgd', 'ha-sgd', got 'HR-SGD'. Did you mean 'hr-sgd'?",
    ),
    (
        {"method": "xxxxxxxx"},
        "The 'method' parameter of TripletSGD must be one of 'auto', 'sgd', 'mini-sgd', 'as-sgd', "
        "'hr-sgd', 'ha-sgd', got 'xxxxxxxx'.",
    ),
    (
        {"radius": 1.9},
        "TripletSGD starts at the identity, whose norm 2 (for 4 features) exceeds radius=1.9: "
        "raise radius above it.",
    ),
    (
        {"n_components": 5},
        "TripletSGD was asked for n_components=5, but X has 4 features: ask for at most 4, or "
        "None for all.",
    ),
    (
        {"method": "mini-sgd", "n_triplets": 9},
        "TripletSGD has 9 triplets, fewer than one batch of batch_size=10: raise n_triplets or "
        "lower batch_size.",
    ),
]


@pytest.mark.parametrize(("settings", "sentence"), REFUSED_SETTINGS)
def test_refused_settings(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        small(**settings).fit(X, Y)
    assert str(caught.value) == sentence
    if "n_triplets" not in settings:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            small(**settings).fit_triplets(X, [[0, 1, 2]] * 20)
        assert str(caught.value) == sentence


@pytest.mark.parametrize("name", ["scale", "gradient_bound", "batch_reduce"])
def test_refused_choices(name: str) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of TripletSGD must be a str"):
        small(**{name: "nonsense"}).fit(X, Y)
