"""Files in a folder, in the cache, or from their homes."""

from __future__ import annotations

import bz2
import hashlib
import io
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from zipfile import ZipFile

import pytest

from calipers.paper import downloads
from calipers.paper.downloads import DatasetError, Home, path_of

pytest.importorskip("pooch", reason="needs the extra paper")

COMPRESSED = bytes.fromhex("1f9d9061c40404")  # what the Unix program compress makes of b"abab"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that a server publishes, with an empty cache beside it."""
    folder = tmp_path / "public"
    folder.mkdir()
    monkeypatch.setenv("CALIPERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CALIPERS_OFFLINE", raising=False)
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        with ZipFile(folder / "all.zip", "w") as archive:
            archive.writestr("inside/plain.data", "1,2\n")
            archive.writestr("packed.data.Z", COMPRESSED)
        (folder / "alone.bz2").write_bytes(bz2.compress(b"1 1:2\n"))
        url = f"http://127.0.0.1:{server.server_port}/"
        digest = hashlib.sha256(b"1,2\n").hexdigest()
        homes = {
            "plain.data": Home(url + "all.zip", digest),
            "packed.data": Home(url + "all.zip"),
            "no.data": Home(url + "all.zip"),
            "alone.bz2": Home(url + "alone.bz2"),
            "gone.bz2": Home(url + "gone.bz2"),
        }
        monkeypatch.setattr(downloads, "HOMES", homes)
        yield folder
        server.shutdown()


def content(file: str) -> bytes:
    path = path_of(file, None, download=True)
    assert path is not None
    return path.read_bytes()


def test_files_are_fetched_unpacked_and_kept(home: Path) -> None:
    assert path_of("plain.data", None, download=False) is None
    assert content("plain.data") == b"1,2\n"
    assert content("packed.data") == b"abab"
    assert bz2.decompress(content("alone.bz2")) == b"1 1:2\n"
    for file in home.iterdir():
        file.unlink()
    assert content("plain.data") == b"1,2\n"
    assert path_of("alone.bz2", None, download=False) is not None
    assert path_of("own.npz", None, download=True) is None  # which has no home


def test_a_folder_of_the_users_comes_first(home: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.data").write_text("mine")
    assert path_of("plain.data", tmp_path, download=True) == tmp_path / "plain.data"


@pytest.mark.parametrize(
    ("file", "said"), [("gone.bz2", "cannot be had from http"), ("no.data", r"no no\.data in")]
)
def test_what_cannot_be_had_is_one_sentence(home: Path, file: str, said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        path_of(file, None, download=True)


def test_another_content_than_the_known_one_is_refused(home: Path) -> None:
    archive = io.BytesIO()
    with ZipFile(archive, "w") as members:
        members.writestr("plain.data", "evil")
    (home / "all.zip").write_bytes(archive.getvalue())
    with pytest.raises(DatasetError, match="is not the one that is known: delete it and try"):
        path_of("plain.data", None, download=True)
    assert path_of("plain.data", None, download=False) is None


def test_downloads_can_be_forbidden(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPERS_OFFLINE", "1")
    with pytest.raises(DatasetError, match=r"plain\.data is not here, and CALIPERS_OFFLINE"):
        path_of("plain.data", None, download=True)
