"""How good a metric is: k-NN and retrieval under it, and fair comparisons of two.

Map of this package, in reading order:

========= =====================================================================
module    what it holds
========= =====================================================================
folds     folds of cross-validation: stratified by class, or grouped
scores    an error for each held-out example; their mean and standard error
knn       the exact nearest samples, their vote with the paper's tie rule, its
          error, and rejection of samples that are far from all others
retrieval precision, recall, average precision and nDCG of rankings
verdict   a learned distance beside others, in words
page      reports as one HTML page, pictures inside
========= =====================================================================
"""

from calipers.evaluation.knn import (
    RejectionScores,
    knn_error,
    knn_predict,
    nearest_samples,
    rejection_scores,
)
from calipers.evaluation.retrieval import (
    RetrievalScores,
    mean_average_precision,
    ndcg,
    precision_at_k,
    recall_at_k,
    retrieval_scores,
)

__all__ = [
    "RejectionScores",
    "RetrievalScores",
    "knn_error",
    "knn_predict",
    "mean_average_precision",
    "ndcg",
    "nearest_samples",
    "precision_at_k",
    "recall_at_k",
    "rejection_scores",
    "retrieval_scores",
]
