"""Sphinx settings; ``sphinx-build -W docs docs/_build`` makes the pages without a network."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ["CALIPERS_OFFLINE"] = "1"  # examples download nothing

from calipers import __version__  # noqa: E402

project = "Calipers"
author = "The Calipers developers"
copyright = author
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "report",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "auto_examples/*.ipynb", "auto_examples/*.py"]
default_role = "literal"
nitpicky = True
nitpick_ignore_regex = [
    # types that are described in words, and names of packages whose pages are not here
    (r"py:.*", r"(np|numpy|npt|matplotlib|sklearn|collections|os|pathlib|typing|argparse)\..*"),
    (r"py:.*", r"(FloatArray|IndexArray|ArrayLike|Axes|Path|Self|Any|Generator|Callable)"),
]

autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
autosummary_generate = True
autosummary_imported_members = False
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()

html_theme = "furo"
html_title = f"Calipers {version}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["calipers.css"]
html_theme_options = {"navigation_with_keys": True}
html_copy_source = False
html_show_sphinx = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "default_thumb_file": str(HERE / "_static" / "needs-data.svg"),
    "write_computation_times": False,
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib",),
    "image_scrapers": ("matplotlib",),
    "image_srcset": ["2x"],
    "capture_repr": (),
}


def setup(app: Sphinx) -> None:
    """Leave out of a class what it inherits from scikit-learn or from Python itself."""

    def skip(_: Sphinx, what: str, name: str, member: Any, *others: Any) -> bool | None:
        home = getattr(getattr(member, "fget", member), "__module__", None)
        return None if home is None or str(home).startswith("calipers") else True

    app.connect("autodoc-skip-member", skip)
