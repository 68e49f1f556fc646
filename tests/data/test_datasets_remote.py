"""The download, against a server on loopback that misbehaves."""

from __future__ import annotations

import hashlib
import io
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from calipers.paper.datasets import DatasetError
from calipers.paper.datasets.remote.cache import Cache, cache_folder
from calipers.paper.datasets.remote.download import Download
from calipers.paper.datasets.remote.homes import HOMES, Home
from file_server import FileServer, serving

CONTENT = bytes(range(256)) * 4000  # 1 MB
SHA = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving() as running:
        running.behaviour.files["x.data"] = CONTENT
        yield running


def source(
    cache: Path, *urls: str, sha256: str = "", timeout: float = 5.0, file: str = "x.data"
) -> Download:
    return Download(cache, timeout=timeout, homes={file: Home(file, urls, sha256)})


def refused(download: Download, file: str = "x.data") -> str:
    with pytest.raises(DatasetError) as caught:
        download.path_of(file)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fetched(download: Download, file: str = "x.data") -> Path:
    path = download.path_of(file)
    assert path is not None
    return path


def test_a_file_arrives_whole_with_its_checksum(server: FileServer, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    homes = {"x.data": Home("x.data", (server.url("x.data"),), SHA)}
    cache = tmp_path / "deep" / "cache"
    path = Download(cache, lambda *now: seen.append(now), homes=homes).path_of("x.data")
    assert path == cache / "x.data"
    assert path.read_bytes() == CONTENT
    assert (cache / "x.data.sha256").read_text() == f"{SHA}  x.data\n"
    assert names_in(cache) == ["x.data", "x.data.lock", "x.data.sha256"]
    assert seen[-1] == ("x.data", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in seen] == sorted({done for _, done, _ in seen})


def test_a_file_without_a_home_is_nobodys(tmp_path: Path) -> None:
    assert source(tmp_path, file="other").path_of("x.data") is None


def test_a_cut_connection_is_opened_again_where_it_ended(
    server: FileServer, tmp_path: Path
) -> None:
    server.behaviour.cuts = [300_000, 200_000]
    path = fetched(source(tmp_path, server.url("x.data")))
    assert path.read_bytes() == CONTENT
    ranges = [asked for _, asked in server.behaviour.asked]
    assert ranges == ["", "bytes=300000-", "bytes=500000-"]


def test_a_later_attempt_goes_on_where_the_first_ended(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.cuts = [300_000, 0]
    text = refused(source(tmp_path, server.url("x.data")))
    assert "(the connection was cut after 300,000 of 1,024,000 bytes)" in text
    assert not (tmp_path / "x.data").exists()
    assert (tmp_path / "x.data.part").stat().st_size == 300_000
    assert fetched(source(tmp_path, server.url("x.data"))).read_bytes() == CONTENT
    assert server.behaviour.asked[-1] == ("/x.data", "bytes=300000-")
    assert not list(tmp_path.glob("*.part*"))


def test_a_new_version_is_not_glued_to_the_old_one(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.cuts = [300_000, 0]
    refused(source(tmp_path, server.url("x.data")))
    server.behaviour.tag = '"two"'
    server.behaviour.files["x.data"] = new = CONTENT[::-1]
    assert fetched(source(tmp_path, server.url("x.data"))).read_bytes() == new


def test_the_part_of_one_home_is_not_glued_to_another(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.files["old/x.data"] = CONTENT[::-1]
    server.behaviour.cuts = [300_000, 0]
    urls = server.url("old/x.data"), server.url("x.data")
    assert fetched(source(tmp_path, *urls)).read_bytes() == CONTENT
    assert server.behaviour.asked[-1] == ("/x.data", "")


@pytest.mark.parametrize("tag", ["", 'W/"weak"'])
def test_without_a_mark_of_the_version_it_begins_anew(
    server: FileServer, tmp_path: Path, tag: str
) -> None:
    server.behaviour.tag = tag
    server.behaviour.cuts = [300_000]
    assert fetched(source(tmp_path, server.url("x.data"))).read_bytes() == CONTENT
    assert [asked for _, asked in server.behaviour.asked] == ["", ""]


def test_a_server_without_ranges_sends_it_whole(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.ranges = False
    server.behaviour.cuts = [300_000]
    assert fetched(source(tmp_path, server.url("x.data"))).read_bytes() == CONTENT
    assert [asked for _, asked in server.behaviour.asked] == ["", "bytes=300000-"]


def test_a_part_that_is_whole_already_begins_anew(server: FileServer, tmp_path: Path) -> None:
    url = server.url("x.data")
    (tmp_path / "x.data.part").write_bytes(CONTENT + b"more")
    (tmp_path / "x.data.part.tag").write_text(f'{url}\n"one"')
    assert fetched(source(tmp_path, url)).read_bytes() == CONTENT


def test_a_server_that_always_cuts_is_given_up(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.ranges = False
    server.behaviour.always_cut = 400_000
    text = refused(source(tmp_path, server.url("x.data")))
    assert "(the connection was cut after 400,000 of 1,024,000 bytes)" in text
    assert len(server.behaviour.asked) == 2
    assert not (tmp_path / "x.data").exists()


def test_a_server_that_gives_no_length(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.lengths = False
    assert "does not say how long the file is" in refused(source(tmp_path, server.url("x.data")))
    assert fetched(source(tmp_path, server.url("x.data"), sha256=SHA)).read_bytes() == CONTENT


@pytest.mark.parametrize("status", [203, 204, 206])
def test_an_answer_that_nobody_asked_for(status: int, server: FileServer, tmp_path: Path) -> None:
    server.behaviour.status = status
    assert ": try again" in refused(source(tmp_path, server.url("x.data")))
    assert names_in(tmp_path) == ["x.data.lock"]


@pytest.mark.parametrize("has_length", [True, False])
def test_more_than_the_file_can_have(has_length: bool, server: FileServer, tmp_path: Path) -> None:
    server.behaviour.lengths = has_length
    home = Home("x.data", (server.url("x.data"),), SHA, most_bytes=1000)
    assert "it has more than 1,000 bytes" in refused(Download(tmp_path, homes={"x.data": home}))
    assert names_in(tmp_path) == ["x.data.lock"]


@pytest.mark.parametrize("ending", ["part", "part.tag", "sha256"])
def test_links_are_not_followed(ending: str, server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / f"x.data.{ending}").symlink_to(tmp_path / "precious")
    assert refused(source(cache, server.url("x.data"), sha256=SHA))
    assert (tmp_path / "precious").read_text() == "mine"


def test_an_unexpected_checksum_is_refused(server: FileServer, tmp_path: Path) -> None:
    text = refused(source(tmp_path, server.url("x.data"), sha256="0" * 64))
    assert f"(sha256 is {SHA[:12]}... where 000000000000... is known)" in text
    assert names_in(tmp_path) == ["x.data.lock"]


def test_the_checksum_is_that_of_the_plain_content(server: FileServer, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/x.data", CONTENT)
    server.behaviour.files["x%2By.zip"] = packed.getvalue()
    path = fetched(source(tmp_path, server.url("x%2By.zip"), sha256=SHA))
    assert path.name == "x+y.zip"


def test_a_damaged_archive_is_refused(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.files["x.zip"] = CONTENT
    text = refused(source(tmp_path, server.url("x.zip")))
    assert "(what came is damaged: File is not a zip file)" in text
    assert not (tmp_path / "x.zip").exists()


def test_a_web_page_is_not_the_file(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.files["x.data"] = b"\n<!DOCTYPE html><title>Sign in</title>"
    text = refused(source(tmp_path, server.url("x.data")))
    assert "(a web page came instead of the file)" in text


def test_the_second_home_is_asked_when_the_first_has_nothing(
    server: FileServer, tmp_path: Path
) -> None:
    path = fetched(source(tmp_path, server.url("gone/x.data"), server.url("x.data")))
    assert path.read_bytes() == CONTENT
    assert [asked for asked, _ in server.behaviour.asked] == ["/gone/x.data", "/x.data"]


def test_no_network_is_one_sentence(server: FileServer, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{unused.getsockname()[1]}/x.data"
        gone = server.url("gone/x.data")
        assert refused(source(tmp_path, dead, gone)) == (
            f"x.data could not be downloaded from {dead} (Connection refused) or {gone} "
            "(HTTP 404 Not Found): try again with a network, or put the file into "
            f"{str(tmp_path)!r} yourself."
        )


def test_a_silent_server_is_given_up(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.silent = True
    began = time.monotonic()
    text = refused(source(tmp_path, server.url("x.data"), timeout=0.3))
    assert "(no answer within 0.3 s)" in text
    assert time.monotonic() - began < 2


def test_a_server_that_falls_silent_is_given_up(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.cuts = []
    server.behaviour.pause = 2.0
    server.behaviour.ranges = False
    began = time.monotonic()
    text = refused(source(tmp_path, server.url("x.data"), timeout=0.3))
    assert "(no answer within 0.3 s)" in text
    assert time.monotonic() - began < 2
    assert not (tmp_path / "x.data").exists()


def test_a_trickle_is_silence_too(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.trickle = 0.05
    server.behaviour.ranges = False
    began = time.monotonic()
    text = refused(source(tmp_path, server.url("x.data"), timeout=0.3))
    assert "(fewer than 1,024 bytes came within 0.3 s)" in text
    assert time.monotonic() - began < 2
    assert len(server.behaviour.asked) == 1


def test_two_processes_download_once(server: FileServer, tmp_path: Path) -> None:
    server.behaviour.pause = 1.0
    code = (
        "from pathlib import Path; from calipers.paper.datasets.remote.download import Download\n"
        "from calipers.paper.datasets.remote.homes import Home\n"
        f"homes = {{'x.data': Home('x.data', ({server.url('x.data')!r},), {SHA!r})}}\n"
        f"print(Download(Path({str(tmp_path)!r}), homes=homes).path_of('x.data').stat().st_size)"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [process.communicate(timeout=60)[0] for process in both] == [f"{len(CONTENT)}\n"] * 2
    assert len(server.behaviour.asked) == 1


def test_a_process_that_is_killed_leaves_nothing_under_the_name(
    server: FileServer, tmp_path: Path
) -> None:
    server.behaviour.pause = 30.0
    code = (
        "from pathlib import Path; from calipers.paper.datasets.remote.download import Download\n"
        "from calipers.paper.datasets.remote.homes import Home\n"
        f"homes = {{'x.data': Home('x.data', ({server.url('x.data')!r},))}}\n"
        f"Download(Path({str(tmp_path)!r}), lambda *_: print(end='.', flush=True), "
        "homes=homes).path_of('x.data')"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(3)
        process.kill()
    assert not (tmp_path / "x.data").exists()
    assert (tmp_path / "x.data.part").exists()
    server.behaviour.pause = 0.0
    assert fetched(source(tmp_path, server.url("x.data"))).read_bytes() == CONTENT


def test_an_interrupt_leaves_nothing_under_the_name(server: FileServer, tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    homes = {"x.data": Home("x.data", (server.url("x.data"),))}
    with pytest.raises(KeyboardInterrupt):
        Download(tmp_path, stop, homes=homes).path_of("x.data")
    assert not (tmp_path / "x.data").exists()


def test_a_cache_that_cannot_be_written(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = tmp_path / "file" / "cache"
    assert refused(source(cache, server.url("x.data"))) == (
        f"The cache folder {str(cache)!r} cannot be written (Not a directory): name another "
        "one in the variable CALIPERS_CACHE."
    )


def test_a_cached_file_that_changed_is_noticed(server: FileServer, tmp_path: Path) -> None:
    path = fetched(source(tmp_path, server.url("x.data")))
    assert Cache(tmp_path).path_of("x.data") == path
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(DatasetError) as caught:
        Cache(tmp_path).path_of("x.data")
    assert str(caught.value) == (
        f"The cached file {str(path)!r} has changed since it was downloaded: delete it and "
        "load the data set again."
    )


def test_another_file_than_the_first_time_is_noticed(server: FileServer, tmp_path: Path) -> None:
    path = fetched(source(tmp_path, server.url("x.data")))
    path.unlink()
    server.behaviour.files["x.data"] = CONTENT[::-1]
    text = refused(source(tmp_path, server.url("x.data")))
    assert "it is not the file that was downloaded first; delete '" in text
    (tmp_path / "x.data.sha256").unlink()
    assert fetched(source(tmp_path, server.url("x.data"))).read_bytes() == CONTENT[::-1]


def test_a_file_put_into_the_cache_by_hand_will_do(tmp_path: Path) -> None:
    (tmp_path / "x.data").write_bytes(CONTENT)
    assert Cache(tmp_path).path_of("x.data") == tmp_path / "x.data"
    assert Cache(tmp_path).path_of("y.data") is None


def test_the_cache_folder_is_where_the_user_or_the_platform_wants_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_folder() == tmp_path / "no-cache"
    monkeypatch.delenv("CALIPERS_CACHE")
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder() == Path("/xdg/calipers")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / ".cache" / "calipers"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "calipers"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert cache_folder() == Path("/local/calipers/Cache")


def test_addresses_and_checksums_are_well_formed() -> None:
    for file, home in HOMES.items():
        assert home.file == file
        assert home.urls
        assert all(url.startswith(("https://", "http://www.cad.zju.edu.cn/")) for url in home.urls)
        assert home.urls[0].startswith("https://")
        assert len(home.sha256) in (0, 64)
        assert set(home.sha256) <= set("0123456789abcdef")
