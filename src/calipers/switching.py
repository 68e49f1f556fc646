"""Words of metric-learn that we do not have, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable

_INSTEAD: dict[str, dict[str, str]] = {
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
    "max_iter": {
        "n_triplets": "say n_triplets, which fit(X, y) draws",
        "batch_size": "batch_size of them are a step",
        "SCML": "fit_triplets takes each given triplet once, so repeat them by np.tile",
    },
    "pca_comps": {"RCA": "reduce X first, by sklearn.decomposition.PCA"},
    "init": {"LMNN": "it begins at the identity, so leave it out"},
    "random_state": {"fit": "nothing is drawn at random, so leave it out"},
    **{word: {} for word in ("basis", "diagonal_c", "embedding_type", "learn_rate", "max_proj")},
    **{word: {} for word in ("min_iter", "num_labeled", "output_iter")},
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

_INITS = {
    "lda": "for the discriminant axes say 'within-class'",
    "pca": "for the axes of X say 'identity'",
    "covariance": "for the inverse of a covariance say 'within-class'",
    "random": "nothing starts at random, so say 'auto'",
}
"""What to say for names of initial metrics."""

_CLASSES = {
    "ITML_Supervised": "ITML().fit(X, y)",
    "MMC_Supervised": "MMC().fit(X, y)",
    "RCA_Supervised": "RCA().fit(X, y)",
    "SCML_Supervised": "SCML().fit(X, y)",
    "SDML": "GMML().fit_pairs(X, pairs, y), another algorithm",
    "SDML_Supervised": "GMML().fit(X, y), another algorithm",
    "LSML": "TripletSGD().fit_triplets(X, triplets), another algorithm",
    "LSML_Supervised": "TripletSGD().fit(X, y), another algorithm",
    "Covariance": "RCA().fit(X, y), or Scaled().fit(X) without labels",
    "Constraints": "fit(X, y) of a learner, which draws its own triplets",
}
"""What to write for names of classes."""


SHARED = frozenset({"ITML", "LFDA", "LMNN", "MLKR", "MMC", "NCA", "RCA", "SCML"})
"""Learners that both have."""


def refuse_words(owner: type, parameters: Iterable[str], given: Iterable[str]) -> None:
    """Raise TypeError for a word of metric-learn that is no parameter, with the word to use."""
    for word in given:
        if word in parameters or word not in _INSTEAD:
            continue
        name = owner.__name__
        has = {*parameters, *dir(owner), name}
        hints = [hint.format(owner=name) for need, hint in _INSTEAD[word].items() if need in has]
        hint = "; ".join(hints) or "nothing takes its place, so leave it out"
        if name in SHARED:
            raise TypeError(f"{name} has no parameter {word!r}, which metric-learn has: {hint}.")
        if hints:
            raise TypeError(f"{name} has no parameter {word!r}: {hint}.")


def refuse_init(owner: str, init: str, *, has_labels: bool) -> None:
    """Raise ValueError for a name of an initial metric that only metric-learn has."""
    if init in _INITS:
        hint = _INITS[init]
        if not has_labels and init != "pca":
            hint = "without classes say 'scaled'"
        raise ValueError(f"{owner} has no init={init!r}, which metric-learn has: {hint}.")


def refuse_class(name: str) -> None:
    """Raise ImportError for a class that only metric-learn has."""
    if name in _CLASSES:
        raise ImportError(
            f"calipers has no {name}, which metric-learn has: write {_CLASSES[name]}.", name=name
        )
