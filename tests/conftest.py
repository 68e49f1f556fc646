"""What every test may use: the data folder, no network, and how hard hypothesis looks.

``pytest --hypothesis-profile=long`` looks longer and elsewhere at every run.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import scipy.linalg
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

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


@pytest.fixture(autouse=True, scope="session")
def one_blas_thread() -> Iterator[None]:
    """The matrices of plain references are small: more threads would only wait for each other."""
    assert scipy.linalg.__name__  # loads the libraries whose threads are limited
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is downloaded and no cache of the user's is read, unless a test asks for it."""
    monkeypatch.setenv("CALIPERS_OFFLINE", "1")
    monkeypatch.setenv("CALIPERS_CACHE", str(tmp_path / "no-cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")  # for the servers that tests start


@pytest.fixture(autouse=True)
def ctrl_c_is_heard() -> Iterator[None]:
    """Tests send SIGINT, which jobs in the background and ``nohup`` ignore."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the paper's data; the test is skipped where there is none."""
    if not FOLDER.is_dir():
        pytest.skip("the paper's data are not here: set CALIPERS_DATA to their folder")
    return FOLDER


@pytest.fixture
def no_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder of data is named, so that nothing depends on files."""
    monkeypatch.delenv("CALIPERS_DATA", raising=False)
