"""What every test may use: the data folder, and how hard hypothesis looks.

``pytest --hypothesis-profile=long`` looks longer and elsewhere at every run.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from data_folder import FOLDER

settings.register_profile(
    "quick",
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "long", settings.get_profile("quick"), max_examples=2000, derandomize=False
)
settings.load_profile("quick")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the paper's data; the test is skipped where there is none."""
    if not FOLDER.is_dir():
        pytest.skip("the paper's data are not here: set CALIPERS_DATA to their folder")
    return FOLDER
