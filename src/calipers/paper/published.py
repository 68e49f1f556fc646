"""The numbers that the paper published in its Tables 1 to 4, as plain data.

Qian, Jin, Yi, Zhang and Zhu, "Efficient Distance Metric Learning by Adaptive Sampling and
Mini-Batch Stochastic Gradient Descent", arXiv 1304.1192 (2013). NaN stands for the
"N/A" of the paper. Counts with a decimal are means of ten splits.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import NamedTuple, TypeAlias

Rows: TypeAlias = Mapping[str, Mapping[str, float]]


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

TABULATED = (
    "euclidean",
    "lmnn",
    "lego",
    "oasis",
    "spml",
    "sgd",
    "mini-sgd",
    "as-sgd",
    "hr-sgd",
    "ha-sgd",
)
"""The ten systems in the order of the tables' columns."""


def _by_method(methods: tuple[str, ...], rows: Mapping[str, tuple[float, ...]]) -> Rows:
    return {name: dict(zip(methods, row, strict=True)) for name, row in rows.items()}


ERRORS = _by_method(
    TABULATED,
    {
        "semeion": (8.7, 9.0, 11.9, 8.3, 6.3, 6.3, 6.5, 6.3, 6.4, 6.2),
        "dna": (20.7, 6.2, 9.3, 16.6, 9.1, 8.6, 9.4, 8.4, 8.1, 8.1),
        "isolet": (9.0, 5.4, 8.3, 6.5, 6.6, 6.3, 6.2, 6.0, 6.4, 6.1),
        "tdt30": (5.3, 3.0, 14.6, 4.0, 3.7, 3.8, 3.7, 3.7, 3.8, 3.6),
        "letter": (4.4, 3.2, 4.0, 2.2, 3.1, 2.1, 2.5, 2.1, 2.5, 2.3),
        "protein": (50.0, 40.1, 42.4, 40.1, 41.9, 40.7, 38.9, 40.7, 41.0, 40.9),
        "connect4": (29.5, 21.1, 25.8, 22.1, 24.5, 20.1, 20.1, 20.1, 22.2, 20.4),
        "sensit": (27.3, 24.3, 25.4, 24.1, 23.7, 24.0, 24.0, 24.0, 24.4, 24.6),
        "rcv20": (9.1, nan, 8.9, 8.6, 8.9, 8.5, 8.7, 8.4, 8.4, 8.6),
        "poker": (38.0, nan, 39.2, 36.1, 37.8, 35.0, 33.8, 35.0, 34.3, 34.4),
    },
)
"""Table 2: error of 3-NN in per cent, by data set and method."""

SECONDS = _by_method(
    TABULATED[1:],
    {
        "semeion": (112.7, 355.8, 29.1, 206.6, 2_172.4, 263.2, 45.2, 7.4, 42.4),
        "dna": (255.9, 330.2, 39.1, 122.1, 1_165.3, 121.0, 30.6, 7.1, 28.0),
        "isolet": (2_454.3, 3_454.2, 515.7, 3_017.2, 32_762.7, 3_440.7, 908.4, 127.6, 246.3),
        "tdt30": (264.5, 372.6, 51.2, 145.1, 1_351.0, 148.0, 108.8, 11.6, 41.6),
        "letter": (251.6, 15.0, 10.8, 5.6, 27.3, 5.3, 10.9, 1.8, 3.2),
        "protein": (3_906.4, 1_318.9, 3_825.9, 573.8, 5_448.9, 580.6, 1_335.8, 184.5, 145.6),
        "connect4": (540.2, 23.1, 79.0, 16.4, 109.6, 15.9, 60.5, 8.0, 6.97),
        "sensit": (10_481.2, 93.3, 303.9, 44.3, 365.4, 41.3, 243.9, 26.2, 17.9),
        "rcv20": (nan, 443.6, 1_313.7, 154.4, 1_542.1, 158.4, 932.9, 101.4, 45.8),
        "poker": (nan, 17.3, 17.6, 5.8, 21.0, 4.5, 13.5, 2.8, 3.4),
    },
)
"""Table 3: running time in seconds on the authors' laptop, without building triplets."""

UPDATES = _by_method(
    TABULATED[2:],
    {
        "semeion": (71_142.4, 432.7, 10_000, 100_000, 10_000, 142.2, 101.4, 162.8),
        "dna": (140_027, 2_042, 10_000, 100_000, 10_000, 707, 351, 372),
        "isolet": (110_175, 1_426, 10_000, 100_000, 10_000, 1_893, 353, 378),
        "tdt30": (131_997.6, 2_284.6, 10_000, 100_000, 10_000, 5_563.7, 567.6, 784.6),
        "letter": (130_794, 28_063, 10_000, 100_000, 10_000, 12_931, 1_398, 457),
        "protein": (166_384, 64_804, 10_000, 100_000, 10_000, 22_127, 3_064, 1_623),
        "connect4": (153_311.6, 69_865, 10_000, 100_000, 10_000, 44_510.8, 4_161.2, 2_134.3),
        "sensit": (162_869, 78_223, 10_000, 100_000, 10_000, 60_028, 5_675, 1_281),
        "rcv20": (137_246, 88_476, 10_000, 100_000, 10_000, 60_708, 6_095, 779),
        "poker": (179_714, 71_620, 10_000, 100_000, 10_000, 43_259, 4_111, 1_635),
    },
)
"""Table 4: number of updates, of at most 100,000 triplets."""
