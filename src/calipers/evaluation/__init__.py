"""How good a metric is: k-NN and retrieval under it, and fair comparisons of two.

Map of this package, in reading order:

========= =====================================================================
module    what it holds
========= =====================================================================
folds     folds of cross-validation: stratified by class, or grouped
paired    mean, standard error and sign test of paired differences
nearest   the exact nearest samples; equal distances by lowest index
knn       the vote among them, with the paper's tie rule, and its error
rejection the same where samples far from all classes are rejected
retrieval precision, recall, average precision and nDCG of rankings
========= =====================================================================

Also here: `scores`.
"""

from calipers.evaluation.knn import knn_error, knn_predict
from calipers.evaluation.nearest import nearest_samples
from calipers.evaluation.rejection import RejectionScores, rejection_scores
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
