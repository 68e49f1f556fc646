"""The list of the functions that a default fit goes through."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from checks import calls
from checks.__main__ import main
from checks.calls import Function

from calipers import recipes
from calipers.data.triplets import GivenTriplets
from calipers.estimators import TripletSGD
from calipers.metric import init
from calipers.solvers import plan


def test_calls_of_our_functions_are_counted() -> None:
    def call() -> None:
        for _ in range(3):
            init.evenly_spaced(10, 5)
        sorted([2, 1])

    assert calls.counted_calls(call) == {("init.py", "evenly_spaced"): 3}


def test_a_generator_is_one_call() -> None:
    source = GivenTriplets(np.zeros((10, 3), dtype=np.intp))
    counts = calls.counted_calls(lambda: list(source.portions(2)))
    assert counts[Function("triplets/draw.py", "GivenTriplets.portions")] == 1


def test_functions_have_qualified_names_and_classes_none() -> None:
    counts = calls.counted_calls(
        lambda: plan.plan_for_labels((90, 4), recipes.all_pairs_sgd(), TripletSGD())
    )
    assert counts[Function("recipes.py", "Recipe.__post_init__")] == 1
    assert counts[Function("plan.py", "plan_for_labels")] == 1
    assert not [name for _, name in counts if name.startswith("<")]


def test_a_default_fit_is_one_fit_and_a_solver_for_every_round(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calls", "--rows", str(tmp_path / "rows.jsonl")]) == 0
    said = capsys.readouterr().out
    assert f" 1 fits, {plan.N_ROUNDS} solvers" in said
    assert "FromLabels.fit" in said
