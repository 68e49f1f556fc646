"""How commands show results."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import pytest

from calipers.cli.output import check_picture, write_picture
from calipers.data.files import FileError


class Broken:
    """A figure whose file cannot be finished."""

    def savefig(self, stream: IO[bytes], *, format: str) -> None:
        stream.write(b"half a pic")
        raise OSError("disk full")


def test_a_picture_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    old = tmp_path / "picture.png"
    old.write_text("old")
    with pytest.raises(FileError, match="disk full"):
        write_picture(Broken(), old)  # type: ignore[arg-type]
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("picture.png", "old")
    ]


def test_places_where_no_picture_can_go(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere" / "picture.png"):
        with pytest.raises(FileError):
            check_picture(place)
