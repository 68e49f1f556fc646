"""What losses, policies, schedules, projection rules and steps have in common."""

import numpy as np


cdef class Part:
    """An extension type with parameters: it compares, copies, pickles and prints by them."""

    parameters = ()

    def _values(self):
        return tuple(getattr(self, name) for name in self.parameters)

    def __repr__(self):
        pairs = zip(self.parameters, self._values())
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return all(map(np.array_equal, self._values(), other._values()))

    def __hash__(self):
        return hash((type(self), self._values()))

    def __reduce__(self):
        return type(self), self._values()
