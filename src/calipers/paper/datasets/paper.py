"""The data sets of the paper's Table 1, with the features that the paper used.

The paper does not say how features were coded. What is used here was found by matching the
number of updates of AS-SGD, which depends on nothing else once the triplets are fixed:
values as they are in the public files, except that letter is scaled to [-1, 1], tdt30 and
rcv20 are reduced to 200 dimensions (as the paper says), and connect4's squares b / o / x
are numbered 1 / 2 / 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from calipers.paper.datasets import originals, stored
from calipers.paper.datasets.split import Split, Table
from calipers.paper.datasets.table1 import SIZES, Size


@dataclass(frozen=True)
class Form:
    """Files that a data set can be read from.

    Attributes
    ----------
    files : tuple of str
        Names of the files it needs.
    read : callable
        Takes one path per file.
    note : str
        What a reader of results should know.
    complete : bool
        Whether it is the data set of the paper and not a part or a simulation.
    """

    files: tuple[str, ...]
    read: Callable[..., Split | Table]
    note: str = ""
    complete: bool = True


@dataclass(frozen=True)
class Described:
    """A data set in all its forms.

    Attributes
    ----------
    original : Form
        The files of its public home, which can be downloaded.
    npz : Form or None
        The compact form of a folder of the user's.
    has_standard_split : bool
        Whether the original has its own training and test part.
    """

    original: Form
    npz: Form | None = None
    has_standard_split: bool = False

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms in the order in which they are looked for: complete ones first."""
        if self.npz is None:
            return (self.original,)
        if self.npz.complete:
            return (self.npz, self.original)
        return (self.original, self.npz)


def _libsvm(training: str, testing: str, size: Size, note: str = "") -> Form:
    files = (training, testing)
    return Form(files, partial(originals.from_libsvm, files=files, size=size), note)


SETS: dict[str, Described] = {
    "semeion": Described(
        Form(("semeion.data",), originals.semeion),
        Form(("semeion.npz",), stored.whole),
    ),
    "dna": Described(
        _libsvm("dna.scale", "dna.scale.t", SIZES["dna"]),
        Form(("dna.npz",), stored.standard),
        has_standard_split=True,
    ),
    "isolet": Described(
        Form(("isolet1+2+3+4.data", "isolet5.data"), originals.isolet),
        Form(("isolet.npz",), stored.standard),
        has_standard_split=True,
    ),
    "tdt30": Described(
        Form(("TDT2.mat",), originals.tdt30),
        Form(("tdt30.npz",), stored.tdt30),
    ),
    "letter": Described(
        Form(("letter-recognition.data",), originals.letter),
        Form(("letter.npz",), stored.letter),
        has_standard_split=True,
    ),
    "protein": Described(
        _libsvm("protein", "protein.t", SIZES["protein"], "the complete files of LIBSVM"),
        Form(
            ("protein_val.npz",),
            stored.part_of_protein,
            "only the validation part: 2,871 of 24,387 rows, not the paper's split",
            complete=False,
        ),
        has_standard_split=True,
    ),
    "connect4": Described(
        Form(("connect-4.data",), originals.connect4),
        Form(("connect4.npz",), stored.connect4),
    ),
    "sensit": Described(
        _libsvm("combined", "combined.t", SIZES["sensit"]), has_standard_split=True
    ),
    "rcv20": Described(
        Form(("rcv1_test.multiclass", "rcv1_train.multiclass"), originals.rcv20),
        has_standard_split=True,
    ),
    "poker": Described(
        Form(
            ("poker-hand-testing.data", "poker-hand-training-true.data"),
            originals.poker,
            "the complete files of UCI",
        ),
        Form(
            ("poker_sim.npz", "poker.npz"),
            stored.simulated_poker,
            "trained on a simulated stand-in: 18,488 real rows and 981,512 dealt by the rules",
            complete=False,
        ),
        has_standard_split=True,
    ),
    "pendigits": Described(
        _libsvm(
            "pendigits", "pendigits.t", originals.PENDIGITS, "not one of the paper's data sets"
        ),
        Form(("pendigits.npz",), stored.standard, "not one of the paper's data sets"),
        has_standard_split=True,
    ),
}
"""Name to its forms, in the order of Table 1."""
