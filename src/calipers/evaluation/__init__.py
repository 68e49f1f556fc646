"""How good a metric is: k-NN under it.

Map of this package, in reading order:

- `nearest`: the exact nearest rows, equal distances by lowest index;
- `knn`: the vote among them, with the paper's tie rule, and its error;
- `protocol`: the error of a metric on a data set's test part.
"""

from calipers.evaluation.knn import knn_error, knn_predict
from calipers.evaluation.nearest import nearest_rows
from calipers.evaluation.protocol import split_error

__all__ = ["knn_error", "knn_predict", "nearest_rows", "split_error"]
