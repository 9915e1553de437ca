# SPDX-License-Identifier: BSD-3-Clause
"""heptad.matmul of arrays on a CUDA device. What needs no device is tested with tensors that only say that they are on one;
the product itself where there is one."""

import ctypes
import importlib.util
import sys
import types

import heptad
import numpy as np
import pytest

HAS_CUDA = importlib.util.find_spec("heptad._heptad_cuda") is not None
KDLCUDA = 2


class Tensor(ctypes.Structure):  # DLManagedTensor
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DeviceArray:
    """Column-major float64 or float32 at an address that need not be one; asked for a capsule it notes the stream."""

    def __init__(self, shape, address=4096, dtype="float64", device_id=0, device_type=KDLCUDA):
        self.shape, self.dtype, self.streams = shape, dtype, []
        self.device_type, self.device_id = device_type, device_id
        steps = [int(np.prod(shape[:i])) for i in range(len(shape))]
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = (ctypes.c_int64 * len(shape))(*steps)
        self._tensor = Tensor(address, device_type, device_id, len(shape), 2, np.dtype(dtype).itemsize * 8, 1,
                              self._shape, self._strides, 0, None, None)

    def __dlpack_device__(self):
        return self.device_type, self.device_id

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self._tensor), b"dltensor", None)


def operands(**changes):
    return {"a": DeviceArray((4, 6)), "b": DeviceArray((6, 5)), "out": DeviceArray((4, 5)), **changes}


def cuda_library():
    """The runtime, if there is a device."""
    for name in ("libcudart.so", "libcudart.so.13", "libcudart.so.12"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        count = ctypes.c_int(0)
        if library.cudaGetDeviceCount(ctypes.byref(count)) == 0 and count.value > 0:
            return library
    return None


@pytest.mark.skipif(HAS_CUDA, reason="built with CUDA")
def test_a_build_without_cuda_says_so():
    with pytest.raises(TypeError, match="a is on a CUDA device, and this heptad was built without CUDA"):
        heptad.matmul(**operands())


@pytest.mark.parametrize("argument", ["plan", "context", "return_report"])
def test_what_is_of_the_host_alone_is_refused(argument):
    value = {"plan": heptad.plan(4, 5, 6), "context": heptad.Context(1), "return_report": True}[argument]
    with pytest.raises(ValueError, match="plan, context and return_report must be left out"):
        heptad.matmul(**operands(), **{argument: value})


def test_a_stream_is_for_devices_alone():
    with pytest.raises(ValueError, match="stream = 7 must be left out for arrays on the CPU"):
        heptad.matmul(np.ones((2, 2)), np.ones((2, 2)), stream=7)


def test_host_and_device_are_not_mixed():
    with pytest.raises(TypeError, match="b must be .*on the CPU"):
        heptad.matmul(np.ones((4, 6)), DeviceArray((6, 5)))


def test_the_stream_is_that_of_the_array():
    from heptad import _device

    class WithInterface:
        def __init__(self, stream):
            self.__cuda_array_interface__ = {"stream": stream, "version": 3}

    assert _device.current_stream(WithInterface(12345)) == 12345
    assert _device.current_stream(WithInterface(None)) == 1
    assert _device.current_stream(DeviceArray((2, 2))) == 1


@pytest.mark.skipif(not HAS_CUDA, reason="built without CUDA")
@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"b": np.ones((6, 5))}, TypeError, "b must be on a CUDA device, as a is"),
        ({"out": np.ones((4, 5))}, TypeError, "out must be on a CUDA device, as a is"),
        ({"b": DeviceArray((7, 5))}, ValueError, r"b.shape = \(7, 5\) must have 6 rows, as a.shape = \(4, 6\)"),
        ({"out": DeviceArray((5, 4))}, ValueError, r"out.shape = \(5, 4\) must be \(4, 5\)"),
        ({"b": DeviceArray((6, 5), dtype="float32")}, TypeError, "b.dtype = float32 must be that of a, float64"),
        ({"a": DeviceArray((4, 6), dtype="float16")}, TypeError, "a.dtype = float16 must be float32 or float64"),
        ({"a": DeviceArray((24,))}, ValueError, r"a.shape = \(24,\) must have two dimensions"),
        ({"b": DeviceArray((6, 5), device_id=3)}, ValueError, "b is on device 3, and must be on that of a, 0"),
        ({"out": None, "beta": 1.0}, ValueError, "beta = 1 needs out"),
        ({"out": None}, TypeError, "out is needed: DeviceArray has no way"),
        ({"scheduler": "tbb", "refine": True}, ValueError, "scheduler, refine must be left out for arrays on a CUDA"),
    ],
)
def test_errors_name_the_argument_and_its_value(change, error, message):
    with pytest.raises(error, match=message):
        heptad.matmul(**operands(**change))


def paper_torch(current):
    """As much of PyTorch as is asked for streams, with this one as the current one of the device."""

    class Tensor:
        device = "cuda:0"

        def __init__(self):
            self.recorded = []

        def record_stream(self, stream):
            self.recorded.append(stream)

    cuda = types.SimpleNamespace(
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=current),
        default_stream=lambda device: ("default", device),
        ExternalStream=lambda number, device: (number, device))
    return types.SimpleNamespace(Tensor=Tensor, cuda=cuda)


@pytest.mark.parametrize("current", [0, 7000])  # which need not be that on which the memory was taken
@pytest.mark.parametrize("stream, recorded", [(1, ("default", "cuda:0")), (7000, (7000, "cuda:0"))])
def test_memory_of_pytorch_is_kept_for_the_stream_whichever_is_current(monkeypatch, current, stream, recorded):
    from heptad import _device

    torch = paper_torch(current)
    monkeypatch.setitem(sys.modules, "torch", torch)
    tensor = torch.Tensor()
    _device.keep_until_passed(tensor, stream)
    assert tensor.recorded == [recorded]
    _device.keep_until_passed(DeviceArray((2, 2)), stream)  # of another library


def test_a_product_has_the_memory_of_its_arrays_kept(monkeypatch):
    from heptad import _device

    torch = paper_torch(7000)

    class Matrix(torch.Tensor):
        shape = (2, 2)

        def __dlpack_device__(self):
            return KDLCUDA, 0

        def __dlpack__(self, stream=None):
            return self

    queued = []
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(
        sys.modules, "heptad._heptad_cuda", types.SimpleNamespace(gemm=lambda *given, **wishes: queued.append(given)))
    a, b, out = (Matrix() for _ in range(3))
    assert _device.matmul(a, b, out, 1.0, 0.0, 7000, {}) is out
    assert queued == [(a, b, out, 1.0, 0.0, 7000)]
    assert [x.recorded for x in (a, b, out)] == [[(7000, "cuda:0")]] * 3


@pytest.mark.skipif(not HAS_CUDA, reason="built without CUDA")
@pytest.mark.parametrize("stream, used", [(None, 1), (2, 2), (140000000, 140000000)])
def test_every_array_is_asked_for_on_the_stream_of_the_product(stream, used):
    given = operands(b=DeviceArray((7, 5)))  # refused after that
    with pytest.raises(ValueError):
        heptad.matmul(**given, stream=stream)
    assert [given[name].streams for name in ("a", "b", "out")] == [[used]] * 3


@pytest.mark.skipif(not HAS_CUDA or cuda_library() is not None, reason="built without CUDA, or there is a device")
def test_without_a_device_the_product_says_so():
    with pytest.raises((heptad.Error, ValueError), match="(?i)device"):
        heptad.matmul(**operands())


@pytest.mark.skipif(not HAS_CUDA or cuda_library() is None, reason="built without CUDA, or no device")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("alpha, beta", [(1.0, 0.0), (-0.5, 2.0)])
@pytest.mark.parametrize("wishes", [{}, {"max_error": 1}, {"max_levels": 1, "algorithm": "winograd"}])
def test_products_on_a_device(dtype, alpha, beta, wishes):
    cuda = cuda_library()
    random = np.random.default_rng(1)
    m, n, k = 1500, 1400, 1300
    host = {name: np.asfortranarray(random.uniform(-1, 1, shape).astype(dtype))
            for name, shape in (("a", (m, k)), ("b", (k, n)), ("out", (m, n)))}
    arrays, addresses = {}, []
    try:
        for name, x in host.items():
            address = ctypes.c_void_p()
            assert cuda.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(x.nbytes)) == 0
            addresses.append(address)
            assert cuda.cudaMemcpy(address, x.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(x.nbytes), 1) == 0
            arrays[name] = DeviceArray(x.shape, address.value, dtype)
        assert heptad.matmul(**arrays, alpha=alpha, beta=beta, **wishes) is arrays["out"]
        assert cuda.cudaDeviceSynchronize() == 0
        result = np.empty_like(host["out"])
        assert cuda.cudaMemcpy(result.ctypes.data_as(ctypes.c_void_p), addresses[2], ctypes.c_size_t(result.nbytes), 2) == 0
    finally:
        for address in addresses:
            cuda.cudaFree(address)
    expected = alpha * (host["a"].astype(float) @ host["b"].astype(float)) + beta * host["out"]
    assert np.abs(result - expected).max() < 3e4 * np.finfo(dtype).eps
