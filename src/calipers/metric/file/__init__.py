"""Learned metrics as files, and as parts of other programs.

A file is a safetensors file: named arrays and a JSON header, under one SHA-256 checksum. Reading
it needs NumPy and safetensors only, and runs nothing that the file says.

Map of this package, in reading order:

- `errors`: the one exception that files raise;
- `atomic`: files that are written completely or not at all;
- `signatures`: what a file is by its first bytes;
- `container`: a JSON text and named arrays in one safetensors file, under one checksum;
- `values`: Python values as JSON, and the checks of JSON values that are read;
- `encoder`: how the columns of a table became features, as JSON;
- `contents`: what a file holds;
- `collect`: the contents of a fitted estimator;
- `header`: the contents without the arrays, as JSON, and its validation;
- `store`: write and read a file;
- `checkpoint`: the state of a fit that is under way, in the same container;
- `export`: the same linear map for onnxruntime and faiss.

:meth:`MahalanobisMixin.save` writes such a file, :func:`calipers.load` reads it.
"""

from calipers.data.files.atomic import atomic_write, check_writable
from calipers.data.files.errors import FileError
from calipers.metric.file.collect import contents_of
from calipers.metric.file.contents import Contents
from calipers.metric.file.store import read, write

__all__ = [
    "Contents",
    "FileError",
    "atomic_write",
    "check_writable",
    "contents_of",
    "read",
    "write",
]
