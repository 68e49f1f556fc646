"""``python -m calipers`` is the same as ``calipers``."""

import sys

from calipers.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
