"""What is compiled ahead of time: the loop, the projection, the neighbour search.

- `losses`, `sampling`, `schedules`, `projections`, `steps`: the parts of a method, each formula
  once. The loop calls what Python shows.
- `sgd`: the one loop; `state`: what it carries.
- `bilinear`: passive-aggressive updates (OASIS). `logdet`: steps of pairs (LEGO, ITML).
- `algebra`: differences, margins, low-rank updates. `eigen`: negative eigenpairs.
- `neighbors`, `kdtree`: exact nearest samples. `impostors`: those that LMNN pushes away.

Loops release the interpreter's lock. Arrays are checked before they come here.
"""
