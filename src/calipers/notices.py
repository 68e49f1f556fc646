"""Warnings that point to the user's line, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings

_OURS = ("calipers", "sklearn", "contextlib", "joblib")  # packages between a user and a warning


class DataWarning(UserWarning):
    """A learner can use the data, but perhaps not as the user expects."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside of this package and of those that call it for the user."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
