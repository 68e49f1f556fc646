"""What a file holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from calipers.arrays import FloatArray
from calipers.metric.file.container import Arrays
from calipers.metric.file.values import Json

KINDS = ("metric", "adapter", "bridge")


@dataclass(frozen=True)
class Contents:
    """A learned linear map and where it comes from.

    Every kind has the array ``components``, L of ``X @ L.T``. These are optional:

    - ``offset`` of shape (n_components,), which adapters and bridges add to the product;
    - ``document_components`` of shape (n_components, any), the map of documents of an adapter;
    - ``feature_scale`` of shape (n_features,), standard deviations of the training features;
    - ``similarity`` of shape (n_features, n_features), W of a learner of ``p'Wq`` (OASIS);
    - ``parameters.<name>``, ``resolved.<name>`` and ``facts.<name>``, entries of these
      dictionaries that are arrays, see `group`.

    Other names are kept as they are, so that later kinds need no new format.

    Attributes
    ----------
    arrays : dict of str to ndarray
        The arrays by name.
    learner : str
        Name of the estimator's class.
    kind : {"metric", "adapter", "bridge"}
        What the map is for.
    recipe : dict or None
        Fields of the algorithm's recipe, with its class as ``type``.
    parameters : dict
        Parameters of the estimator as they were given.
    resolved : dict
        What "auto" and None became, by the parameter's name.
    facts : dict
        Other fitted attributes, for example ``n_updates_``.
    notes : list of str
        Remarks about the training data.
    feature_names : list of str or None
        Names of the features, if they had any.
    classes : list or None
        Labels, if there were any: texts or numbers.
    label : str or None
        Name of the column with the labels.
    encoder : list of dict or None
        How the columns of a table became features, see :mod:`calipers.metric.file.encoder`.
    written_by : str
        Version of Calipers.
    """

    arrays: Arrays
    learner: str
    kind: str = "metric"
    recipe: dict[str, Json] | None = None
    parameters: dict[str, Json] = field(default_factory=dict)
    resolved: dict[str, Json] = field(default_factory=dict)
    facts: dict[str, Json] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    feature_names: list[str] | None = None
    classes: list[Json] | None = None
    label: str | None = None
    encoder: list[dict[str, Any]] | None = None
    written_by: str = ""

    @property
    def components(self) -> FloatArray:
        """L of shape (n_components, n_features); of a metric M = L'L."""
        return self.arrays["components"]

    @property
    def feature_scale(self) -> FloatArray | None:
        """Standard deviation of each training feature, where it was kept."""
        return self.arrays.get("feature_scale")

    @property
    def similarity(self) -> FloatArray | None:
        """W of shape (n_features, n_features), where one was learned."""
        return self.arrays.get("similarity")

    def group(self, name: str) -> dict[str, Any]:
        """Return ``parameters``, ``resolved`` or ``facts`` together with its arrays.

        >>> import numpy as np
        >>> curve = {"components": np.eye(1), "facts.loss_curve_": np.array([0.5])}
        >>> Contents(curve, "TripletSGD", facts={"n_updates_": 3}).group("facts")
        {'n_updates_': 3, 'loss_curve_': array([0.5])}
        """
        start = f"{name}."
        stored = {
            key.removeprefix(start): array
            for key, array in self.arrays.items()
            if key.startswith(start)
        }
        return {**getattr(self, name), **stored}
