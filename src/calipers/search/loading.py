"""Read what was learned from a file, of whatever kind."""

from __future__ import annotations

import os
from typing import Any

from calipers.metric.file import read
from calipers.search.query_map import QueryMap


def load(path: str | os.PathLike[str]) -> Any:
    """Read what ``save`` or the command line wrote: a metric, an adapter or a bridge.

    The file holds numbers and text only: loading runs no code from it. For an adapter or a bridge
    it loads neither scikit-learn nor SciPy.

    Parameters
    ----------
    path : path-like
        Name of the file.

    Returns
    -------
    SavedMetric or QueryMap
        The metric, or the map of an adapter or a bridge, ready to use.

    Raises
    ------
    FileError
        The file is not there, damaged, or of another format.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from calipers import Euclidean, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Euclidean().fit(np.eye(3)).save(f"{folder}/metric.safetensors")
    ...     metric = load(f"{folder}/metric.safetensors")
    >>> metric
    SavedMetric(learner='Euclidean', n_features=3, n_components=3)
    """
    contents = read(path)
    if contents.kind != "metric":
        return QueryMap.of(contents)
    from calipers.metric.saved import SavedMetric

    return SavedMetric(contents)
