"""Searches for the k nearest rows of an anchor's class and of the others."""

from __future__ import annotations

from typing import TypeAlias

from calipers.arrays import IndexArray

Lists: TypeAlias = tuple[IndexArray, IndexArray]
