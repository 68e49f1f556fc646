"""What every test may use: the data folder, fresh compiled code, how hard hypothesis looks.

``pytest --hypothesis-profile=long`` looks longer and elsewhere at every run.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from data_folder import FOLDER

SOURCE = Path(__file__).parents[1] / "src" / "calipers"


def compile_cache() -> Path:
    """A folder of its own for every state of the sources.

    numba looks for changes in the file of a function only, not in those of the functions
    it calls, and would else test what was compiled before the change.
    """
    digest = sha256()
    for file in sorted(SOURCE.rglob("*.py")):
        text = file.read_bytes()
        if b"numba" in text or file.name in ("losses.py", "sampling.py"):
            digest.update(text)
    return Path(__file__).parent / "__pycache__" / f"compiled-{digest.hexdigest()[:16]}"


# before anything imports numba, and for the processes that tests start
os.environ.setdefault("NUMBA_CACHE_DIR", str(compile_cache()))

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
