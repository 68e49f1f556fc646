"""Benchmarks: data, protocol, one small file per competitor, raw rows, tables from rows.

Map of this package, in reading order:

- `rows`: every measurement is a JSON line first, a line of a table second;
- `clock`: seconds and peak memory of a call; `fresh`: the same in a process of its own;
- `blas`: as many threads as make a competitor fastest;
- `shapes`: the data, real ones where there are files, else stand-ins named as such;
- `problem`: what a solver is given and what it hands back;
- `solvers`: one file per competitor: `plain` NumPy, `ours`;
- `searches`: one file per way to find nearest neighbours: `ours`, `scikit`;
- `environments`: interpreters with packages that do not go with ours;
- `learners`: complete fits, one file per competitor, `answer` for one in a process of its own;
- `contestants`: which of them `peers` compares, and in which environment;
- `keel`: tables that only `study` reads; `holdouts`: parts of them that are held out;
- `choices`: what `study` compares; `paired`: differences with standard errors;
- `limit`: the time that no solver of its kind can beat by much;
- `speed`, `growth`, `nca`, `startup`, `mining`, `lmnn`, `peers`, `study`, `golden`,
  `components` and others: the commands.
"""
