"""Checks that take too long for every run of the tests; a short form of each is among those.

Map of this package, by the command ``python -m checks COMMAND``:

- `attack`: input of every library, tables, foreign text, bombs, kills, environments, at random;
- `hostile`: any number of generated bad inputs against every learner;
- `files`: any number of damaged files, through Python and by the command line;
- `interruptions`: fits and experiments killed at random moments, which must go on;
- `long`: a run over ten million triplets, watched for drift;
- `load`: a thousand fits in one process, many processes from a cold cache, many threads;
- `calls`: which of our functions a default fit goes through;
- `metric-learn`: its own tests, with our classes for its classes;
- `mutate`: Python modules changed in small ways, one at a time; the tests must notice each;
- `versions`: the core tests under the lowest and the newest versions of what is required;
- `wheel`: the names of all that is in the wheel and in the source archive.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # generators are shared with the tests


def clean_environment() -> dict[str, str]:
    """The environment without what would let other code in."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
