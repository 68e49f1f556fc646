"""Which format a file has, by its ending and its first bytes, and its reader."""

from __future__ import annotations

import zipfile
from pathlib import Path

from calipers.data.files import FileError
from calipers.data.files.signatures import (
    JSON,
    N_BYTES,
    PARQUET,
    PARQUET_SIGN,
    SAFETENSORS,
    content_of,
)
from calipers.data.tables.options import ReadOptions
from calipers.data.tables.packed import PACKINGS, opened, plain_suffix
from calipers.data.tables.table import Table

FORMATS = ("csv", "tsv", "xlsx", "jsonl", "parquet", "npy", "npz", "libsvm")
"""Names for ``--format``."""

_BY_SUFFIX = {
    ".csv": "csv",
    ".txt": "csv",
    ".dat": "csv",
    ".data": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".xlsx": "xlsx",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
}
_KNOWN = {*FORMATS, *_BY_SUFFIX}
_PACKED_TOO = ("csv", "tsv", "jsonl", "libsvm")
_BY_CONTENT = {PARQUET: "parquet", "a NumPy array": "npy", JSON: "jsonl"}
_BY_PART = {"xl/workbook.xml": "xlsx", ".npy": "npz"}  # of a zip archive
_ADVICE = {
    "a gzip file": "end its name in .gz",
    "a bzip2 file": "end its name in .bz2",
    "an xz file": "end its name in .xz",
    "a zip archive": "unpack it first",
    "an old Excel file (.xls) or one with a password": "save it as .xlsx, or as CSV",
    "a web page": "download the table itself; a page in its place may want you to sign in",
    "a placeholder of Git LFS": "fetch the file with 'git lfs pull'",
    SAFETENSORS: "give a table; a metric comes first in 'calipers transform'",
}


def read(path: Path, options: ReadOptions | None = None, *, kind: str | None = None) -> Table:
    """Read a file of data.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions, optional
        What is known about it. By default a reader finds out whether the first row names the
        columns and what a comma means; the table's ``remark`` says where it may be wrong.
    kind : str, optional
        One of `FORMATS`; by default told by the first bytes, then by the ending of the name.

    Raises
    ------
    FileError
        The file cannot be read; one sentence says why and what to do.
    """
    options = options or ReadOptions()
    check_is_file(path)
    kind = kind or _format_in(path) or format_of(path)
    if path.suffix.lower() in PACKINGS and kind not in _PACKED_TOO:
        raise FileError(f"{path} is packed, which {kind} cannot be read from: unpack it first.")
    given = {
        "--encoding": options.encoding,
        "--header": options.header,
        "--decimal": options.decimal,
    }
    for option, value in given.items():
        of_use = ("csv", "tsv", "xlsx") if option == "--header" else ("csv", "tsv")
        if value is not None and kind not in of_use:
            raise FileError(
                f"{path} is read as {kind}, to which {option} is of no use: leave it out."
            )
    if kind in ("csv", "tsv"):
        from calipers.data.tables.text import read_text

        return read_text(path, options, separator="\t" if kind == "tsv" else None)
    if kind in ("xlsx", "jsonl"):
        from calipers.data.tables.sheets import read_jsonl, read_xlsx

        return (read_jsonl if kind == "jsonl" else read_xlsx)(path, options)
    if kind == "parquet":
        from calipers.data.tables.columnar import read_parquet
        from calipers.data.tables.streamed import streamed_parquet

        streamed = streamed_parquet(path) if options.only is None else None
        return streamed or read_parquet(path, options)
    if kind == "libsvm":
        from calipers.data.tables.sparse import read_svmlight

        return read_svmlight(path)
    from calipers.data.tables.arrays import read_npy, read_npz

    return (read_npy if kind == "npy" else read_npz)(path, label=options.label)


def check_is_file(path: Path) -> None:
    """Raise `FileError` if there is no such file."""
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise FileError(f"{str(path)!r} {what}: give the name of a data file.")


def is_table(path: Path) -> bool:
    """Whether there is such a file of a table, by its first bytes or by its ending."""
    try:
        return path.is_file() and (_format_in(path) or plain_suffix(path)) in _KNOWN
    except FileError:
        return False


def _format_in(path: Path) -> str | None:
    """Return the format that the first bytes tell of; None if only the ending does.

    Raises
    ------
    FileError
        The file is none of a table.
    """
    if path.suffix.lower() in PACKINGS:
        return None
    with opened(path) as stream:
        content = content_of(stream.read(N_BYTES))
    if content == PARQUET and not _ends_in(path, PARQUET_SIGN):
        return None
    if content is None or content in _BY_CONTENT:
        return _BY_CONTENT.get(content or "")
    if content == "a zip archive":
        try:
            with zipfile.ZipFile(path) as archive:
                parts = archive.namelist()
        except Exception:  # a damaged one, which its reader reports
            return None
        for ending, kind in _BY_PART.items():
            if any(part.endswith(ending) for part in parts):
                return kind
    advice = _ADVICE.get(content, "give a table, such as a CSV")
    raise FileError(f"{path} is {content}, not a table: {advice}.")


def _ends_in(path: Path, sign: bytes) -> bool:
    """Whether the last bytes of a file are these."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - len(sign)))
        return stream.read() == sign


def format_of(path: Path) -> str:
    """Return the format that the ending of a name tells of."""
    suffix = plain_suffix(path)
    if suffix not in _BY_SUFFIX:
        raise FileError(
            f"The ending of {str(path)!r} names no format: end it in one of "
            f"{', '.join(_BY_SUFFIX)} (or a text also in {', '.join(PACKINGS)}), or give --format."
        )
    return _BY_SUFFIX[suffix]
