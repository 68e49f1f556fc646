"""Files that are complete or absent, and the one exception that files raise.

========== ================================================
module     what it holds
========== ================================================
errors     the exception, and words for its sentences
atomic     files that are written completely or not at all
signatures what a file is by its first bytes
========== ================================================
"""

from calipers.data.files.atomic import atomic_write, check_writable
from calipers.data.files.errors import FileError

__all__ = ["FileError", "atomic_write", "check_writable"]
