# SPDX-License-Identifier: BSD-3-Clause
"""Plans, reports, contexts and the module itself."""

import itertools
import json
import os
import re
import subprocess
import sys

import heptad
import numpy as np
import pytest


def python(*arguments, **environment):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env={**os.environ, **environment})


def test_a_plan_is_explained():
    plan = heptad.plan(4096, 4000, 3900)
    text = heptad.explain(plan)
    assert (plan.m, plan.n, plan.k, plan.dtype) == (4096, 4000, 3900, "float64")
    assert plan.reason in text and "3900" in text
    assert plan.workspace <= plan.workspace_cap and plan.growth <= 100 and 0 < plan.likely_bound < plan.bound
    assert plan.seconds > 0 and plan.classical_seconds > 0


def test_wishes_rule_the_plan():
    assert len(heptad.plan(8192, 8192, 8192).levels) > 0
    assert heptad.plan(8192, 8192, 8192, max_error=1).levels == []
    assert heptad.plan(8192, 8192, 8192, max_levels=0).levels == []
    assert len(heptad.plan(8192, 8192, 8192, max_levels=1).levels) <= 1
    assert heptad.plan(8192, 8192, 8192, max_workspace=10**8).workspace <= 10**8
    named = heptad.plan(8192, 8192, 8192, algorithm="strassen", max_error=1e6).levels
    assert named and {level.name for level in named} == {"strassen"}
    assert {level.kind for level in named} <= {"task", "explicit", "fused"}


@pytest.mark.parametrize("levels", [0, 1, 2, 3])
def test_levels_can_be_forced(levels):
    plan = heptad.plan(300, 300, 300, force_levels=levels)
    assert len(plan.levels) == levels
    a = np.random.default_rng(1).uniform(-1, 1, (300, 300))
    c, report = heptad.matmul(a, a, force_levels=levels, return_report=True)
    assert [x.name for x in report.plan.levels] == [x.name for x in plan.levels]
    assert np.abs(c - a @ a).max() < 1e-11


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32"), "f4", "single", "<f4"])
def test_dtypes_may_be_given_as_numpy_does(dtype):
    assert heptad.plan(64, 64, 64, dtype=dtype).dtype == "float32"


@pytest.mark.parametrize("dtype", ["float64", float, "f8", "d", np.double, np.ones(1).dtype])
def test_so_may_those_of_double(dtype):
    assert heptad.plan(64, 64, 64, dtype=dtype).dtype == "float64"


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        ({"m": -1}, ValueError, "m = -1 must be at least 0"),
        ({"m": -(2**70)}, ValueError, "m = -1180591620717411303424 must be at least 0"),
        ({"m": 2.0}, TypeError, "m = 2.0 must be an integer"),
        ({"n": "3"}, TypeError, "n = '3' must be an integer"),
        ({"k": 2**63}, ValueError, "k = 9223372036854775808 must be at most 9223372036854775807"),
        ({"dtype": "int64"}, TypeError, "dtype = int64 must be float32 or float64"),
        ({"dtype": ">f8"}, TypeError, "dtype = >f8 must be float32 or float64"),
        ({"dtype": "real"}, TypeError, "dtype = 'real' must be float32 or float64"),
        ({"dtype": 3}, TypeError, "dtype = 3 must be float32 or float64"),
        ({"a_order": "K"}, ValueError, "a_order = 'K' must be 'C' or 'F'"),
        ({"accumulate": 1}, TypeError, "accumulate = 1 must be True or False"),
        ({"context": 2}, TypeError, "context = 2 must be a heptad.Context or None"),
        ({"maxerror": 3}, TypeError, "maxerror = 3 is not a wish"),
    ],
)
def test_bad_plans_are_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        heptad.plan(**{"m": 1, "n": 2, "k": 3, **wrong})


def test_every_wish_has_its_rule():
    assert list(heptad._arguments.WISHES) == list(heptad.Wishes.__annotations__)


def test_only_plans_and_reports_are_explained():
    with pytest.raises(TypeError, match="what = 3 must be a heptad.Plan or a heptad.Report"):
        heptad.explain(3)


def operands(orders, m, n, k):
    a, b, out = (np.empty(shape, order=order) for shape, order in zip([(m, k), (k, n), (m, n)], orders))
    a[...] = np.random.default_rng(1).uniform(-1, 1, a.shape)
    b[...] = np.random.default_rng(2).uniform(-1, 1, b.shape)
    return a, b, out


@pytest.mark.parametrize("orders", map("".join, itertools.product("CF", repeat=3)))
@pytest.mark.parametrize("m, n, k", [(300, 250, 200), (300, 250, 201), (301, 8, 200)])
def test_a_plan_is_run_as_it_was_made(orders, m, n, k):
    a, b, out = operands(orders, m, n, k)
    plan = heptad.plan(m, n, k, a_order=orders[0], b_order=orders[1], out_order=orders[2], algorithm="strassen",
                       force_levels=2)
    assert len(plan.levels) == 2
    _, report = heptad.matmul(a, b, out=out, plan=plan, return_report=True)
    assert np.abs(out - a @ b).max() < 1e-11
    assert heptad.explain(report.plan) == heptad.explain(plan)
    out[...] = 0
    heptad.matmul(a, b, out=out, plan=report.plan)
    assert np.abs(out - a @ b).max() < 1e-11


@pytest.mark.parametrize("m, n, k", [(300, 1, 200), (1, 300, 200), (30, 20, 1), (1, 1, 1), (0, 4, 5), (4, 0, 5), (4, 5, 0)])
@pytest.mark.parametrize("orders", ["CCC", "FFF"])
def test_so_is_one_for_vectors(orders, m, n, k):
    a, b, out = operands(orders, m, n, k)
    plan = heptad.plan(m, n, k, a_order=orders[0], b_order=orders[1], out_order=orders[2])
    _, report = heptad.matmul(a, b, out=out, return_report=True)
    for told in (plan, report.plan):
        out[...] = np.nan
        assert np.allclose(heptad.matmul(a, b, out=out, plan=told), a @ b, rtol=0, atol=1e-12)


@pytest.mark.parametrize("orders", map("".join, itertools.product("CF", repeat=3)))
def test_plans_and_reports_speak_of_the_product_of_the_caller(orders):
    a, b, out = operands(orders, 301, 100, 200)
    plan = heptad.plan(301, 100, 200, a_order=orders[0], b_order=orders[1], out_order=orders[2], algorithm="strassen",
                       force_levels=1)
    _, report = heptad.matmul(a, b, out=out, algorithm="strassen", force_levels=1, return_report=True)
    layouts = ", ".join(f"{x} {'row' if order == 'C' else 'column'}-major" for x, order in zip("ABC", orders))
    for told in (plan, report.plan):
        text = heptad.explain(told)
        assert (told.m, told.n, told.k) == (301, 100, 200) and "301 x 100 x 200" in repr(told)
        assert "dgemm 301 x 100 x 200 (m x n x k" in text and layouts in text
        assert re.search("core +30[02] x 100 x 200", text)
        assert ("run as Cᵀ = Bᵀ Aᵀ" in text) == (orders[2] == "C")
        assert ("(m x n x k, as run)" in text) == (orders[2] == "F")


@pytest.mark.parametrize("orders", ["CCC", "FCF"])
def test_a_plan_for_another_product_or_with_wishes_is_refused(orders):
    a, b, out = operands(orders, 300, 100, 200)
    chosen = {"a_order": orders[0], "b_order": orders[1], "out_order": orders[2]}
    ordered = "a_order = '{}', b_order = '{}', out_order = '{}'".format
    here = f"m = 300, n = 100, k = 200, {ordered(*orders)}"
    other = "F" if orders[1] == "C" else "C"
    for plan, message in (
        (heptad.plan(300, 100, 200, **{**chosen, "b_order": other}),
         f"plan (m = 300, n = 100, k = 200, {ordered(orders[0], other, orders[2])}) must be that of the product ({here})"),
        (heptad.plan(100, 300, 200, **chosen),
         f"plan (m = 100, n = 300, k = 200, {ordered(*orders)}) must be that of the product ({here})"),
        (heptad.plan(300, 100, 200, dtype="f4", **chosen), "plan.dtype = float32 must be that of a, float64"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            heptad.matmul(a, b, out=out, plan=plan)
    plan = heptad.plan(300, 100, 200, **chosen)
    with pytest.raises(ValueError, match="beta = 0.5 needs a plan with accumulate = True"):
        heptad.matmul(a, b, out=out, beta=0.5, plan=plan)
    with pytest.raises(ValueError, match="max_error must be given to heptad.plan"):
        heptad.matmul(a, b, plan=plan, max_error=2)
    heptad.matmul(a, b, out=out, plan=heptad.plan(300, 100, 200, accumulate=True, **chosen))


def test_a_report_says_what_was_done():
    a = np.random.default_rng(1).uniform(-1, 1, (500, 500))
    context = heptad.Context(2)
    _, report = heptad.matmul(a, a, context=context, return_report=True)
    assert context.threads == 2 and len(report.busy_seconds) in (0, 1, 2)
    assert report.gflops == pytest.approx(2e-9 * 500**3 / report.seconds)
    assert report.check is None and not report.fell_back and report.precaution == ""
    assert "actual" in heptad.explain(report) and "GFLOP/s" in repr(report)


def test_what_the_levels_would_spread_is_multiplied_without_them_and_the_report_says_so():
    a = np.random.default_rng(1).uniform(-1, 1, (300, 300))
    wishes = {"algorithm": "strassen", "force_levels": 1, "return_report": True}
    _, report = heptad.matmul(a, a, **wishes)
    assert len(report.plan.levels) == 1 and report.precaution == ""
    a[3, 4] = np.nan
    c, report = heptad.matmul(a, a, **wishes)
    assert report.plan.levels == [] and report.precaution in ("A holds NaN", "B holds NaN")
    assert f"classical: {report.precaution}" in heptad.explain(report)
    assert (np.isnan(c) == np.isnan(a @ a)).all()


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("name", "ab")
def test_what_forbade_the_levels_is_said_of_the_matrix_of_the_caller(name, order):
    given = {x: np.random.default_rng(1).uniform(-1, 1, (300, 300)) for x in "ab"}
    given[name][3, 4] = np.inf
    _, report = heptad.matmul(**given, out=np.empty((300, 300), order=order), algorithm="strassen", force_levels=1,
                              return_report=True)
    assert report.precaution == f"{name.upper()} holds infinities"
    assert report.plan.reason == f"classical: {report.precaution}"


def test_refined_calls_are_right_and_their_trials_hold_for_the_next_process(tmp_path):
    program = (
        "import heptad, numpy as np; a = np.random.default_rng(1).uniform(-1, 1, (300, 300))\n"
        "for _ in range(6):\n"
        "    c, report = heptad.matmul(a, a, refine=True, force_levels=1, return_report=True)\n"
        "    assert len(report.plan.levels) == 1 and abs(c - a @ a).max() < 1e-11\n"
        "    print(report.plan.reason)"
    )
    first, second = (python("-c", program, HEPTAD_PROFILE_DIR=str(tmp_path)) for _ in range(2))
    assert first.returncode == 0 and second.returncode == 0, first.stderr + second.stderr
    reasons = first.stdout.splitlines()
    assert reasons[0].startswith("1 level was asked for") and reasons[-1].startswith("measured: ")
    assert set(second.stdout.splitlines()) == {"the faster one of two plans that were measured before"}


def test_threads_of_the_default_context():
    assert python("-c", "import heptad; heptad.set_num_threads(3); assert heptad.get_num_threads() == 3").returncode == 0
    with pytest.raises(ValueError, match="threads = -1"):
        heptad.set_num_threads(-1)


@pytest.mark.parametrize("of_threads", [heptad.set_num_threads, heptad.Context])
def test_threads_are_an_integer(of_threads):
    for threads in ("x", 2.0, None, 2**31):
        with pytest.raises(TypeError, match=f"^threads = {threads!r} must be an integer"):
            of_threads(threads)


@pytest.mark.parametrize("workers", [None, heptad.Context(2)])
def test_workspace_is_released(workers):
    def resident_bytes():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    a = np.ones((1500, 1500))
    heptad.matmul(a, a, context=workers, algorithm="strassen", force_levels=2, out=np.empty_like(a))
    before = resident_bytes()
    (workers or heptad).release_workspace()
    assert resident_bytes() < before - 4_000_000


def test_a_bad_variable_of_the_environment_is_named():
    failed = python("-c", "import heptad; heptad.plan(1, 1, 1)", HEPTAD_MAX_ERROR="much")
    assert failed.returncode == 1 and "ValueError" in failed.stderr and "HEPTAD_MAX_ERROR" in failed.stderr


def test_the_environment_gives_what_a_call_leaves_out():
    program = "import heptad; print(len(heptad.plan(8192, 8192, 8192).levels))"
    assert python("-c", program, HEPTAD_MAX_LEVELS="0").stdout.strip() == "0"


def test_importing_heptad_does_not_import_numpy():
    """Most of the time that an import could cost."""
    done = python("-c", "import sys, heptad; assert 'numpy' not in sys.modules, 'numpy'")
    assert done.returncode == 0, done.stderr


def test_version_is_that_of_the_library():
    assert heptad.__version__.count(".") == 2
    assert python("-m", "heptad", "--version").stdout.strip() == heptad.__version__


def test_bench_measures_and_plots(tmp_path):
    pytest.importorskip("matplotlib")
    record, picture = tmp_path / "bench.json", tmp_path / "bench.png"
    done = python("-m", "heptad", "bench", "--sizes", "64,100x50x70", "--dtype", "float32", "float64", "--rounds", "2",
                  "--threads", "1", "--json", str(record), "--plot", str(picture))
    assert done.returncode == 0, done.stderr
    cases = json.loads(record.read_text())["cases"]
    assert [(case["m"], case["n"], case["k"], case["dtype"]) for case in cases] == [
        (64, 64, 64, "float32"), (100, 50, 70, "float32"), (64, 64, 64, "float64"), (100, 50, 70, "float64")]
    assert all(case["max_difference"] < 1e-5 * case["scale"] for case in cases)
    assert all(len(times) == 2 for case in cases for times in case["seconds"].values())
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_bench_tries_its_files_before_it_measures(tmp_path, option):
    too_large = "1" + 12 * "0"
    failed = python("-m", "heptad", "bench", "--sizes", too_large, option, str(tmp_path / "none" / "file"))
    assert failed.returncode == 1 and "No such file or directory" in failed.stderr
    (tmp_path / "kept").write_text("before")
    for name in ("kept", "new"):
        failed = python("-m", "heptad", "bench", "--sizes", too_large, option, str(tmp_path / name))
        assert failed.returncode == 1 and "NumPy" in failed.stdout
    assert [(x.name, x.read_text()) for x in tmp_path.iterdir()] == [("kept", "before")]


@pytest.mark.parametrize(
    "option, value, message",
    [
        ("--sizes", "1x2", "'1x2' must be a size as 2048, or MxNxK"),
        ("--sizes", "abc", "'abc' must be a size as 2048, or MxNxK"),
        ("--sizes", "64,0", "'0' must be a size as 2048, or MxNxK"),
        ("--rounds", "-1", "'-1' must be an integer of at least 1"),
        ("--rounds", "0", "'0' must be an integer of at least 1"),
        ("--rounds", "x", "'x' must be an integer of at least 1"),
    ],
)
def test_bench_says_what_is_wrong(option, value, message):
    failed = python("-m", "heptad", "bench", option, value)
    assert failed.returncode == 2 and f"argument {option}: {message}" in failed.stderr
