# SPDX-License-Identifier: BSD-3-Clause
"""heptad.matmul against NumPy's product, for every way in which an array may lie in memory."""

import gc
import itertools
import os
import sys
import threading
import time
import weakref

import heptad
import numpy as np
import pytest

M, N, K = 130, 110, 90
FORCED = os.environ.get("HEPTAD_FORCE_LEVELS")  # the suite runs once without, and once with a fast level everywhere


def random(rows, cols, dtype="float64", seed=0):
    return np.random.default_rng([rows, cols, seed]).uniform(-1, 1, (rows, cols)).astype(dtype)


def tolerance(dtype):
    return 3000 * np.finfo(dtype).eps  # k = 90, two levels at most: far above both errors, far below a wrong element


LAYOUTS = {
    "C": lambda x: x,
    "F": np.asfortranarray,
    "submatrix": lambda x: np.pad(x, ((3, 5), (7, 2)))[3:-5, 7:-2],
    "rows stepped": lambda x: np.repeat(x, 2, axis=0)[::2],
    "columns stepped": lambda x: np.repeat(x, 3, axis=1)[:, ::3],
    "both stepped": lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
    "rows backwards": lambda x: x[::-1].copy()[::-1],
    "columns backwards": lambda x: x[:, ::-1].copy()[:, ::-1],
    "both backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "slice of a stack": lambda x: np.stack([x, -x], axis=1)[:, 0],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("a_layout, b_layout", itertools.product(LAYOUTS, LAYOUTS))
def test_operands_of_any_layout_are_read_where_they_lie(a_layout, b_layout, dtype):
    a, b = LAYOUTS[a_layout](random(M, K, dtype)), LAYOUTS[b_layout](random(K, N, dtype))
    c, report = heptad.matmul(a, b, return_report=True)
    if FORCED is not None:
        assert len(report.plan.levels) == int(FORCED) and not report.precaution
    assert c.dtype == dtype and c.shape == (M, N) and c.flags.c_contiguous
    assert np.abs(c - a @ b).max() < tolerance(dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_out_of_any_layout_is_written_where_it_lies_and_nothing_beside_it(layout):
    a, b, c = random(M, K), random(K, N), random(M, N, seed=1)
    out = LAYOUTS[layout](c)
    around = out if out.base is None else out.base
    before = around.copy()
    before_out = out.copy()
    result = heptad.matmul(a, b, out=out, alpha=-2, beta=0.5)
    assert result is out
    assert np.abs(out - (-2 * (a @ b) + 0.5 * before_out)).max() < tolerance("float64")
    out[...] = before_out
    assert (around == before).all()


def test_the_error_is_below_the_proved_bound_and_can_be_checked():
    a, b = random(900, 800), random(800, 700)
    c, report = heptad.matmul(a, b, check=3, return_report=True)
    assert report.plan.growth > 1 or FORCED is None
    assert report.check.vectors == 3 and report.check.passed
    assert np.abs(c - a @ b).max() <= np.finfo(float).eps / 2 * report.plan.bound


@pytest.mark.parametrize("m, n, k", [(0, 4, 5), (4, 0, 5), (4, 5, 0), (1, 1, 1), (1, 7, 3), (7, 1, 3)])
def test_empty_and_thin_matrices(m, n, k):
    a, b = random(m, k), random(k, n)
    assert np.allclose(heptad.matmul(a, b), a @ b, rtol=0, atol=1e-14)


def test_broadcast_operands_are_copied():
    row = random(1, K)
    a = np.broadcast_to(row, (M, K))
    assert np.abs(heptad.matmul(a, random(K, N)) - a @ random(K, N)).max() < tolerance("float64")


@pytest.mark.parametrize("of", ["row", "column"])
def test_a_copy_of_a_broadcast_operand_has_the_order_c(of):
    a = np.broadcast_to(random(1, K) if of == "row" else random(M, 1), (M, K))
    b = random(K, N)
    plan = heptad.plan(M, N, K, a_order="C", b_order="C")
    assert np.abs(heptad.matmul(a, b, plan=plan) - a @ b).max() < tolerance("float64")
    a = np.broadcast_to(random(1, M) if of == "row" else random(K, 1), (K, M)).T
    assert np.abs(heptad.matmul(a, b, plan=plan) - a @ b).max() < tolerance("float64")


def test_switches_of_numpy_are_as_good_as_those_of_python():
    a, b = random(M, K), random(K, N)
    report = heptad.matmul(a, b, deterministic=np.bool_(True), guaranteed=np.False_, return_report=True)[1]
    assert report.plan.deterministic


def test_windows_that_share_elements_are_refused():
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(20.0), 5)
    with pytest.raises(ValueError, match="two of its 16 x 5 elements at one address"):
        heptad.matmul(windows, random(5, 5))


def test_read_only_operands_are_read_and_a_read_only_out_is_refused():
    a, b, out = random(M, K), random(K, N), np.zeros((M, N))
    for x in (a, b, out):
        x.flags.writeable = False
    assert np.abs(heptad.matmul(a, b) - a @ b).max() < tolerance("float64")
    with pytest.raises(ValueError, match="out must not be read-only"):
        heptad.matmul(a, b, out=out)
    assert (out == 0).all()


class DLPackOnly:
    """An array of a library that is not NumPy."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_that_only_speak_dlpack():
    a, b, out = random(M, K), random(N, K), np.zeros((N, M))
    result = heptad.matmul(DLPackOnly(a), DLPackOnly(b.T), out=DLPackOnly(out.T))
    assert np.abs(out.T - a @ b.T).max() < tolerance("float64")
    assert isinstance(result, DLPackOnly)


def test_arrays_of_the_buffer_protocol():
    a = random(M, K)
    assert np.abs(heptad.matmul(memoryview(a), random(K, N)) - a @ random(K, N)).max() < tolerance("float64")


@pytest.mark.parametrize(
    "change, error, message",
    [
        (lambda x: x.update(a=[[1.0]]), TypeError, "a must be an array.* not list"),
        (lambda x: x.update(b=None), TypeError, "b must be an array"),
        (lambda x: x.update(a=x["a"].astype(int)), TypeError, "a.dtype = int64 must be float32 or float64"),
        (lambda x: x.update(a=x["a"] + 1j), TypeError, "a.dtype = complex128 must be"),
        (lambda x: x.update(b=x["b"].astype("float16")), TypeError, "b.dtype = float16 must be"),
        (lambda x: x.update(b=x["b"].astype("float32")), TypeError, "b.dtype = float32 must be that of a, float64"),
        (lambda x: x.update(a=x["a"].astype(">f8")), TypeError, "a.dtype = >f8 must be in the byte order of this machine"),
        (lambda x: x.update(out=np.zeros((4, 5), "f4")), TypeError, "out.dtype = float32 must be that of a, float64"),
        (lambda x: x.update(a=np.zeros(6)), ValueError, r"a.shape = \(6,\) must have two dimensions"),
        (lambda x: x.update(b=np.zeros((2, 6, 5))), ValueError, r"b.shape = \(2, 6, 5\) must have two dimensions"),
        (lambda x: x.update(b=np.zeros((7, 5))), ValueError, r"b.shape = \(7, 5\) must have 6 rows, as a.shape = \(4, 6\)"),
        (lambda x: x.update(out=np.zeros((5, 4))), ValueError, r"out.shape = \(5, 4\) must be \(4, 5\)"),
        (lambda x: x.update(beta=1.0), ValueError, "beta = 1 needs out"),
        (lambda x: x.update(max_error=0.5), ValueError, "max_error = 0.5 must be at least 1"),
        (lambda x: x.update(scheduler="x"), ValueError, "scheduler = 'x' must be one of 'tbb'"),
        (lambda x: x.update(scaling="x"), ValueError, "scaling = 'x' must be one of 'none'"),
        (lambda x: x.update(algorithm="x"), ValueError, "algorithm = 'x' must be"),
        (lambda x: x.update(check=-1), ValueError, "check = -1 must be at least 0"),
        (lambda x: x.update(check=2**31), ValueError, "check = 2147483648 must be at most 2147483647"),
        (lambda x: x.update(check=True + 0.5), TypeError, "check = 1.5 must be an integer"),
        (lambda x: x.update(maxerror=3), TypeError, "maxerror = 3 is not a wish: these are max_error, "),
        (lambda x: x.update(max_error="x"), TypeError, "max_error = 'x' must be a number"),
        (lambda x: x.update(max_error="3"), TypeError, "max_error = '3' must be a number"),
        (lambda x: x.update(max_error=None), TypeError, "max_error = None must be a number"),
        (lambda x: x.update(max_error=10**400), TypeError, "max_error = 1000.* must be a number"),
        (lambda x: x.update(max_workspace=-1), ValueError, "max_workspace = -1 must be at least 0"),
        (lambda x: x.update(max_workspace=1e9), TypeError, "max_workspace = 1000000000.0 must be an integer or None"),
        (lambda x: x.update(max_workspace=2**64), ValueError, "max_workspace = 18446744073709551616 must be at most"),
        (lambda x: x.update(max_levels="2"), TypeError, "max_levels = '2' must be an integer or None"),
        (lambda x: x.update(max_levels=-(2**40)), ValueError, "max_levels = -1099511627776 must be at least 0"),
        (lambda x: x.update(force_levels=0.0), TypeError, "force_levels = 0.0 must be an integer or None"),
        (lambda x: x.update(guaranteed="yes"), TypeError, "guaranteed = 'yes' must be True or False"),
        (lambda x: x.update(scheduler=3), TypeError, "scheduler = 3 must be a string"),
        (lambda x: x.update(alpha="2"), TypeError, "alpha = '2' must be a number"),
        (lambda x: x.update(alpha=1j), TypeError, "alpha = 1j must be a number"),
        (lambda x: x.update(beta=None), TypeError, "beta = None must be a number"),
        (lambda x: x.update(plan=3), TypeError, "plan = 3 must be a heptad.Plan or None"),
        (lambda x: x.update(context=2), TypeError, "context = 2 must be a heptad.Context or None"),
        (lambda x: x.update(stream="x"), TypeError, "stream = 'x' must be an integer or None"),
    ],
)
def test_errors_name_the_argument_and_its_value(change, error, message):
    given = {"a": random(4, 6), "b": random(6, 5)}
    change(given)
    with pytest.raises(error, match=message):
        heptad.matmul(given.pop("a"), given.pop("b"), **given)


def test_numbers_may_be_those_of_numpy():
    a, b, out = random(4, 6), random(6, 5), np.ones((4, 5))
    heptad.matmul(a, b, out=out, alpha=np.float32(2), beta=np.array(0.5), max_error=np.int8(10), max_levels=np.int64(0),
                  max_workspace=np.uint64(10**9))
    assert np.abs(out - (2 * (a @ b) + 0.5)).max() < tolerance("float64")


def test_out_must_not_overlap_the_operands_and_stays_as_it_was():
    a = random(40, 40)
    before = a.copy()
    with pytest.raises(ValueError, match="C must not overlap A"):
        heptad.matmul(a, random(40, 40), out=a)
    assert (a == before).all()


def test_no_array_is_kept():
    a, b = random(M, K), random(K, N)
    out = np.empty((M, N))
    heptad.matmul(a, b, out=out)
    kept = [weakref.ref(x) for x in (a, b, out)]
    del a, b, out
    gc.collect()
    assert [x() for x in kept] == [None] * 3


def test_other_threads_run_during_a_product():
    a = random(700, 700)
    turns, stop = [], threading.Event()

    def count():
        while not stop.is_set():
            turns.append(None)
            time.sleep(0)  # gives up the GIL

    other = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # no thread has a turn but where another gives up the GIL
    try:
        other.start()
        before = len(turns)
        for _ in range(300):  # each gives it a chance
            heptad.matmul(a, a)
            if len(turns) >= before + 3:
                break
        else:
            pytest.fail("no other thread had a turn in 300 products")
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        other.join()


def test_many_threads_at_once():
    a = [random(M, K, seed=i) for i in range(8)]
    b = [random(K, N, seed=i) for i in range(8)]
    c = [None] * 8

    def work(i):
        for _ in range(5):
            c[i] = heptad.matmul(a[i], b[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(8):
        assert np.abs(c[i] - a[i] @ b[i]).max() < tolerance("float64")


def test_deterministic_results_do_not_depend_on_the_workers():
    a, b = random(600, 500), random(500, 400)
    results, reports = zip(*(
        heptad.matmul(a, b, context=heptad.Context(threads), deterministic=True, algorithm="winograd", force_levels=2,
                      return_report=True)
        for threads in (1, 2, 3)
    ))
    assert [len(report.plan.levels) for report in reports] == [2, 2, 2]
    assert (results[0] == results[1]).all() and (results[0] == results[2]).all()
