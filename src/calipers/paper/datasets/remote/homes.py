"""Where the original files of the data sets are published.

Checksums are those of the plain content, so they hold for every address and packing. They
are given where the content could be rebuilt from a second copy or where several public
records agree; the other files are checked by their size once read (`table1`), and by the
checksum that the cache notes at the first download.

OpenML is no home here: its copies are converted, and what the standard splits need is the
original order of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from calipers.paper.datasets.formats.unpack import SUFFIXES

_UCI = "https://archive.ics.uci.edu/static/public/"
_OLD_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"
_CAI = "www.cad.zju.edu.cn/home/dengcai/Data/TDT2/TDT2.mat"


@dataclass(frozen=True)
class Home:
    """Where one file is published.

    Attributes
    ----------
    file : str
        Name of the plain file.
    urls : tuple of str
        Addresses in the order in which they are tried; their last part says how the file
        is packed there.
    sha256 : str
        Checksum of the plain content; empty where it is not known.
    most_bytes : int
        More than the file can have as it is served.
    """

    file: str
    urls: tuple[str, ...]
    sha256: str = ""
    most_bytes: int = 256 << 20

    @property
    def names(self) -> tuple[str, ...]:
        """Names under which a folder may hold the file: plain, packed, or as served."""
        packed = [self.file + suffix for suffix in SUFFIXES]
        return tuple(dict.fromkeys([*packed, *map(served_name, self.urls)]))


def served_name(url: str) -> str:
    """Name of the file that an address serves.

    Examples
    --------
    >>> served_name("https://archive.ics.uci.edu/static/public/158/poker+hand.zip")
    'poker+hand.zip'
    """
    return unquote(url.rpartition("/")[2])


def names_of(file: str) -> tuple[str, ...]:
    """Names under which a folder may hold ``file``.

    Examples
    --------
    >>> names_of("isolet5.data")[1:]
    ('isolet5.data.Z', 'isolet5.data.gz', 'isolet5.data.bz2', 'isolet.zip')
    >>> names_of("dna.npz")
    ('dna.npz',)
    """
    return HOMES[file].names if file in HOMES else (file,)


def _uci(file: str, archive: str, old: str, sha256: str = "") -> Home:
    return Home(file, (_UCI + archive, _OLD_UCI + old), sha256)


def _libsvm(file: str, served: str, most_bytes: int = 256 << 20) -> Home:
    return Home(file, (_LIBSVM + served,), most_bytes=most_bytes)


_ALL_HOMES = (
    _uci(
        "semeion.data",
        "178/semeion+handwritten+digit.zip",
        "semeion/semeion.data",
        "f43228ae3da5ea6a3c95069d53450b86166770e3b719dcc333182128fe08d4b1",
    ),
    _libsvm("dna.scale", "dna.scale"),
    _libsvm("dna.scale.t", "dna.scale.t"),
    _uci("isolet1+2+3+4.data", "54/isolet.zip", "isolet/isolet1+2+3+4.data.Z"),
    _uci("isolet5.data", "54/isolet.zip", "isolet/isolet5.data.Z"),
    Home("TDT2.mat", (f"https://{_CAI}", f"http://{_CAI}")),
    _uci(
        "letter-recognition.data",
        "59/letter+recognition.zip",
        "letter-recognition/letter-recognition.data",
        "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
    ),
    _libsvm("protein", "protein.bz2"),
    _libsvm("protein.t", "protein.t.bz2"),
    _uci(
        "connect-4.data",
        "26/connect+4.zip",
        "connect-4/connect-4.data.Z",
        "063152e6eadbb424c7ef4645df76e493a43812edd9c992400983da4fa54f8cba",
    ),
    _libsvm("combined", "vehicle/combined.bz2"),
    _libsvm("combined.t", "vehicle/combined.t.bz2"),
    _libsvm("rcv1_train.multiclass", "rcv1_train.multiclass.bz2"),
    _libsvm("rcv1_test.multiclass", "rcv1_test.multiclass.bz2", 2 << 30),
    _uci(
        "poker-hand-testing.data",
        "158/poker+hand.zip",
        "poker/poker-hand-testing.data",
        "3cd75958e19dd321ed5ca3f7f154c0f6aad544aab9f37731ac545b5f66b232c7",
    ),
    _uci(
        "poker-hand-training-true.data",
        "158/poker+hand.zip",
        "poker/poker-hand-training-true.data",
        "37becdf87d5f8cbf2b91d6471e965a25b86cb4a6d878c0f94a4025969fca464f",
    ),
    _libsvm("pendigits", "pendigits"),
    _libsvm("pendigits.t", "pendigits.t"),
)

HOMES: Mapping[str, Home] = {home.file: home for home in _ALL_HOMES}
"""Name of the plain file to where it is published."""
