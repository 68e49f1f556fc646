"""What a metric's file says, and how it is taken from a fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from calipers.arrays import FloatArray

Plain: TypeAlias = str | int | float | bool | None
"""What stays the same through JSON."""

_STORED_ELSEWHERE = {
    "components_",
    "similarity_",
    "classes_",
    "notes_",
    "feature_names_in_",
    "n_features_in_",
}
_LONGEST_CURVE = 10_000
_LONGEST_TEXT = 200


@dataclass(frozen=True)
class Contents:
    """A metric and where it comes from.

    Attributes
    ----------
    components : ndarray of shape (n_components, n_features)
        L with M = L'L.
    learner : str
        Name of the estimator's class.
    parameters : dict
        Its parameters; what JSON does not have is a text.
    feature_names : list of str or None
        Columns of the training data, if they had names.
    classes : list or None
        Labels, if there were any: texts or numbers.
    facts : dict
        Fitted attributes that are plain or curves, for example ``n_updates_``.
    notes : list of str
        Remarks about the training data.
    label : str or None
        Name of the column with the labels.
    feature_scale : ndarray of shape (n_features,) or None
        Standard deviation of each feature of the training data.
    similarity : ndarray of shape (n_features, n_features) or None
        W of a learner that learns ``p'Wq`` beside the metric (OASIS).
    written_by : str
        Version of Calipers.
    """

    components: FloatArray
    learner: str
    parameters: dict[str, Plain] = field(default_factory=dict)
    feature_names: list[str] | None = None
    classes: list[Plain] | None = None
    facts: dict[str, Plain | list[float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    label: str | None = None
    feature_scale: FloatArray | None = None
    similarity: FloatArray | None = None
    written_by: str = ""


def contents_of(
    estimator: Any, *, feature_scale: FloatArray | None = None, label: str | None = None
) -> Contents:
    """Gather what a file says about a fitted estimator."""
    from calipers.version import __version__

    fitted = {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and not name.startswith("_")
    }
    names, classes = fitted.get("feature_names_in_"), fitted.get("classes_")
    facts = {name: _fact(fitted[name]) for name in fitted.keys() - _STORED_ELSEWHERE}
    return Contents(
        components=np.ascontiguousarray(fitted["components_"], dtype=np.float64),
        learner=type(estimator).__name__,
        parameters={key: _plain(value) for key, value in estimator.get_params(deep=False).items()},
        feature_names=None if names is None else [_text(name) for name in names],
        classes=None if classes is None else [_plain(label) for label in classes.tolist()],
        facts={name: fact for name, fact in sorted(facts.items()) if fact is not None},
        notes=[_text(note) for note in fitted.get("notes_", [])],
        label=None if label is None else _text(label),
        feature_scale=feature_scale,
        similarity=fitted.get("similarity_"),
        written_by=__version__,
    )


def _fact(value: Any) -> Plain | list[float]:
    """A plain value or a curve; None for what is neither."""
    if isinstance(value, np.ndarray):
        is_curve = value.ndim == 1 and value.dtype.kind in "if" and len(value) <= _LONGEST_CURVE
        return value.tolist() if is_curve and np.isfinite(value).all() else None
    value = value.item() if isinstance(value, np.generic) else value
    return _plain(value) if isinstance(value, str | int | float) else None


def _plain(value: Any) -> Plain:
    """The value where JSON has it, else a short text."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None:
        return None
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and abs(value) < 2**63:  # what readers take
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    return _text(value)[:_LONGEST_TEXT]


def _text(value: object) -> str:
    r"""The text; halves of characters, which cannot be written, are spelt out as ``\ud800``."""
    return str(value).encode("utf-8", "backslashreplace").decode()
