"""Show a class as we define it: without inherited members of others, with its ``__init__``."""

from __future__ import annotations

import inspect
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.inspect import stringify_signature


def _skip(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class inherits from scikit-learn or from Python itself."""
    home = getattr(member, "__module__", None) or getattr(
        getattr(member, "fget", None), "__module__", None
    )
    return None if home is None or str(home).startswith("calipers") else True


def _signature(
    app: Sphinx, what: str, name: str, shown: Any, options: Any, signature: str, returns: str
) -> tuple[str, None] | None:
    """Show the parameters of ``__init__``; Sphinx would show those of an inherited ``__new__``."""
    if what != "class" or not signature:
        return None
    return stringify_signature(inspect.signature(shown), show_annotation=False), None


def setup(app: Sphinx) -> dict[str, Any]:
    """Ask at every member and class."""
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
