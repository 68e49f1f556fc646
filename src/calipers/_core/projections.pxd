from .parts cimport Part, Schedule
from .state cimport State, Workspace


cdef class Rule(Part):
    cdef bint needs_step(self) noexcept nogil
    cdef Py_ssize_t update(self, State state, Schedule schedule, Workspace work,
                           Py_ssize_t rank) except -1 nogil


cdef class EveryUpdate(Rule):
    pass


cdef class Periodic(Rule):
    cdef readonly Py_ssize_t period


cdef class AtEnd(Rule):
    cdef readonly double gamma, unit


cdef class FrankWolfe(Rule):
    cdef readonly double trace, lipschitz, unit
