"""Words that metric-learn's constructors take and ours do not, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable

_INSTEAD = {
    "verbose": {"set_callbacks": "show progress by set_callbacks(sklearn.callback.ProgressBar())"},
    "k": {"n_neighbors": "say n_neighbors"},
    "k_genuine": {"n_neighbors": "say n_neighbors, one for positives and negatives"},
    "k_impostor": {"n_neighbors": "say n_neighbors, one for positives and negatives"},
    "gamma": {"slack_weight": "say slack_weight", "learning_rate": "say learning_rate"},
    "beta": {"l1_weight": "say l1_weight"},
    "regularization": {"push_weight": "say push_weight"},
    "n_constraints": {"n_triplets": "say n_triplets, each of which is two pairs"},
    "num_constraints": {"n_triplets": "say n_triplets, each of which is two pairs"},
    "convergence_tol": {"tol": "say tol"},
    "convergence_threshold": {"tol": "say tol"},
    "prior": {"init": "say init", "ITML": "for a prior L'L, learn from X @ L.T"},
    "n_chunks": {"RCA": "fit(X, y) takes every class for a chunk"},
    "chunk_size": {"RCA": "fit(X, y) takes every class for a chunk"},
    "preprocessor": {
        "fit_pairs": "write {owner}().fit_pairs(X, pairs, y), or PairClassifier({owner}(), "
        "preprocessor=X)",
        "fit_triplets": "write {owner}().fit_triplets(X, triplets), or TripletClassifier("
        "{owner}(), preprocessor=X)",
        "fit": "write {owner}().fit(X[indices], y)",
    },
}
"""Of each word the hints, by the parameter, method or class that a learner needs for them."""


def refuse_words(owner: type, parameters: Iterable[str], given: Iterable[str]) -> None:
    """Raise TypeError for a word of metric-learn that is no parameter, with the word to use."""
    for word in given:
        if word in parameters or word not in _INSTEAD:
            continue
        name = owner.__name__
        has = {*parameters, *dir(owner), name}
        hints = [hint.format(owner=name) for need, hint in _INSTEAD[word].items() if need in has]
        hint = "; ".join(hints) or "nothing takes its place, so leave it out"
        raise TypeError(f"{name} has no parameter {word!r}, which metric-learn has: {hint}.")
