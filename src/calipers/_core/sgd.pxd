from .parts cimport Loss, Policy, Schedule
from .projections cimport Rule


cdef class Method:
    cdef readonly Loss loss
    cdef readonly Policy policy
    cdef readonly Schedule schedule
    cdef readonly Rule rule
    cdef readonly double radius, max_importance_weight, clip_norm, share
