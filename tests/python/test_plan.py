# SPDX-License-Identifier: BSD-3-Clause
"""Plans, reports, contexts and the module itself."""

import json
import os
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
    assert {plan.m, plan.n} == {4096, 4000} and plan.k == 3900 and plan.dtype == "float64"
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


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32")])
def test_dtypes_may_be_given_as_numpy_does(dtype):
    assert heptad.plan(64, 64, 64, dtype=dtype).dtype == "float32"


def test_bad_plans_are_refused():
    with pytest.raises(ValueError, match="m = -1 must not be negative"):
        heptad.plan(-1, 2, 3)
    with pytest.raises(TypeError, match="dtype = int64"):
        heptad.plan(1, 2, 3, dtype="int64")
    with pytest.raises(ValueError, match="a_order = 'K'"):
        heptad.plan(1, 2, 3, a_order="K")


@pytest.mark.parametrize("orders", ["CCC", "FFF", "CFC", "FCF", "CCF"])
def test_a_plan_is_run_as_it_was_made(orders):
    a, b, out = (np.empty(shape, order=order) for shape, order in zip([(300, 200), (200, 250), (300, 250)], orders))
    a[...] = np.random.default_rng(1).uniform(-1, 1, a.shape)
    b[...] = np.random.default_rng(2).uniform(-1, 1, b.shape)
    plan = heptad.plan(300, 250, 200, a_order=orders[0], b_order=orders[1], out_order=orders[2], algorithm="strassen",
                       force_levels=2)
    assert len(plan.levels) == 2
    _, report = heptad.matmul(a, b, out=out, plan=plan, return_report=True)
    assert np.abs(out - a @ b).max() < 1e-11
    assert [(x.name, x.kind) for x in report.plan.levels] == [(x.name, x.kind) for x in plan.levels]


def test_a_plan_for_another_shape_or_with_wishes_is_refused():
    plan = heptad.plan(30, 20, 10)
    with pytest.raises(ValueError):
        heptad.matmul(np.ones((30, 11)), np.ones((11, 20)), plan=plan)
    with pytest.raises(ValueError, match="max_error must be given to heptad.plan"):
        heptad.matmul(np.ones((30, 10)), np.ones((10, 20)), plan=plan, max_error=2)


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
    assert report.plan.levels == [] and report.precaution == "A holds NaN"
    assert f"classical: {report.precaution}" in heptad.explain(report)
    assert (np.isnan(c) == np.isnan(a @ a)).all()


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
    assert reasons[0].startswith("1 levels were asked for") and reasons[-1].startswith("measured: ")
    assert set(second.stdout.splitlines()) == {"the faster one of two plans that were measured before"}


def test_threads_of_the_default_context():
    assert python("-c", "import heptad; heptad.set_num_threads(3); assert heptad.get_num_threads() == 3").returncode == 0
    with pytest.raises(ValueError, match="threads = -1"):
        heptad.set_num_threads(-1)


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


def test_bench_says_what_is_wrong():
    assert "must be a size" in python("-m", "heptad", "bench", "--sizes", "1x2").stderr
