"""A learned metric as a file, and as a part of other programs.

Map of this package, in reading order:

- `errors`: the one error that files give;
- `whole`: files that are written whole or not at all;
- `contents`: what a metric's file says, and how it is taken from an estimator;
- `header`: the contents but for the matrices, as JSON, and the check of what is read;
- `store`: header and matrices as a safetensors file;
- `export`: the same map for onnxruntime and faiss.

:meth:`calipers.metric.MahalanobisMixin.save` writes such a file, :func:`calipers.load` reads it.
"""

from calipers.files.contents import Contents, contents_of
from calipers.files.errors import FileError
from calipers.files.store import read, write
from calipers.files.whole import check_writable, written_whole

__all__ = [
    "Contents",
    "FileError",
    "check_writable",
    "contents_of",
    "read",
    "write",
    "written_whole",
]
