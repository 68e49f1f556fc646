"""The data that learners are compared on: as the catalogue has them, or standardised."""

from __future__ import annotations

from dataclasses import replace

from sklearn.preprocessing import StandardScaler

from calipers.datasets import Split, has_standard_split, load


def split_of(name: str, *, data_dir: str | None, split: int, standardise: bool = False) -> Split:
    """The named set; one with a standard split has the same parts for every number."""
    data = load(name, data_dir=data_dir, split=0 if has_standard_split(name) else split)
    if not standardise:
        return data
    scaler = StandardScaler().fit(data.X_train)
    return replace(
        data, X_train=scaler.transform(data.X_train), X_test=scaler.transform(data.X_test)
    )
