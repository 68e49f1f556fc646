"""A metric as read from a file."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from calipers.arrays import FloatArray
from calipers.data.encoder import TableEncoder
from calipers.metric.file import Contents
from calipers.metric.mahalanobis import MahalanobisMixin


class SavedMetric(MahalanobisMixin):
    """A learned metric without its learner: transforms samples and measures distances.

    A pipeline takes it as it is: `fit` checks X and learns nothing, and a clone is the metric
    itself.

    Parameters
    ----------
    contents : Contents
        What the file holds.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L; ``transform`` is ``X @ components_.T``.
    similarity_ : ndarray of shape (n_features, n_features)
        W, if the learner learned a similarity too.
    kind_ : str
        ``"metric"``.
    learner_ : str
        Class of the estimator that learned the metric.
    recipe_ : dict or None
        Fields of the algorithm's recipe, with its class as ``type``, if the file has it.
    parameters_ : dict
        The learner's parameters as the user gave them.
    resolved_ : dict
        What None and "auto" became in `fit`, by the parameter's name: the learner with
        ``parameters_ | resolved_`` is the same one.
    facts_ : dict
        Other fitted attributes, for example ``facts_["n_updates_"]``; curves are arrays.
    notes_ : list of str
        Remarks about the training data.
    feature_scale_ : ndarray of shape (n_features,) or None
        Standard deviations of the training features, if the file has them.
    label_ : str or None
        Name of the table column that held the labels, if the file has it.
    encoder_ : TableEncoder or None
        How the columns of a table became features, if X was a table.
    classes_ : ndarray of shape (n_classes,)
        Labels, if the learner had any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had any; the metric refuses X with other names.
    """

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.components_ = np.asarray(contents.components, dtype=np.float64)
        self.n_features_in_ = self.components_.shape[1]
        if contents.feature_names is not None:
            self.feature_names_in_ = np.array(contents.feature_names, dtype=object)
        if contents.classes is not None:
            self.classes_ = labels_of(contents.classes)
        if "similarity" in contents.arrays:
            self.similarity_ = np.asarray(contents.arrays["similarity"], dtype=np.float64)
        self.kind_ = contents.kind
        self.learner_ = contents.learner
        self.recipe_ = contents.recipe
        self.parameters_ = contents.group("parameters")
        self.resolved_ = contents.group("resolved")
        self.facts_ = contents.group("facts")
        self.notes_ = list(contents.notes)
        self.feature_scale_ = contents.arrays.get("feature_scale")
        self.label_ = contents.label
        encoder = contents.encoder
        self.encoder_ = None if encoder is None else TableEncoder.from_json(encoder)

    def fit(self, X: npt.ArrayLike, y: object = None) -> Self:
        """Check that X has the features of the metric; learn nothing."""
        validate_data(self, X, reset=False)
        return self

    def transform(self, X: Any) -> Any:
        """Map samples so that the Euclidean distance between images is the learned distance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
            Samples; or a table with the columns that the metric was learned from (``encoder_``),
            which become features first, by the same means and categories.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The images.
        """
        columns = {str(name) for name in getattr(X, "columns", ())}
        features = {*getattr(self, "feature_names_in_", ())}
        names = [] if self.encoder_ is None else self.encoder_.feature_names_in_.tolist()
        is_encoded = features != {*names} and features <= columns
        if self.encoder_ is None or not columns or is_encoded:
            return super().transform(X)
        missing = [name for name in names if name not in columns]
        if missing:
            raise ValueError(
                f"X has no column {', '.join(map(repr, missing[:5]))}, which the metric was "
                "learned from: give a table with all of its columns."
            )
        return self._images(self.encoder_.transform(X[names]))

    def pair_score(self, pairs: npt.ArrayLike) -> FloatArray:
        """Return the learned similarity within each pair, or minus the distance without one."""
        if not hasattr(self, "similarity_"):
            return super().pair_score(pairs)
        samples = self._check_pairs(pairs)
        return np.asarray(np.einsum("ni,ni->n", samples[:, 0] @ self.similarity_, samples[:, 1]))

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return names of the features that `transform` makes, the same as those of the learner."""
        names = [f"{self.learner_.lower()}{i}" for i in range(self._n_features_out)]
        return np.array(names, dtype=object)

    def _contents(self) -> Contents:
        return self.contents

    def __sklearn_clone__(self) -> Self:
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        chosen = str(self.facts_.get("chosen_", ""))
        verdict = f"chosen={chosen!r}, " if chosen.lower() == "euclidean" else ""
        return (
            f"SavedMetric({verdict}learner={self.learner_!r}, n_features={self.n_features_in_}, "
            f"n_components={self._n_features_out})"
        )


def labels_of(classes: list[Any]) -> npt.NDArray[Any]:
    """Return labels as one array; labels of mixed types keep their types."""
    if len({type(label) for label in classes}) > 1 and any(isinstance(c, str) for c in classes):
        return np.array(classes, dtype=object)
    return np.array(classes)
