# SPDX-License-Identifier: BSD-3-Clause
"""Fast matrix multiplication (Strassen, Winograd and their relatives) as a graph of tasks.

>>> import heptad
>>> C = heptad.matmul(A, B)                      # float32 or float64, any strides
>>> C, report = heptad.matmul(A, B, max_error=10, return_report=True)
>>> print(report)

The error of a fast product is bounded by norms, not element by element: see docs/accuracy.md. `max_error=1` asks for the
classical algorithm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from . import _arguments, _device, _heptad
from ._heptad import (
    Candidate,
    Context,
    Error,
    Options,
    Plan,
    PlanLevel,
    Report,
    SampledError,
    get_num_threads,
    release_workspace,
    set_num_threads,
)

if TYPE_CHECKING:
    import numpy
    import numpy.typing
    from typing_extensions import Unpack

    Matrix = numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32]

__version__: str = _heptad.version

__all__ = [
    "Candidate",
    "Context",
    "Error",
    "Options",
    "Plan",
    "PlanLevel",
    "Report",
    "SampledError",
    "Wishes",
    "explain",
    "get_num_threads",
    "matmul",
    "plan",
    "release_workspace",
    "set_num_threads",
]


class Wishes(TypedDict, total=False):
    """What the caller allows. In calls without a context of their own, what is left out has its value from the
    environment (HEPTAD_MAX_ERROR, ...)."""

    max_error: float
    """Largest expected growth of the error over the classical product; 1 means classical. Default 100."""
    guaranteed: bool
    """Apply max_error to the proved bound instead of the expected growth."""
    max_workspace: int | None
    """Bytes; None: twice the size of the matrices, at most half of the free memory; 0: nothing but packing."""
    max_levels: int | None
    """At most so many levels; None: as many as pay."""
    force_levels: int | None
    """Exactly so many levels wherever the dimensions and max_workspace allow, for tests; None: planned."""
    algorithm: str
    """'auto', a name that `heptad info` lists, a shape as '3x2x4', or the path of a file."""
    deterministic: bool
    """Bitwise the same result whatever the number of workers and the scheduler."""
    scheduler: Literal["tbb", "sequential", "starpu"]
    kernel: str
    """A micro-kernel set that `heptad info` lists, or 'auto'."""
    scaling: Literal["none", "outside", "inside", "both", "automatic"]
    """Exact scaling of badly scaled matrices before a fast algorithm multiplies them."""
    check: int
    """Random vectors with which the result is checked; the Report has what they found. Default 0."""
    refine: bool
    """Calls with the same sizes try the two plans that look best, and then keep to the faster one; deterministic ones
    do not."""


@overload
def matmul(
    a: Any,
    b: Any,
    *,
    out: None = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    plan: Plan | None = None,
    context: Context | None = None,
    stream: int | None = None,
    return_report: Literal[False] = False,
    **wishes: Unpack[Wishes],
) -> Matrix: ...
@overload
def matmul(
    a: Any,
    b: Any,
    *,
    out: None = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    plan: Plan | None = None,
    context: Context | None = None,
    stream: int | None = None,
    return_report: Literal[True],
    **wishes: Unpack[Wishes],
) -> tuple[Matrix, Report]: ...
@overload
def matmul(
    a: Any,
    b: Any,
    *,
    out: Any,
    alpha: float = 1.0,
    beta: float = 0.0,
    plan: Plan | None = None,
    context: Context | None = None,
    stream: int | None = None,
    return_report: bool = False,
    **wishes: Unpack[Wishes],
) -> Any: ...
def matmul(
    a: Any,
    b: Any,
    *,
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    plan: Plan | None = None,
    context: Context | None = None,
    stream: int | None = None,
    return_report: bool = False,
    **wishes: Unpack[Wishes],
) -> Any:
    """alpha a @ b + beta out, in `out` or in a new NumPy array; with `return_report` also the Report.

    a, b, out: matrices of float32 or float64, all of one type. On the CPU: NumPy's arrays, or any with DLPack or the
    buffer protocol. Transposes, submatrices, steps and negative steps are used where they lie. Only an a or b with a
    stride of 0 (numpy.broadcast_to) is copied; out must not have two elements at one address. out must overlap neither
    a nor b, and is not read when beta = 0.

    wishes: max_error, max_workspace, algorithm, scheduler, ...: see Wishes. plan: from heptad.plan, with its own wishes.
    context: workers of one's own; otherwise those of set_num_threads.

    On a CUDA device, in builds with CUDA: a, b and out are arrays of PyTorch, CuPy or another library with DLPack, on one
    device, each with contiguous rows or columns. The product is queued on `stream` (a cudaStream_t as a number; None: the
    current one of the library of a), and the call returns before it is done. Of the wishes it takes max_error, guaranteed,
    max_workspace, max_levels and algorithm; there is no plan, context or Report.

    Other Python threads run meanwhile. Raises TypeError, ValueError or MemoryError, and out is untouched; or Error,
    which says what became of it. What the library calls A, B and C are a, b and out. It writes contiguous columns: an
    out with contiguous rows, NumPy's default, it computes as its transpose, Cᵀ = Bᵀ Aᵀ. The Report and its Plan give
    the shapes and layouts of a, b and out all the same; the levels are those of the product that is run.
    """
    alpha, beta = _arguments.number("alpha", alpha), _arguments.number("beta", beta)
    plan, context = _arguments.optional("plan", plan, Plan), _arguments.optional("context", context, Context)
    stream = _arguments.optional_integer("stream", stream, _arguments.SIZE_MAX)
    checked = _arguments.wishes(dict(wishes))
    if _device.is_on_cuda(a):
        if plan is not None or context is not None or return_report:
            raise ValueError("plan, context and return_report must be left out for arrays on a CUDA device")
        return _device.matmul(a, b, out, alpha, beta, stream, checked)
    if stream is not None:
        raise ValueError(f"stream = {stream} must be left out for arrays on the CPU")
    if plan is not None and wishes:
        raise ValueError(f"plan has its wishes already: {', '.join(wishes)} must be given to heptad.plan")
    result, report = _heptad.gemm(a, b, out, alpha, beta, plan, context, Options(**checked))
    return (result, report) if return_report else result


def plan(
    m: int,
    n: int,
    k: int,
    *,
    dtype: numpy.typing.DTypeLike = "float64",
    a_order: Literal["C", "F"] = "C",
    b_order: Literal["C", "F"] = "C",
    out_order: Literal["C", "F"] = "C",
    accumulate: bool = False,
    context: Context | None = None,
    **wishes: Unpack[Wishes],
) -> Plan:
    """The plan for out (m x n) = a (m x k) b (k x n), without running it; accumulate: for beta other than 0.

    dtype: float64, float32, or what numpy.dtype takes for one of them. For `matmul(plan=...)` the orders must be those of
    the arrays: 'C' with contiguous rows, 'F' with contiguous columns or neither. The other arguments are those of matmul.
    A plan for an out of order 'C' is for the product outᵀ = bᵀ aᵀ, which is run in its place: see matmul.
    """
    for argument, order in (("a_order", a_order), ("b_order", b_order), ("out_order", out_order)):
        if order not in ("C", "F"):
            raise ValueError(f"{argument} = {order!r} must be 'C' or 'F'")
    m, n, k = (_arguments.integer(name, side) for name, side in (("m", m), ("n", n), ("k", k)))
    return _heptad.plan(
        m,
        n,
        k,
        _arguments.element_type(dtype),
        a_order == "C",
        b_order == "C",
        out_order == "C",
        _arguments.switch("accumulate", accumulate),
        _arguments.optional("context", context, Context),
        Options(**_arguments.wishes(dict(wishes))),
    )


def explain(what: Plan | Report) -> str:
    """The plan in words: levels, tasks, workspace, bound, predicted time, what was declined and why; of a Report also
    what really happened."""
    return str(_arguments.of_type("what", what, (Plan, Report), "a heptad.Plan or a heptad.Report"))
