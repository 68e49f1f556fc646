"""What the command line runs.

Map of this package, in reading order:

- `published`: the paper's tables, as plain data;
- `progress`: a bar that a fit moves forward;
- `demo`: the five algorithms on embedded digits, with a picture;
- `systems`: the ten systems of the paper's tables, as learners with its settings;
- `fingerprint`: our numbers beside the paper's, for three of them;
- `runs`: rows on disk, and what must be equal for rows to stand in one table;
- `measure`, `costs`, `paper`: one run, how long it takes, and all runs;
- `summary`, `remarks`: rows made into the paper's tables and into sentences;
- `report`: a page, Markdown and figures from them;
- `tables`: rows as tables for people.
"""
