"""Compiled inner pieces of the solver, each with a plain NumPy twin in the tests.

- :mod:`~calipers.kernels.algebra`: differences, margins, low-rank changes of a matrix.
- :mod:`~calipers.kernels.cholesky`: whether a matrix is positive definite.
- :mod:`~calipers.kernels.tridiagonal`: eigenpairs of what the Lanczos process leaves.
- :mod:`~calipers.kernels.spectrum`: the negative eigenpairs of a matrix, and only those.
- :mod:`~calipers.kernels.parts`: compiled halves of losses, sampling policies and steps.
- :mod:`~calipers.kernels.walk`: the one loop.
- :mod:`~calipers.kernels.bilinear`: passive-aggressive updates (OASIS).
- :mod:`~calipers.kernels.logdet`: steps of pairs (LEGO, ITML).
- :mod:`~calipers.kernels.impostors`: which rows invade a neighbourhood (LMNN).

Importing a module of this package imports numba, so the rest of Calipers does it inside
functions. Compiled code is cached on disk.
"""
