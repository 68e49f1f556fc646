"""Triplets (anchor, near, far): search, draw, check.

========== ====================================================================
module     what it does
========== ====================================================================
search     exact nearest rows of an anchor's class and of the others
_product   search by matrix products that rule rows out
_select    its compiled inner loop (loads numba, so imported when first needed)
_descent   search by a k-d tree, where the data are of few dimensions in effect
_tree      its compiled build and descent (imported when first needed)
rows       rows and their classes, wherever they are
passing    the search while blocks of rows pass by
disk       rows in a file
draw       triplets in portions: drawn from labels, or given by a user
positives  triplets from pairs of query and positive, with mined hard negatives
pairs      the two pairs of each triplet
check      triplets or pairs given by a user
========== ====================================================================
"""

from __future__ import annotations

from calipers.triplets.check import check_pairs, check_triplets
from calipers.triplets.disk import RowsOnDisk
from calipers.triplets.draw import (
    LARGEST_PORTION,
    CrossedTriplets,
    DrawnTriplets,
    GivenTriplets,
    Source,
    each_far_row_once,
)
from calipers.triplets.pairs import PairsOfTriplets
from calipers.triplets.positives import from_positives
from calipers.triplets.rows import RowMap, Rows, RowsInMemory, n_usable, usable
from calipers.triplets.search import nearest_same_and_other

__all__ = [
    "LARGEST_PORTION",
    "CrossedTriplets",
    "DrawnTriplets",
    "GivenTriplets",
    "PairsOfTriplets",
    "RowMap",
    "Rows",
    "RowsInMemory",
    "RowsOnDisk",
    "Source",
    "check_pairs",
    "check_triplets",
    "each_far_row_once",
    "from_positives",
    "n_usable",
    "nearest_same_and_other",
    "usable",
]
