# SPDX-License-Identifier: BSD-3-Clause
"""Matrices on CUDA devices, as matmul takes them by DLPack: on which stream, and where the result lies."""

from __future__ import annotations

import importlib
import sys
from typing import Any

CUDA_DEVICES = (2, 13)  # DLPack's kDLCUDA and kDLCUDAManaged
WISHES = ("max_error", "guaranteed", "max_workspace", "max_levels", "algorithm")


def is_on_cuda(array: Any) -> bool:
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and device()[0] in CUDA_DEVICES


def current_stream(array: Any) -> int:
    """That on which the library of `array` queues its work, as DLPack counts: 1 is CUDA's default stream."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return torch.cuda.current_stream(array.device).cuda_stream or 1
    interface = getattr(array, "__cuda_array_interface__", None) or {}
    return interface.get("stream") or 1


def empty(like: Any, rows: int, cols: int) -> Any:
    """A new array of the library of `like`, on its device."""
    if hasattr(like, "new_empty"):  # PyTorch
        return like.new_empty((rows, cols))
    library = sys.modules.get(type(like).__module__.partition(".")[0])
    if library is None or not hasattr(library, "empty"):
        raise TypeError(f"out is needed: {type(like).__name__} has no way to make an array on its device")
    return library.empty((rows, cols), dtype=like.dtype)


def keep_until_passed(array: Any, stream: int) -> None:
    """Has PyTorch give the memory of its array to another only when the stream has passed what uses it.

    PyTorch does so by itself for the stream that was current when it made the array, which need not be the current one.
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(array, torch.Tensor):
        return
    cuda = torch.cuda
    array.record_stream(cuda.default_stream(array.device) if stream == 1 else cuda.ExternalStream(stream, array.device))


def matmul(a: Any, b: Any, out: Any, alpha: float, beta: float, stream: int | None, wishes: dict[str, Any]) -> Any:
    """Queues alpha a @ b + beta out on the stream, and returns.

    PyTorch's arrays may be let go then. Those of other libraries must live until the stream has passed the product,
    where it is not their library's current one: that may use their memory again before.
    """
    try:
        cuda = importlib.import_module("heptad._heptad_cuda")
    except ModuleNotFoundError:
        raise TypeError("a is on a CUDA device, and this heptad was built without CUDA") from None
    if unknown := [name for name in wishes if name not in WISHES]:
        raise ValueError(f"{', '.join(unknown)} must be left out for arrays on a CUDA device")
    for name, array in (("a", a), ("b", b), ("out", out)):
        if array is not None and not is_on_cuda(array):
            raise TypeError(f"{name} must be on a CUDA device, as a is")
    for name, array in (("a", a), ("b", b)):
        if len(array.shape) != 2:
            raise ValueError(f"{name}.shape = {tuple(array.shape)} must have two dimensions")
    if out is None:
        if beta != 0:
            raise ValueError(f"beta = {beta:g} needs out, the matrix that it scales")
        out = empty(a, a.shape[0], b.shape[1])
    on = current_stream(a) if stream is None else stream
    # Each library makes the stream wait for what it has queued on its own one for this array.
    operands = [array.__dlpack__(stream=on) for array in (a, b, out)]
    for array in (a, b, out):
        keep_until_passed(array, on)
    cuda.gemm(*operands, alpha, beta, on, **{"max_workspace": None, "max_levels": None, **wishes})
    return out
