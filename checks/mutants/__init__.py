"""The mutants: one small break each, and the tests that are to notice it.

A mutant replaces a text that occurs once in its file. Tests are those that ought to notice, and
as few as that takes: pytest's own words, so that one case of many may be named. Its number is
its place here; rows also hold its texts.
"""

from checks.mutants.arithmetic import ARITHMETIC
from checks.mutants.definitions import DEFINITIONS
from checks.mutants.loop import LOOP
from checks.mutants.metric import METRIC
from checks.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: tuple[Mutant, ...] = (*DEFINITIONS, *ARITHMETIC, *LOOP, *METRIC)
