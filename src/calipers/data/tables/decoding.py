"""A script that decodes columns of a Parquet file, with bounded memory and time.

What a page of Parquet unfolds to is known only when it is decoded: sizes in the file may lie, and
a text may be a copy of the one before it. `columnar.batches` therefore runs this file as a process
of its own, writes a request into its input, a line of JSON, and reads batches from its output as
Arrow's stream. Nothing of the package is imported here, so that it starts fast.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

UNREADABLE, TOO_LARGE = 1, 3
"""Exit codes; a process that has used up its time is killed by the system."""
_FOR_THREADS = 64 << 20  # bytes of address space for stacks


def limit_process(most_bytes: int, most_seconds: int) -> None:
    """Let the system refuse more memory (Linux) and end the process after its time (not Windows).

    Parameters
    ----------
    most_bytes : int
        Address space beyond what is in use now.
    most_seconds : int
        Of computing, as long as waiting does not count.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {resource.RLIMIT_CPU: most_seconds, resource.RLIMIT_CORE: 0}
    if sys.platform == "linux":
        in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limits[resource.RLIMIT_AS] = in_use + _FOR_THREADS + most_bytes
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, hard))


def _compact(column: Any) -> Any:
    """Texts and the like as codes and a dictionary, however often they are repeated."""
    import pyarrow as pa

    kinds, values = pa.types, getattr(column, "storage", column)
    kind = values.type
    is_number = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)
    if is_number or kinds.is_boolean(kind) or kinds.is_nested(kind) or kinds.is_dictionary(kind):
        return values
    return values.dictionary_encode()


def main() -> int:
    """Write the batches that the line of JSON in the input names."""
    import pyarrow as pa
    from pyarrow import parquet

    request = json.load(sys.stdin)
    limit_process(request["most_bytes"], request["most_seconds"])
    writer = None
    try:
        file = parquet.ParquetFile(request["path"])
        for read in file.iter_batches(request["rows"], columns=request["names"], use_threads=False):
            columns = [_compact(column) for column in read.columns]
            batch = pa.RecordBatch.from_arrays(columns, read.schema.names)
            writer = writer or pa.ipc.new_stream(sys.stdout.buffer, batch.schema)
            writer.write_batch(batch)
    except MemoryError:
        return TOO_LARGE
    except Exception as wrong:  # ArrowException has subclasses of every kind
        sys.stderr.write(f"{wrong}"[:1000])
        return UNREADABLE
    if writer is not None:
        writer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
