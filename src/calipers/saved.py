"""A metric that was read from a file."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from calipers import files
from calipers.arrays import FloatArray
from calipers.files import Contents
from calipers.metric import MahalanobisMixin


def load(path: str | os.PathLike[str]) -> SavedMetric:
    """Read a metric that was written by ``metric.save`` or by ``calipers fit``.

    The file holds numbers and text only: nothing in it is run.

    Parameters
    ----------
    path : path-like
        Name of the file.

    Returns
    -------
    SavedMetric
        The metric, ready to use.

    Raises
    ------
    FileError
        The file is not there, damaged, of a later version, or not a metric.

    Examples
    --------
    >>> import tempfile
    >>> from calipers import Euclidean, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Euclidean().fit(np.eye(3)).save(f"{folder}/metric.safetensors")
    ...     metric = load(f"{folder}/metric.safetensors")
    >>> metric
    SavedMetric(learner='Euclidean', n_features=3, n_components=3)
    """
    return SavedMetric(files.read(path))


class SavedMetric(MahalanobisMixin):
    """A learned metric without its learner: maps rows and measures distances.

    It serves in a pipeline as it is: `fit` checks X and learns nothing, and clones are
    the metric itself.

    Parameters
    ----------
    contents : Contents
        What the file said.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L; ``transform`` is ``X @ components_.T``.
    similarity_ : ndarray of shape (n_features, n_features)
        W, where the learner has learned a similarity too.
    learner_ : str
        Class of the estimator that learned the metric.
    parameters_ : dict
        Its parameters.
    facts_ : dict
        Its fitted attributes, for example ``facts_["n_updates_"]``; curves are arrays.
    notes_ : list of str
        Its remarks about the training data.
    feature_scale_ : ndarray of shape (n_features,) or None
        Standard deviations of the training data, where they were kept.
    label_ : str or None
        Name of the column that held the labels, where it is known.
    classes_ : ndarray of shape (n_classes,)
        Labels, if there were any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had any; X with other names is refused.
    """

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.components_ = np.asarray(contents.components, dtype=np.float64)
        self.n_features_in_ = self.components_.shape[1]
        if contents.feature_names is not None:
            self.feature_names_in_ = np.array(contents.feature_names, dtype=object)
        if contents.classes is not None:
            self.classes_ = _labels(contents.classes)
        if contents.similarity is not None:
            self.similarity_ = np.asarray(contents.similarity, dtype=np.float64)
        self.learner_ = contents.learner
        self.parameters_ = dict(contents.parameters)
        self.facts_: dict[str, Any] = {
            name: np.array(fact) if isinstance(fact, list) else fact
            for name, fact in contents.facts.items()
        }
        self.notes_ = list(contents.notes)
        self.feature_scale_ = contents.feature_scale
        self.label_ = contents.label

    def fit(self, X: npt.ArrayLike, y: object = None) -> Self:
        """Check that X has the features of the metric; nothing is learned."""
        validate_data(self, X, reset=False)
        return self

    def pair_score(self, pairs: npt.ArrayLike) -> FloatArray:
        """Similarity within each pair: the learned one if there is, else minus the distance."""
        if not hasattr(self, "similarity_"):
            return super().pair_score(pairs)
        rows = self._check_pairs(pairs)
        return np.asarray(np.einsum("ni,ni->n", rows[:, 0] @ self.similarity_, rows[:, 1]))

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Names of the columns of `transform`, the same as those of the learner."""
        names = [f"{self.learner_.lower()}{number}" for number in range(self._n_features_out)]
        return np.array(names, dtype=object)

    def _contents(self, **more: Any) -> Contents:
        """What was read is written again as it was."""
        return self.contents

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return (
            f"SavedMetric(learner={self.learner_!r}, n_features={self.n_features_in_}, "
            f"n_components={self._n_features_out})"
        )


def _labels(classes: list[Any]) -> npt.NDArray[Any]:
    """Labels as one array; where kinds are mixed each stays what it is."""
    if len({type(label) for label in classes}) > 1 and any(isinstance(c, str) for c in classes):
        return np.array(classes, dtype=object)
    return np.array(classes)
