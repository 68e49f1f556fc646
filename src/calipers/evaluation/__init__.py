"""How good a metric is: k-NN and retrieval under it.

Map of this package, in reading order:

- `nearest`: the exact nearest rows, equal distances by lowest index;
- `knn`: the vote among them, with the paper's tie rule, and its error;
- `retrieval`: precision, recall, average precision and nDCG of rankings;
- `protocol`: the error of a metric on a data set's test part.
"""

from calipers.evaluation.knn import knn_error, knn_predict
from calipers.evaluation.nearest import nearest_rows
from calipers.evaluation.protocol import split_error
from calipers.evaluation.retrieval import (
    RetrievalScores,
    mean_average_precision,
    ndcg,
    precision_at_k,
    recall_at_k,
    retrieval_scores,
)

__all__ = [
    "RetrievalScores",
    "knn_error",
    "knn_predict",
    "mean_average_precision",
    "ndcg",
    "nearest_rows",
    "precision_at_k",
    "recall_at_k",
    "retrieval_scores",
    "split_error",
]
