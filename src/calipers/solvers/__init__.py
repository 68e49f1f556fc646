"""Solvers: each is fed triplets or pairs in portions, and holds the metric learned so far.

======== ==================================================================
module   what it does
======== ==================================================================
sgd      the one loop of the paper's five methods and of SPML
logdet   pairs that move a positive definite matrix (LEGO, ITML)
bilinear passive-aggressive steps on a bilinear similarity (OASIS)
======== ==================================================================
"""
