"""Python values as JSON, and JSON values that are believed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from calipers.metric.file.values import NotPlainError, is_json, is_number, is_object, plain, to_json


class Loss(NamedTuple):
    margin: float = 1.0


@dataclass(frozen=True)
class Policy:
    names: tuple[str, ...] = ("a",)


@dataclass(frozen=True)
class Recipe:
    batch_size: int = 10
    loss: Loss = field(default_factory=Loss)
    policy: Policy = field(default_factory=Policy)
    radius: float = float("inf")
    init: Any = None


def test_dataclasses_and_named_tuples_are_their_fields() -> None:
    expected = {
        "type": "Recipe",
        "batch_size": 10,
        "loss": {"type": "Loss", "margin": 1.0},
        "policy": {"type": "Policy", "names": ["a"]},
        "radius": "inf",
        "init": None,
    }
    assert to_json(Recipe()) == plain(Recipe()) == expected
    assert to_json(Recipe) == f"<class '{Recipe.__module__}.Recipe'>"  # the class, not one of it


def test_arrays_within_are_described() -> None:
    found = to_json(Recipe(init=np.zeros((2, 3), dtype=np.float32)))
    assert isinstance(found, dict)
    assert found["init"] == {"type": "ndarray", "shape": [2, 3], "dtype": "float32"}
    with pytest.raises(NotPlainError):
        plain(Recipe(init=np.zeros(2)))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        (float("nan"), "nan"),
        (2**63, str(2**63)),
        ("a\ud800", "a\\ud800"),
        ((1, [2, "x"]), [1, [2, "x"]]),
        ({"a": (1,)}, {"a": [1]}),
        ({1: 2}, "{1: 2}"),
        (object, "<class 'object'>"),
        ([object], ["<class 'object'>"]),
        (list(range(10_001)), str(list(range(10_001)))[:200]),
        (np.random.RandomState(0), "RandomState(MT19937)"),
    ],
    ids=[f"value {number}" for number in range(12)],
)
def test_other_values(value: Any, expected: Any) -> None:
    found = to_json(value)
    assert found == expected
    assert type(found) is type(expected)
    assert is_json(found)


@pytest.mark.parametrize("value", [object(), [object()], {1: 2}, list(range(10_001))])
def test_what_is_not_plain(value: Any) -> None:
    with pytest.raises(NotPlainError):
        plain(value)


def test_a_list_within_itself_ends() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert is_json(to_json(endless))
    with pytest.raises(NotPlainError):
        plain(endless)


def test_json_that_is_not_believed() -> None:
    deep: Any = 1
    for _ in range(12):
        deep = [deep]
    for value in (deep, {"a": deep}, float("nan"), [10**400], {"\ud800": 1}, {"a": ["\ud800"]}):
        assert not is_json(value)
    assert not is_object([1])
    assert is_json({"a": [1, {"b": None}]})
    assert not is_number("1")
