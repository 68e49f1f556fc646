"""Files of data sets: in a folder of the user's, downloaded before, or at their public homes.

Checksums are those of the plain content. They are given where several public records of it
agree; the other files are checked by their size once read.
"""

from __future__ import annotations

import os
import subprocess
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile

from calipers.data.files import FileError, atomic_write, needs_package

_UCI = "https://archive.ics.uci.edu/static/public/"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"


class DatasetError(FileError):
    """A data set cannot be had; the message says what to do."""


class Home(NamedTuple):
    """Where a file is published, by itself or in a zip."""

    url: str
    sha256: str = ""


HOMES = {
    "semeion.data": Home(
        _UCI + "178/semeion+handwritten+digit.zip",
        "f43228ae3da5ea6a3c95069d53450b86166770e3b719dcc333182128fe08d4b1",
    ),
    "dna.scale": Home(_LIBSVM + "dna.scale"),
    "dna.scale.t": Home(_LIBSVM + "dna.scale.t"),
    "isolet1+2+3+4.data": Home(_UCI + "54/isolet.zip"),
    "isolet5.data": Home(_UCI + "54/isolet.zip"),
    "TDT2.mat": Home("https://www.cad.zju.edu.cn/home/dengcai/Data/TDT2/TDT2.mat"),
    "letter-recognition.data": Home(
        _UCI + "59/letter+recognition.zip",
        "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
    ),
    "protein.bz2": Home(_LIBSVM + "protein.bz2"),
    "protein.t.bz2": Home(_LIBSVM + "protein.t.bz2"),
    "connect-4.data": Home(
        _UCI + "26/connect+4.zip",
        "063152e6eadbb424c7ef4645df76e493a43812edd9c992400983da4fa54f8cba",
    ),
    "combined.bz2": Home(_LIBSVM + "vehicle/combined.bz2"),
    "combined.t.bz2": Home(_LIBSVM + "vehicle/combined.t.bz2"),
    "rcv1_train.multiclass.bz2": Home(_LIBSVM + "rcv1_train.multiclass.bz2"),
    "rcv1_test.multiclass.bz2": Home(_LIBSVM + "rcv1_test.multiclass.bz2"),
    "poker-hand-testing.data": Home(
        _UCI + "158/poker+hand.zip",
        "3cd75958e19dd321ed5ca3f7f154c0f6aad544aab9f37731ac545b5f66b232c7",
    ),
    "poker-hand-training-true.data": Home(
        _UCI + "158/poker+hand.zip",
        "37becdf87d5f8cbf2b91d6471e965a25b86cb4a6d878c0f94a4025969fca464f",
    ),
    "pendigits": Home(_LIBSVM + "pendigits"),
    "pendigits.t": Home(_LIBSVM + "pendigits.t"),
}
"""Name of a file to its home."""


def data_folder(data_dir: str | os.PathLike[str] | None) -> Path | None:
    """Return the user's folder of data, if there is one: the given one, else $CALIPERS_DATA."""
    given = data_dir or os.environ.get("CALIPERS_DATA")
    if not given:
        return None
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise DatasetError(f"The data folder {str(folder)!r} does not exist.")
    return folder


def cache_folder() -> Path:
    """Return where downloads are kept: $CALIPERS_CACHE, else below the user's ``.cache``."""
    given = os.environ.get("CALIPERS_CACHE")
    return Path(given).expanduser() if given else Path.home() / ".cache" / "calipers"


def path_of(file: str, folder: Path | None, *, download: bool) -> Path | None:
    """Return the path of a file, after downloading it if it is not here; None if it is not."""
    for place in (folder, cache_folder()):
        if place is not None and (place / file).is_file():
            return place / file
    return _downloaded(file, HOMES[file]) if download and file in HOMES else None


def _downloaded(file: str, home: Home) -> Path:
    """Download a file; unpack and check it if it is in a zip."""
    if os.environ.get("CALIPERS_OFFLINE", "0") not in ("", "0"):
        raise DatasetError(f"{file} is not here, and CALIPERS_OFFLINE forbids its download.")
    try:
        import pooch
    except ImportError as missing:
        raise ImportError(needs_package("--download", "pooch", "paper"), name="pooch") from missing
    folder = cache_folder()
    try:
        if not home.url.endswith(".zip"):
            return Path(pooch.retrieve(home.url, known_hash=None, fname=file, path=folder))
        archive = Path(pooch.retrieve(home.url, known_hash=None, path=folder))
        content = _member(archive, file)
        if home.sha256 not in ("", sha256(content).hexdigest()):
            raise BadZipFile(f"its {file} is not the one that is known")
        with atomic_write(folder / file) as stream:
            stream.write(content)
    except (BadZipFile, subprocess.CalledProcessError) as problem:
        raise DatasetError(f"{str(archive)!r}: {problem}: delete it and try again.") from problem
    except OSError as problem:
        raise DatasetError(f"{file} cannot be had from {home.url} ({problem}).") from problem
    return folder / file


def _member(archive: Path, file: str) -> bytes:
    """Return the content of a member, which the Unix program ``compress`` may have packed."""
    with ZipFile(archive) as members:
        for name in members.namelist():
            if PurePosixPath(name).name == file:
                return members.read(name)
            if PurePosixPath(name).name == f"{file}.Z":  # the program gzip unpacks that
                packed = members.read(name)
                return subprocess.run(
                    ["gzip", "-dc"], input=packed, capture_output=True, check=True
                ).stdout
    raise BadZipFile(f"no {file} in {archive.name}")
