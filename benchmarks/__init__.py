"""Benchmarks: data, protocol, one small file per competitor, raw rows, tables from rows.

Map of this package, in reading order:

- `rows`: every measurement is a JSON line first, a line of a table second;
- `clock`: seconds and peak memory of a call; `fresh`: the same in a process of its own;
- `blas`: as many threads as make a competitor fastest;
- `compiled`: compiled code that belongs to the sources as they are;
- `shapes`: the data, real ones where there are files, else stand-ins named as such;
- `problem`: what a solver is given and what it hands back;
- `solvers`: one file per competitor: `plain` NumPy, `ours`;
- `searches`: one file per way to find nearest rows: `ours`, `scikit`;
- `learners`: complete fits: `ours`, scikit-learn's `nca`;
- `limit`: the time that no solver of its kind can beat by much;
- `speed`, `growth`, `nca`, `startup`, `mining`, `embeddings`: the commands.
"""
