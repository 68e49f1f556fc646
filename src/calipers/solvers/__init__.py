"""Solvers: each is fed triplets or pairs in portions, and holds the metric learned so far.

============== =========================================================================
module         what it does
============== =========================================================================
sgd            the one loop of the paper's five methods and of SPML
from_recipe    an SGD solver for a recipe, in the units of the samples
logdet         pairs that move a positive definite matrix (LEGO, ITML)
dual_averaging weights of given directions, many of them 0 (SCML)
bilinear       passive-aggressive steps on a bilinear similarity (OASIS)
low_rank       a factor of low rank, learned by NCA's loss in mini-batches
soft_neighbors losses of soft neighbours (NCA, MLKR, MCML)
large_margin   LMNN's objective, exact at every L
lbfgs          SciPy's L-BFGS on an objective of all samples
all_pairs      MMC's and MCML's objectives, for the same steps
============== =========================================================================

Also here: `plan`, `projections`, `recipes`, `sampling`, `schedules`, `training`.
"""
