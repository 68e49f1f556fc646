"""Checks that take too long for every run of the tests; a short form of each is among those.

Map of this package, by the command ``python -m checks COMMAND``:

- `attack`: input of every library, tables, foreign text, kills, environments, at random;
- `calls`: which of our functions a default fit and `calipers evaluate` go through;
- `wheel`: the names of all that is in the wheel and in the source archive.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # generators are shared with the tests
