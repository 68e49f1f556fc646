"""Files are written completely or not at all, and what killed writers left is removed."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from calipers import FileError
from calipers.data.files import atomic, atomic_write

posix = pytest.mark.skipif(os.name == "nt", reason="permissions and processes of POSIX")

KILLED = """
import os, signal, sys
from calipers.data.files import atomic_write
with atomic_write(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


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


# Drafts that were left behind


def left_behind(path: Path, *, pid: int, machine: str | None = None, age: float = 0.0) -> Path:
    """A draft of this name, as a writer that was killed leaves it."""
    target, here, _, rest = atomic._draft_name(path)[1:].split("-")
    draft = path.with_name(f".{target}-{machine or here}-{pid}-{rest}")
    draft.write_bytes(b"half")
    then = draft.stat().st_mtime - age
    os.utime(draft, (then, then))
    return draft


@posix
def test_the_draft_of_a_killed_writer_is_removed_by_the_next_one(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, timeout=60)
    assert done.returncode == -9
    (draft,) = (place for place in path.parent.iterdir() if place != path)
    assert draft.name.startswith(".")
    assert draft.name.endswith(".part")
    write_new(path.with_name("another"))
    assert draft.exists()
    write_new(path)
    assert path.read_bytes() == b"new"
    assert not draft.exists()


def test_the_draft_of_a_writer_at_work_stays(path: Path) -> None:
    at_work = left_behind(path, pid=os.getpid())
    elsewhere = left_behind(path, pid=1 << 22, machine="0" * 12)  # nobody can tell from here
    write_new(path)
    assert at_work.exists()
    assert elsewhere.exists()


def test_a_draft_of_more_than_an_hour_is_removed(path: Path) -> None:
    old = left_behind(path, pid=os.getpid(), age=3700.0)
    far = left_behind(path, pid=1, machine="0" * 12, age=3700.0)
    recent = left_behind(path, pid=1, machine="0" * 12, age=3500.0)
    write_new(path)
    assert not old.exists()
    assert not far.exists()
    assert recent.exists()


def test_files_of_others_stay(path: Path) -> None:
    others = [
        path.with_name(name)
        for name in (".a.part", "metric.safetensors.part", f".{'0' * 12}-{'0' * 12}-1-aa.part")
    ]
    others.append(left_behind(path.with_name("another"), pid=1, age=9999.0))
    for other in others:
        other.touch()
        os.utime(other, (0, 0))
    write_new(path)
    assert all(other.exists() for other in others)


@posix
@pytest.mark.skipif(os.geteuid() == 0 if os.name != "nt" else True, reason="root may read all")
def test_a_folder_that_cannot_be_listed_can_be_written(path: Path) -> None:
    path.parent.chmod(0o300)
    try:
        write_new(path)
    finally:
        path.parent.chmod(0o700)
    assert path.read_bytes() == b"new"
