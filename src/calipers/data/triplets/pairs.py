"""Similar and dissimilar pairs, made of triplets.

A pair is (index, index, sign) with the sign +1 (similar) or -1 (dissimilar).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calipers.arrays import IndexArray
from calipers.data.triplets.draw import Source


class PairsOfTriplets:
    """The two pairs of each triplet in order: (anchor, positive), then (anchor, negative).

    >>> from calipers.data.triplets import GivenTriplets
    >>> source = PairsOfTriplets(GivenTriplets(np.array([[0, 1, 2], [3, 4, 5]])))
    >>> [portion.tolist() for portion in source.portions(3)]
    [[[0, 1, 1], [0, 2, -1], [3, 4, 1]], [[3, 5, -1]]]
    """

    def __init__(self, triplets: Source) -> None:
        self.triplets = triplets

    def __len__(self) -> int:
        return 2 * len(self.triplets)

    def portions(self, size: int) -> Iterator[IndexArray]:
        """Yield all pairs in order, ``size`` at a time."""
        rest = np.empty((0, 3), dtype=np.intp)
        for triplets in self.triplets.portions(-(-size // 2)):
            pairs = np.empty((2 * len(triplets), 3), dtype=np.intp)
            pairs[0::2, :2], pairs[0::2, 2] = triplets[:, [0, 1]], 1
            pairs[1::2, :2], pairs[1::2, 2] = triplets[:, [0, 2]], -1
            rest = np.concatenate([rest, pairs])
            while len(rest) >= size:
                yield rest[:size]
                rest = rest[size:]
        if len(rest):
            yield rest
