"""Data sets by name, already cut into a training and a test part.

Map of this package, in reading order:

- `split`: what a data set is once loaded, and how numbered 70/30 splits are drawn;
- `sources`: where files come from (a folder given by the user);
- `embedded`: the small sets that come with scikit-learn;
- `paper`: the sets of the paper, with the features it used;
- `catalogue`: all of them by name.
"""

from calipers.datasets.catalogue import has_standard_split, load, names, require
from calipers.datasets.sources import DatasetError
from calipers.datasets.split import Split

__all__ = ["DatasetError", "Split", "has_standard_split", "load", "names", "require"]
