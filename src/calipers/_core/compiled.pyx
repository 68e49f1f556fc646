"""What is compiled ahead of time, as one extension module, in the order in which it is read.

Each file uses names of those above it, and of no other. Long loops release the interpreter's lock.
Arrays are checked before they come here.
"""

import numpy as np

from libc.math cimport INFINITY, cos, exp, fabs, fmax, fmin, hypot, isfinite, log1p, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, dgemv, dsymv, dsyrk
from scipy.linalg.cython_lapack cimport dpotrf, dsyevr

include "kernels.pxi"  # loops written in C
include "algebra.pxi"  # differences, margins, low-rank updates
include "parts.pxi"  # losses, schedules, sampling policies: each formula once, for Python, too
include "eigen.pxi"  # negative eigenpairs
include "state.pxi"  # what the loop carries
include "projections.pxi"  # projection rules
include "sgd.pxi"  # the one loop
include "bilinear.pxi"  # passive-aggressive updates (OASIS)
include "logdet.pxi"  # steps of pairs (LEGO, ITML)
include "neighbors.pxi"  # exact nearest samples
include "impostors.pxi"  # those that LMNN pushes away
