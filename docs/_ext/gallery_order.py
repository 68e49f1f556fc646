"""The order of the gallery: tasks first, then how it works, then scripts that need data."""

from __future__ import annotations

ORDER = (
    "plot_table.py",
    "plot_weights.py",
    "plot_digits.py",
    "plot_few_dimensions.py",
    "plot_judgements.py",
    "plot_duplicates.py",
    "plot_questions.py",
    "plot_intents.py",
    "plot_bridge.py",
    "plot_words.py",
    "plot_learners.py",
    "plot_methods.py",
    "plot_what_was_learned.py",
    "plot_growth.py",
    "banking77.py",
    "two_models.py",
)


class GalleryOrder:
    """Sphinx-gallery's sort key; a script that is not in ``ORDER`` is an error of the build."""

    def __init__(self, src_dir: str) -> None:
        """Every folder has the same order."""

    def __call__(self, name: str) -> int:
        """Position of a script."""
        return ORDER.index(name)
