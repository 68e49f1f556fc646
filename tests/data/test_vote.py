"""The k-nearest-neighbour vote."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from calipers.arrays import IndexArray
from calipers.data.neighbors.vote import vote


@given(
    hnp.arrays(np.intp, st.tuples(st.integers(0, 6), st.integers(1, 7)), elements=st.integers(0, 3))
)
def test_most_votes_win_and_the_nearest_breaks_ties(labels: IndexArray) -> None:
    for classes, winner in zip(labels.tolist(), vote(labels).tolist(), strict=True):
        most = max(classes.count(c) for c in classes)
        assert winner == next(c for c in classes if classes.count(c) == most)
