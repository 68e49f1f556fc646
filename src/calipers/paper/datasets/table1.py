"""The paper's Table 1: what each of its data sets must measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Size(NamedTuple):
    """A row of Table 1."""

    n_classes: int
    n_features: int
    n_train: int
    n_test: int


SIZES: Mapping[str, Size] = {
    "semeion": Size(10, 256, 1_115, 478),
    "dna": Size(3, 180, 2_000, 1_186),
    "isolet": Size(26, 617, 6_238, 1_559),
    "tdt30": Size(30, 200, 6_575, 2_819),
    "letter": Size(26, 16, 15_000, 5_000),
    "protein": Size(3, 357, 17_766, 6_621),
    "connect4": Size(3, 42, 47_289, 20_268),
    "sensit": Size(3, 100, 78_823, 19_705),
    "rcv20": Size(20, 200, 477_141, 14_185),
    "poker": Size(10, 10, 1_000_000, 25_010),
}
"""Table 1: classes, features, training and test examples."""
