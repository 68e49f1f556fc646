"""Attacks drawn at random: input of every library, tables, foreign text, kills, and more.

An attack makes something hostile of random numbers, hands it to the package as a user would, and
judges what comes back: a right answer, or a refusal in one sentence. It knows what is right from
what it made, and nothing of how the package checks it.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from calipers import FileError, TripletSGD
from calipers.cli.main import main
from calipers.data.frames import Reader
from calipers.data.tables import read_table

Rng = np.random.Generator
LONGEST = 120.0  # seconds of a command
EVIL = ["\x1b[2J", "\x1b]0;t\x07", "\u202e", "\u2066", "\x9b31m", "\r", "\x00", "\u200f", "é", "=1"]


def one_of(rng: Rng, choices: Any) -> Any:
    """Draw one of some choices."""
    choices = list(choices)
    return choices[int(rng.integers(len(choices)))]


def learner() -> TripletSGD:
    """One that is fast."""
    return TripletSGD(n_neighbors=1, n_rounds=1, n_triplets=50, batch_size=5, random_state=0)


# Kinds of X and y

MISSING = {"none": None, "nan": np.nan}
LABELS: dict[str, Callable[[int], Any]] = {
    "int": int,
    "huge int": lambda i: 2**53 + i,
    "text": lambda i: f"class {i}",
    "bytes": lambda i: b"%d" % i,
    "date": lambda i: date(2020, 1, 1) + timedelta(i),
    "bool": lambda i: bool(i % 2),
    "float": lambda i: i + 0.5,
    "decimal": lambda i: Decimal(i) / 7,
    "fraction": lambda i: Fraction(i, 7),
    "tuple": lambda i: (i, "x"),
    "frozenset": lambda i: frozenset([i]),
    "complex": lambda i: complex(i, 1),
}


def _library(name: str) -> Any:
    with contextlib.suppress(ImportError):
        return __import__(name)
    return None


def _column(rng: Rng, values: list[Any]) -> Any:
    """Labels as some library holds them."""
    as_object = np.empty(len(values), dtype=object)
    as_object[:] = values
    pd, pl, pa = (_library(name) for name in ("pandas", "polars", "pyarrow"))
    makers: list[Callable[[], Any]] = [lambda: values, lambda: as_object]
    if not any(value in MISSING.values() for value in values):  # NumPy makes texts of them
        makers += [lambda: np.array(values)]
    makers += [lambda: pd.Series(values), lambda: pd.Categorical(values)] if pd else []
    makers += [lambda: pl.Series(values), lambda: pl.DataFrame({"y": values})] if pl else []
    makers += [lambda: pa.array(values), lambda: pa.chunked_array([values])] if pa else []
    try:
        return one_of(rng, makers)()
    except Exception:  # the library has no such labels
        return as_object


def _matrix(rng: Rng, X: Any) -> Any:
    names = [f"f{i}" for i in range(X.shape[1])]
    pd, pl, pa = (_library(name) for name in ("pandas", "polars", "pyarrow"))
    columns = dict(zip(names, X.T, strict=True))
    makers: list[Callable[[], Any]] = [
        X.tolist,
        lambda: np.asfortranarray(X),
        lambda: X.astype(">f8"),
        lambda: X[::-1][::-1],
        lambda: X.astype(object),
        lambda: np.ma.array(X),
    ]
    makers += [lambda: pd.DataFrame(columns), lambda: pd.DataFrame(X)] if pd else []
    makers += [lambda: pl.DataFrame(columns)] if pl else []
    makers += [lambda: pa.table(columns)] if pa else []
    return one_of(rng, makers)()


def kinds(rng: Rng, folder: Path) -> str:
    """X and y of every library installed: the metric of plain arrays, or a refusal."""
    n = 24
    codes = rng.permutation(np.arange(n) % 3)
    X = rng.normal(size=(n, 3)) + codes[:, None]
    kind, missing = one_of(rng, LABELS), one_of(rng, [None, None, *MISSING])
    values = [LABELS[kind](int(code)) for code in codes]
    expected = len(set(values))
    if missing:
        values = [
            MISSING[missing] if code == 2 else v for code, v in zip(codes, values, strict=True)
        ]
    try:
        fitted = learner().fit(_matrix(rng, X), _column(rng, values))
    except (ValueError, TypeError):
        return "refused"
    assert not missing, f"missing labels ({kind}) became a class"
    assert len(fitted.classes_) == expected, (
        f"{len(fitted.classes_)} classes of {expected} ({kind})"
    )
    order = {label: code for code, label in enumerate(sorted(set(values)))}
    plain = learner().fit(X, np.array([order[value] for value in values]))
    np.testing.assert_allclose(fitted.components_, plain.components_, rtol=1e-9)
    return "held"


# Tables

NAMES: dict[str, Callable[[int], str]] = {
    "counted": str,
    "from one": lambda i: str(i + 1),
    "years": lambda i: str(2000 + 10 * i),
    "text": lambda i: f"width {i}",
    "numbers": lambda i: f"{i}.5",
    "none": lambda i: "",
}
TEXT_LABELS: dict[str, Callable[[int], str]] = {
    "int": str,
    "huge": lambda i: str(2**53 + i),
    "zeros": lambda i: "0" * (i + 1) + "7",
    "underscore": lambda i: ["10", "1_0", "1__0"][i],
    "script": lambda i: ["1", "\u0661", "\uff11"][i],
    "text": lambda i: f"kind, {i}",
    "float": lambda i: ["1.5", "1.50", "15e-1"][i],
    "sign": lambda i: ["-1", "+1", "1"][i],
}


def table(rng: Rng, folder: Path) -> str:
    """CSV with any names and labels: the same rows, features and classes come back."""
    n, d = int(rng.integers(3, 40)), int(rng.integers(1, 5))
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, d)) if rng.random() < 0.7 else rng.integers(0, 9, (n, d)).astype(float)
    cells = [
        [f"{v:.0f}" if v == round(v) and rng.random() < 0.9 else repr(v) for v in row]
        for row in X.tolist()
    ]
    has_header = rng.random() < 0.7
    naming, kind = one_of(rng, NAMES), one_of(rng, TEXT_LABELS)
    labels = [TEXT_LABELS[kind](int(code)) for code in codes]
    if naming == "none":
        has_header = False
    names = [
        *(NAMES[naming](i) for i in range(d)),
        "species" if rng.random() < 0.5 else NAMES[naming](d),
    ]
    path = folder / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=one_of(rng, ",;\t"))
        writer.writerows([names] if has_header else [])
        writer.writerows([*row, label] for row, label in zip(cells, labels, strict=True))
    known = dict.fromkeys(names[:d], "number") if has_header and rng.random() < 0.5 else None
    header = one_of(rng, [None, "0" if has_header else "none"])
    try:
        found = read_table(path, Reader(header=header), label="-1", features=known)
    except FileError:
        return "refused"
    assert found.named is has_header, "the header is not taken as it is"
    assert found.y is not None
    assert len(found.y) == n, f"{len(found.y)} rows of {n}"
    n_classes = len(set(labels))
    assert len(set(found.y.tolist())) == n_classes, f"labels {kind}: {set(found.y.tolist())}"
    return "held"


# Foreign text


def foreign(rng: Rng, folder: Path) -> str:
    """Names, labels and file names with controls: no command sends them to the terminal."""

    def evil() -> str:
        return "".join(one_of(rng, [*EVIL, "a", "b", "c", " "]) for _ in range(5))

    names = [f"{evil()}{i}" for i in range(3)]
    path = folder / f"t{evil()}.csv".replace("\x00", "").replace("/", "")
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([*names, "y"])
        for i in range(24):
            writer.writerow(
                [*rng.normal(size=3).tolist(), f"{evil() if rng.random() < 0.1 else ''}{i % 2}"]
            )
    fit = ["fit", str(path), "-o", str(folder / "m")]
    fit += ["--learner", one_of(rng, ["scaled", "within-class"])]
    label = one_of(rng, ["y", "y", evil(), "9"]).replace("\x00", "")  # no argument can hold it
    commands = [[*fit, f"--label={label}"], ["inspect", str(folder / "m")], [evil()]]
    commands += [["transform", str(folder / "m"), str(path), "-o", str(folder / "o.csv")]]
    for command in commands:
        screen = io.StringIO()
        with (
            contextlib.redirect_stdout(screen),
            contextlib.redirect_stderr(screen),
            contextlib.suppress(SystemExit),
        ):
            code = main(command)
            assert code in (0, 2), f"exit code {code}"
        told = screen.getvalue()
        assert all(line.isprintable() for line in told.split("\n")), f"{command[0]}: {told!r}"
    return "held"


# Kills and environments: in processes of their own


def _command(*words: str, seconds: float = LONGEST, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        **how,
    )


def _small_table(rng: Rng, folder: Path, n: int = 60) -> Path:
    path = folder / "data.csv"
    rows = [f"{a!r},{b!r},{i % 3}" for i, (a, b) in enumerate(rng.normal(size=(n, 2)).tolist())]
    path.write_text("\n".join(["a,b,y", *rows]))
    return path


def killed(rng: Rng, folder: Path) -> str:
    """A command killed at any moment leaves the old file or the new; the next one cleans up."""
    path, out = _small_table(rng, folder, 2000), folder / "metric"
    words = [sys.executable, "-m", "calipers", "fit", str(path), "--label=y", "-o", str(out)]
    words += ["--quiet", "--learner=triplet-sgd"]
    for _ in range(2):
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(float(rng.uniform(0.5, 4.0)))
        process.send_signal(one_of(rng, [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        process.wait(LONGEST)
    done = _command(*words[1:])
    assert done.returncode == 0, done.stderr
    left = sorted(place.name for place in folder.iterdir())
    assert left == ["data.csv", "metric"], left
    return "held"


ENVIRONMENTS: dict[str, dict[str, str]] = {
    "no home": {"HOME": "/nonexistent", "XDG_CACHE_HOME": ""},
    "C": {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    "dumb": {"TERM": "dumb", "COLUMNS": "1"},
    "no temporary folder": {"TMPDIR": "/nonexistent"},
    "threads": {"CALIPERS_NUM_THREADS": "1000", "OMP_NUM_THREADS": "7"},
    "odd threads": {"CALIPERS_NUM_THREADS": "-1"},
    "too many threads": {"CALIPERS_NUM_THREADS": "9" * 30},
    "odd cache": {"CALIPERS_CACHE": "/proc/x", "CALIPERS_DATA": "/nonexistent"},
    "odd terminal": {"TERM": "\x1b[2J", "COLUMNS": "x", "LINES": "-1", "TZ": "nonsense"},
    "odd Python": {"PYTHONWARNINGS": "error", "PYTHONOPTIMIZE": "2", "PYTHONIOENCODING": "utf-16"},
}
SMALL_FILES = "import resource, sys, runpy; resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)); \
sys.argv = sys.argv[1:]; runpy.run_module('calipers', run_name='__main__')"
"""A command on a disk that is full after half a kilobyte."""


@cache
def _as_nobody() -> dict[str, Any]:
    """How to run as nobody, where we may and nobody may run Python; else nothing."""
    how: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []}
    try:
        return how if _command("-c", "import calipers", **how).returncode == 0 else {}
    except OSError:
        return {}


def environment(rng: Rng, folder: Path) -> str:
    """No home, nobody, full or read-only disks, closed outputs: a result, or one sentence."""
    name = one_of(rng, ENVIRONMENTS)
    path = _small_table(rng, folder)
    output = one_of(rng, [folder / "m", Path("/dev/full"), Path("/proc/m"), folder / "no" / "m"])
    words = ["-m", "calipers", "fit", str(path), "--label", "y", "-o", str(output)]
    how: dict[str, Any] = {"env": os.environ | ENVIRONMENTS[name], "stdin": subprocess.DEVNULL}
    if rng.random() < 0.5:
        folder.chmod(0o755)
        how |= _as_nobody()
    if rng.random() < 0.3:
        words[:2] = ["-c", SMALL_FILES, "calipers"]
    done = _command(*words, "--learner", one_of(rng, ["scaled", "triplet-sgd"]), **how)
    assert done.returncode in (0, 2), f"{name}: {done.returncode} {done.stderr[-300:]}"
    assert "Traceback" not in done.stderr, done.stderr[-500:]
    if done.returncode:
        assert done.stderr.count("\n") == 1, done.stderr
        return "refused"
    return "held"


FORK = """
import os, sys, threading
import numpy as np
from calipers import TripletSGD
rng = np.random.default_rng(int(sys.argv[1]))
X, y = rng.normal(size=(3000, 30)), np.arange(3000) % 3
thread = threading.Thread(target=lambda: TripletSGD(random_state=0).fit(X, y))
thread.start()
for _ in range(3):
    child = os.fork()
    if not child:
        TripletSGD(random_state=0, n_rounds=1).fit(X[:60], y[:60])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
thread.join()
"""


def forked(rng: Rng, folder: Path) -> str:
    """A process forked while another thread fits can fit, too."""
    done = _command("-W", "ignore", "-c", FORK, str(int(rng.integers(1 << 30))))
    assert done.returncode == 0, done.stderr[-500:]
    return "held"


ATTACKS: dict[str, tuple[Callable[[Rng, Path], str], int]] = {
    "kinds": (kinds, 100),
    "table": (table, 100),
    "foreign": (foreign, 30),
    "killed": (killed, 1),
    "environment": (environment, 2),
    "forked": (forked, 1),
}
"""Attacks by name, and how often each is drawn for one of the rarest."""


def attack(name: str, seed: int, folder: Path) -> str:
    """Carry out one attack; an AssertionError, or any other error, is what it broke."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ATTACKS[name][0](np.random.default_rng(seed), folder)
