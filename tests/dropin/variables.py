# SPDX-License-Identifier: BSD-3-Clause
"""What the drop-in's variables do to a real program: NumPy products of 300 in float64 and float32, whose results are exact
with any algorithm, and what is told of them on stderr. variables.py LIBRARY; exit 77, skipped, without NumPy."""
import ctypes
import importlib.util
import os
import re
import subprocess
import sys

PROGRAM = """
import numpy as np
i = np.arange(300 * 300).reshape(300, 300)
A, B = i * 7 % 11 - 5, i * 5 % 13 - 6
for dtype in (np.float64, np.float32):
    assert (A.astype(dtype) @ B.astype(dtype) == A @ B).all(), dtype  # integers are no matter for a BLAS
"""
BOTH, NONE = {"dgemm": 1, "sgemm": 1}, {}


def run(library, variables):
    """stderr, and how many calls of each routine Heptad carried by the summary."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HEPTAD_BLAS_")}
    environment.update({"LD_PRELOAD": library, "HEPTAD_VERBOSE": "1", "HEPTAD_FORCE_LEVELS": "1",
                        "HEPTAD_BLAS_MIN_SIZE": "0", **variables})
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    counts = re.findall(r"^heptad-blas: (\w+) (\d+) calls, (\d+) by Heptad.*, (\d+) passed on$", done.stderr, re.M)
    assert all(int(calls) == int(carried) + int(passed) for _, calls, carried, passed in counts), counts
    return done.stderr, {name: int(carried) for name, _, carried, _ in counts if int(carried) > 0}


def loads(files):
    for file in files:
        try:
            ctypes.CDLL(file)
            return True
        except OSError:
            pass
    return False


def main():
    if importlib.util.find_spec("numpy") is None:
        print("skipped: python3-numpy is not installed")
        return 77
    library = os.path.abspath(sys.argv[1])
    for variables, expected in (
            ({}, BOTH),
            ({"HEPTAD_BLAS_DISABLE": "1"}, NONE),
            ({"HEPTAD_BLAS_DISABLE": "0"}, BOTH),
            ({"HEPTAD_BLAS_MIN_SIZE": "300"}, BOTH),
            ({"HEPTAD_BLAS_MIN_SIZE": "301"}, NONE),
            ({"HEPTAD_BLAS_ROUTINES": "dgemm,syrk"}, {"dgemm": 1}),
            ({"HEPTAD_BLAS_ROUTINES": "sgemm"}, {"sgemm": 1}),
            ({"HEPTAD_BLAS_ROUTINES": "gemm"}, BOTH),
            ({"HEPTAD_BLAS_ROUTINES": "trsm"}, NONE),
            ({name: "" for name in ("HEPTAD_BLAS_DISABLE", "HEPTAD_BLAS_ROUTINES", "HEPTAD_BLAS_BACKEND", "HEPTAD_NUM_THREADS",
                                    "HEPTAD_MAX_ERROR", "HEPTAD_MAX_WORKSPACE")}, BOTH)):
        print(variables, expected, flush=True)
        told, carried = run(library, variables)
        assert carried == expected, told
        lines = re.findall(r"^heptad: ([ds]gemm) m=300 n=300 k=300 \S+ .*seconds=[\d.]+ .*bound=\S+", told, re.M)
        assert sorted(lines) == sorted(expected), told

    # Once that every call is passed on, and for the library's variables, which are read later, with each call why.
    for name, value, is_of_library in (("HEPTAD_BLAS_MIN_SIZE", "1k", False), ("HEPTAD_BLAS_ROUTINES", "zgemm", False),
                                       ("HEPTAD_BLAS_DISABLE", "yes", False), ("HEPTAD_MAX_ERROR", "none", True),
                                       ("HEPTAD_MAX_ERROR", "0", True), ("HEPTAD_NUM_THREADS", "x", True),
                                       ("HEPTAD_MAX_WORKSPACE", "1x", True)):
        print(name, value, flush=True)
        told, carried = run(library, {name: value})
        assert carried == NONE, told
        assert len(re.findall(f"^heptad-blas: {name} = '{value}' must be .*; every call goes to the backend$", told,
                              re.M)) == 1, told
        reasons = re.findall("^heptad-blas: [ds]gemm m=300 n=300 k=300: passed on, (.*)$", told, re.M)
        assert len(reasons) == (2 if is_of_library else 0), told
        assert all(reason.startswith(f"{name} = '{value}' must be ") for reason in reasons), told

    # The path that is told is the backend's own, whatever links lead to it.
    for name, files, path in (("openblas", ["libopenblas.so.0"], "openblas"), ("blis", ["libblis.so.4"], "blis"),
                              ("mkl", ["libmkl_rt.so.3", "libmkl_rt.so.2"], "mkl"),
                              ("reference", ["/usr/lib/x86_64-linux-gnu/blas/libblas.so.3"], "/blas/libblas"),
                              ("/no/such/blas.so", ["/no/such/blas.so"], None), (library, [], None)):
        there = loads(files)
        told, carried = run(library, {"HEPTAD_BLAS_BACKEND": name, "HEPTAD_BLAS_ROUTINES": "sgemm"})
        chosen = re.search("^heptad-blas: backend (.*)$", told, re.M)[1]
        print(name, "->", chosen, flush=True)
        assert carried == {"sgemm": 1}, told
        refused = f"HEPTAD_BLAS_BACKEND = '{name}' must be a BLAS that can be loaded" in told
        assert refused != there and "heptad" not in chosen and (not there or path in chosen), told
    return 0


if __name__ == "__main__":
    sys.exit(main())
