"""Leave out of a class's page what it inherits from scikit-learn or from Python itself."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def _skip(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    home = getattr(member, "__module__", None) or getattr(
        getattr(member, "fget", None), "__module__", None
    )
    return None if home is None or str(home).startswith("calipers") else True


def setup(app: Sphinx) -> dict[str, Any]:
    """Ask at every member."""
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
