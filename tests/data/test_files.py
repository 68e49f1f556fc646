"""Files are written completely or not at all; foreign text is shown on one harmless line."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from calipers import FileError
from calipers.data.files import atomic_write, check_writable

posix = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "metric.safetensors"
    place.write_bytes(b"old")
    return place


def write_new(path: Path) -> None:
    with atomic_write(path) as stream:
        stream.write(b"new")


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_leaves_the_old_file(
    step: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step, no_space)
    with pytest.raises(FileError) as caught:
        write_new(path)
    assert str(caught.value) == (
        f"Cannot write {str(path)!r} (No space left on device): name another place, or free "
        "this one; what was there before is unchanged."
    )
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupt_while_writing_leaves_the_old_file(path: Path) -> None:
    def stopped_halfway() -> None:
        with atomic_write(path) as stream:
            stream.write(b"half of a")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped_halfway()
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_a_new_file_never_has_its_name_before_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "new"
    with atomic_write(path) as stream:
        stream.write(b"all")
        stream.flush()
        assert not path.exists()
    assert path.read_bytes() == b"all"


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("m" * 255)
    write_new(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "is a folder or a device, not a file"),
        ("no/where", "(No such file or directory)"),
        ("a\0b", "is no name for a file"),
    ],
)
def test_places_where_nothing_can_be_written(name: str, told: str, tmp_path: Path) -> None:
    for check in (check_writable, write_new):
        with pytest.raises(FileError, match=told):
            check(tmp_path / name)


# Permissions


def draft_mode(path: Path) -> int:
    """The permissions of the draft while it is written."""
    with atomic_write(path) as stream:
        return stat.S_IMODE(os.fstat(stream.fileno()).st_mode)


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_draft_has_the_permissions_of_the_file_it_replaces(mode: int, path: Path) -> None:
    path.chmod(mode)
    with umask(0o022):
        assert draft_mode(path) == mode
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_a_draft_is_private_from_its_first_moment(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.chmod(0o600)
    monkeypatch.setattr("pathlib.Path.chmod", no_space)  # what comes after the file was created
    modes: list[int] = []
    real = os.open

    def observed(name: str, flags: int, mode: int = 0o777) -> int:
        modes.append(mode)
        return real(name, flags, mode)

    monkeypatch.setattr("os.open", observed)
    with pytest.raises(FileError), atomic_write(path):
        pass
    assert modes == [0o600]


@posix
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_and_its_draft_obey_the_umask(mask: int, mode: int, tmp_path: Path) -> None:
    path = tmp_path / "new"
    with umask(mask):
        assert draft_mode(path) == mode
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_links_are_followed(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    write_new(link)
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
