"""Searches for the k nearest samples of an anchor's class and of the other classes."""

from __future__ import annotations

from typing import TypeAlias

from calipers.arrays import IndexArray

Lists: TypeAlias = tuple[IndexArray, IndexArray]
