"""Triplets (anchor, positive, negative): drawn from labels, or given by a user.

========= ========================================================================
module    what it does
========= ========================================================================
check     checks triplets or pairs that a user gives
draw      yields triplets in portions: drawn from labelled samples, or given
pairs     splits each triplet into its two pairs
========= ========================================================================

The samples come from :mod:`calipers.data`, their neighbours from :mod:`calipers.data.neighbors`.
"""

from __future__ import annotations

from calipers.data.triplets.check import check_pairs, check_triplets
from calipers.data.triplets.draw import (
    LARGEST_PORTION,
    AllPairsTriplets,
    DrawnTriplets,
    GivenTriplets,
    Source,
    each_negative_once,
)
from calipers.data.triplets.pairs import PairsOfTriplets

__all__ = [
    "LARGEST_PORTION",
    "AllPairsTriplets",
    "DrawnTriplets",
    "GivenTriplets",
    "PairsOfTriplets",
    "Source",
    "check_pairs",
    "check_triplets",
    "each_negative_once",
]
