"""The data that learners are compared on: as the catalogue has them, or rescaled."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from calipers.paper.datasets import Split, has_standard_split, load

Features: TypeAlias = Literal["raw", "standardised", "min-max"]


def split_of(
    name: str,
    *,
    data_dir: str | None,
    split: int,
    standardise: bool = False,
    most: int | None = None,
) -> Split:
    """The named set; one with a standard split has the same parts for every number.

    Of more than ``most`` training samples so many are drawn, others for every number.
    """
    data = load(name, data_dir=data_dir, split=0 if has_standard_split(name) else split)
    if most is not None and len(data.y_train) > most:
        some = np.random.default_rng(split).choice(len(data.y_train), most, replace=False)
        data = replace(data, X_train=data.X_train[some], y_train=data.y_train[some])
    return rescaled(data, "standardised" if standardise else "raw")


def rescaled(data: Split, features: Features) -> Split:
    """Both parts rescaled by what the training part says."""
    if features == "raw":
        return data
    scaler = StandardScaler() if features == "standardised" else MinMaxScaler()
    scaler.fit(data.X_train)
    return replace(
        data, X_train=scaler.transform(data.X_train), X_test=scaler.transform(data.X_test)
    )
