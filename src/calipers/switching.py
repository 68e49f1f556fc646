"""Words that metric-learn's constructors take and ours do not, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable

_INSTEAD = {
    "verbose": "show progress by set_callbacks(sklearn.callback.ProgressBar())",
    "k": "say n_neighbors",
    "k_genuine": "say n_neighbors, one for positives and negatives",
    "k_impostor": "say n_neighbors, one for positives and negatives",
    "gamma": "say slack_weight of ITML, or learning_rate of SCML",
    "beta": "say l1_weight",
    "regularization": "say push_weight",
    "n_constraints": "say n_triplets, each of which is two pairs",
    "num_constraints": "say n_triplets, each of which is two pairs",
    "convergence_tol": "say tol",
    "convergence_threshold": "say tol",
    "prior": "scale X before, or learn from it by a learner that has init",
    "n_chunks": "fit(X, y) takes every class for a chunk",
    "chunk_size": "fit(X, y) takes every class for a chunk",
}
_WITH_INDICES = {
    "fit_pairs": "fit_pairs(X, pairs, y), or PairClassifier({owner}(), preprocessor=X)",
    "fit_triplets": "fit_triplets(X, triplets), or TripletClassifier({owner}(), preprocessor=X)",
}


def refuse_words(owner: type, parameters: Iterable[str], given: Iterable[str]) -> None:
    """Raise TypeError for a word of metric-learn that is no parameter, with the word to use."""
    for word in given:
        if word in parameters or word not in (*_INSTEAD, "preprocessor"):
            continue
        name, hint = owner.__name__, _INSTEAD.get(word, "")
        if word == "preprocessor":
            ways = [way for method, way in _WITH_INDICES.items() if hasattr(owner, method)]
            hint = "pass samples beside their indices: " + "; ".join(
                f"{name}().{way.format(owner=name)}" for way in ways or ["fit(X[indices], y)"]
            )
        raise TypeError(f"{name} has no parameter {word!r}, which metric-learn has: {hint}.")
