"""Pairs made of triplets."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.data.triplets import GivenTriplets, PairsOfTriplets
from reference.plain_online import pairs_of

TRIPLETS = np.arange(33).reshape(11, 3)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 21, 22, 23, 1000])
def test_portions_are_parts_of_one_list(size: int) -> None:
    source = PairsOfTriplets(GivenTriplets(TRIPLETS))
    portions = list(source.portions(size))
    assert len(source) == 22
    assert {len(portion) for portion in portions[:-1]} <= {size}
    np.testing.assert_array_equal(np.concatenate(portions), pairs_of(TRIPLETS))
