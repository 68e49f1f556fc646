"""Compiled functions that stand apart: their callers jump to them and do not take them in.

numba copies all that a function calls into its machine code and optimises the copy again, so
a large function that several others call is compiled once more for each of them, and for every
function between them and the top. One that stands apart is compiled once, for one signature.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from llvmlite import binding
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from calipers.compiled import forget_stale

VECTOR, MATRIX = types.float64[::1], types.float64[:, ::1]
NUMBER, COUNT = types.float64, types.intp


def apart(kernel: Any, *arguments: Any) -> Any:
    """Compile ``kernel`` for these types of its arguments; returns what compiled code calls.

    The name of the kernel is all that a caller's machine code knows of it, so that this has to
    run before a caller is compiled or read from disk: where the kernel's module ends.
    """
    forget_stale(kernel)
    kernel.compile(arguments)
    compiled = kernel.overloads[arguments]
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    symbol = f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"
    binding.add_symbol(symbol, address)

    def call(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        result, given, convention = signature.return_type, signature.args, context.call_conv
        kind = convention.get_function_type(result, given)
        function = cgutils.get_or_insert_function(builder.module, kind, symbol)  # type: ignore[no-untyped-call]
        status, returned = convention.call_function(builder, function, result, given, values)
        with cgutils.if_unlikely(builder, status.is_error):  # type: ignore[no-untyped-call]
            convention.return_status_propagate(builder, status)
        return returned

    def jump(typing: Any, *given: Any) -> Any:  # None: numba says which types have come
        return (compiled.signature.return_type(*arguments), call) if given == arguments else None

    # numba asks for the names of the arguments; the first one is its own
    own = Parameter("typing", Parameter.POSITIONAL_OR_KEYWORD)
    names = Signature.from_callable(kernel.py_func).parameters.values()
    jump.__signature__ = Signature([own, *names])  # type: ignore[attr-defined]
    return intrinsic(jump)
