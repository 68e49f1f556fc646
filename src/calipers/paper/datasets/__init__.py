"""Data sets by name, already cut into a training and a test part.

Map of this package, in reading order:

- `split`: what a data set is once loaded, and how numbered 70/30 splits are drawn;
- `table1`: what each of the paper's data sets must measure;
- `sources`: where files come from, and a folder of the user's as the first such place;
- `formats`: packings, texts and tables in which data sets are published;
- `remote`: public homes, the cache folder and the download between them;
- `embedded`: the small sets that come with scikit-learn;
- `reduce`: documents in 200 dimensions;
- `stored`, `originals`: the sets of the paper from .npz files and from the original ones;
- `paper`: which files make which set;
- `catalogue`: all of them by name.
"""

from calipers.paper.datasets.catalogue import has_standard_split, load, names, require
from calipers.paper.datasets.sources import DatasetError
from calipers.paper.datasets.split import Split

__all__ = ["DatasetError", "Split", "has_standard_split", "load", "names", "require"]
