"""Paired comparisons, against SciPy."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.evaluation.paired import mean_and_error, sign_test

SMALL = st.lists(st.integers(-3, 3), min_size=2, max_size=30)


@given(SMALL)
def test_mean_and_standard_error_are_those_of_scipy(differences: list[int]) -> None:
    mean, error = mean_and_error(differences)
    assert mean == pytest.approx(np.mean(differences))
    assert error == pytest.approx(stats.sem(differences))


def test_one_difference_tells_no_error_and_none_is_refused() -> None:
    assert mean_and_error([3.0]) == (3.0, inf)
    with pytest.raises(ValueError, match="at least one paired difference, got none"):
        mean_and_error([])


@given(SMALL)
def test_the_sign_test_is_the_binomial_one(differences: list[int]) -> None:
    above = sum(d > 0 for d in differences)
    n = above + sum(d < 0 for d in differences)
    expected = stats.binomtest(above, n).pvalue if n else 1.0
    assert sign_test(differences) == pytest.approx(expected)
