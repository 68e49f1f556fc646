"""Exact nearest neighbours of an anchor, in its own class and in the other classes.

======== ====================================================================
module   what it does
======== ====================================================================
search   searches samples in memory, by one of the two methods below
_product matrix products rule candidates out; direct sums decide on the rest
_descent searches a k-d tree, for data of low intrinsic dimension
passing  searches samples block by block, and merges results of several blocks
======== ====================================================================

Also here: `vote`.
"""

from __future__ import annotations

from calipers.data.neighbors.passing import Found, Passing, merge
from calipers.data.neighbors.search import nearest_same_and_other

__all__ = ["Found", "Passing", "merge", "nearest_same_and_other"]
