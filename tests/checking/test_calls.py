"""The command that counts which of our functions a fit goes through."""

from __future__ import annotations

import numpy as np
from checks import calls
from checks.calls import Function

from calipers import recipes
from calipers.data.triplets import GivenTriplets
from calipers.metric import init


def test_calls_of_our_functions_are_counted() -> None:
    def call() -> None:
        for _ in range(3):
            init.evenly_spaced(10, 5)
        sorted([2, 1])

    assert calls.counted_calls(call) == {("metric/init.py", "evenly_spaced"): 3}


def test_a_generator_is_one_call() -> None:
    source = GivenTriplets(np.zeros((10, 3), dtype=np.intp))
    counts = calls.counted_calls(lambda: list(source.portions(2)))
    assert [n for function, n in counts.items() if function.name.endswith("portions")] == [1]


def test_functions_have_qualified_names_and_classes_none() -> None:
    counts = calls.counted_calls(recipes.all_pairs_sgd)
    assert counts[Function("solvers/recipes.py", "Recipe.__post_init__")] == 1
    assert not [name for _, name in counts if name.startswith("<")]
