"""Benchmarks: data, protocol, raw rows, tables made of rows.

Map of this package, in reading order:

- `rows`: every measurement is a JSON line first, a line of a table second;
- `clock`: seconds and peak memory of a call; `fresh`: a fit in a process of its own;
- `blas`: as many threads as make a competitor fastest;
- `shapes`: the data, real ones where there are files, else stand-ins named as such;
- `problem`: what a solver is given; `plain`: NumPy; `ours`; `limit`: what no solver beats by much;
- `splits`: training and test parts; `holdouts`, `keel`: held-out parts of many data sets;
- `choices`: what `study` compares; `paired`: differences with standard errors;
- `learners`: complete fits of ours and of peers;
- `golden`, `speed`, `mining`, `sizes`, `peers`, `study`, `components`, `search`: the commands.
"""
