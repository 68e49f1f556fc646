"""Solvers: each is fed triplets or pairs in portions, and holds the metric learned so far.

============== =========================================================================
module         what it does
============== =========================================================================
recipes        the paper's five algorithms, and the default, as choices
parts          losses, sampling policies, projections, schedules, steps of pairs
sgd            the one loop of the paper's five methods and of SPML
plan           every None becomes a number; rounds that mine, solve, and mine again
training       the one training loop: rounds of portions, callbacks, Ctrl-C
streams        the same for batches that come one after the other
logdet         pairs that move a positive definite matrix (LEGO, ITML)
dual_averaging weights of given directions, many of them 0 (SCML)
bilinear       passive-aggressive steps on a bilinear similarity (OASIS)
low_rank       a factor of low rank, learned by NCA's loss in mini-batches
soft_neighbors losses of all pairs (NCA, MLKR, MCML, MMC), and their sums
large_margin   LMNN's objective, exact at every L
lbfgs          SciPy's L-BFGS on an objective of all samples
============== =========================================================================
"""
