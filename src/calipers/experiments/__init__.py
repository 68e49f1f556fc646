"""What the command line runs.

Map of this package, in reading order:

- `published`: the paper's tables, as plain data;
- `progress`: a bar that a fit moves forward;
- `demo`: the five algorithms on embedded digits, with a picture;
- `fingerprint`: our numbers beside the paper's;
- `tables`: rows as tables for people.
"""
