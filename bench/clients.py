#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that know nothing of Heptad, with the drop-in BLAS and without: how long NumPy, SciPy and scikit-learn take.

clients.py --library build/release/blas/libheptad_blas.so [--only PATTERN] [--json FILE]

With --json a record can be made in parts: cases that FILE has already are kept, or measured anew where they match.

Each measurement is a process of its own; the two kinds take turns, both with the same environment but LD_PRELOAD.
A time is the median over the processes of each one's median, of the calls after a first one that is not timed. `control`
is the ratio of the plain processes with even numbers to those with odd ones: what is nearer to 1 than that is equal.
Products of NumPy's get operands that begin at a page, as a library that is loaded moves what malloc gives, which alone
changes small ones by a tenth. OpenBLAS gets the kernels of this processor where it would not choose them itself
(OPENBLAS_CORETYPE is passed on, and recorded)."""
import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time

# name: (calls after the first one, processes of each kind)
CASES = {
    "numpy A @ B, 4": (20000, 10),
    **{f"numpy A @ B, {n}": (400, 40) for n in (64, 128, 256)},
    "numpy A @ B, 512": (40, 6),
    "numpy A @ B, 1024": (40, 6),
    "numpy A @ B, 2048": (5, 6),
    "numpy A @ B, 4096": (3, 10),
    "numpy A @ B, 8192": (1, 2),
    "numpy A @ B, 4096, float32": (3, 4),
    "numpy A @ A.T, 2048": (5, 6),
    "numpy A @ A.T, 4096": (3, 4),
    "numpy A @ A.T, 8192": (1, 4),
    "numpy.linalg.solve, 4096": (3, 4),
    "numpy.linalg.solve, 8192": (1, 6),
    "scipy.linalg.lu_factor, 8192": (1, 4),
    "scipy.linalg.cholesky, 8192": (4, 4),
    "sklearn rbf_kernel, 4096 patches of a photograph": (3, 4),
}


def photograph_patches():
    """4096 patches of 32 × 32 × 3 of the photograph that ships with matplotlib, as rows."""
    import matplotlib.cbook
    import numpy as np
    with matplotlib.cbook.get_sample_data("grace_hopper.jpg") as file:
        from PIL import Image
        picture = np.asarray(Image.open(file), dtype=np.float64) / 255
    random = np.random.default_rng(1)
    rows = random.integers(0, picture.shape[0] - 32, 4096)
    cols = random.integers(0, picture.shape[1] - 32, 4096)
    return np.stack([picture[r:r + 32, c:c + 32].ravel() for r, c in zip(rows, cols)])


def empty_matrix(n, dtype):
    """Uninitialized, from the begin of a page on."""
    import numpy as np
    page, bytes_of_it = 4096, n * n * np.dtype(dtype).itemsize
    room = np.empty(bytes_of_it + page, np.uint8)
    begin = -room.ctypes.data % page
    return room[begin:begin + bytes_of_it].view(dtype).reshape(n, n)


def work_of(name):
    """The call to be timed, on its data."""
    import numpy as np
    random = np.random.default_rng(1)
    found = re.search(r", (\d+)", name)
    n = int(found[1]) if found else 0
    dtype = np.float32 if "float32" in name else np.float64
    A = empty_matrix(n, dtype)
    A[:] = random.uniform(-1, 1, (n, n))
    if "A @ B" in name:
        B, C = empty_matrix(n, dtype), empty_matrix(n, dtype)
        B[:] = random.uniform(-1, 1, (n, n))
        return lambda: np.matmul(A, B, out=C)
    if "A.T" in name:
        return lambda: A @ A.T
    if "solve" in name:
        b = random.uniform(-1, 1, n)
        return lambda: np.linalg.solve(A, b)
    import scipy.linalg
    if "lu_factor" in name:
        return lambda: scipy.linalg.lu_factor(A, check_finite=False)
    if "cholesky" in name:
        S = (A + A.T) / 2 + n * np.eye(n)
        return lambda: scipy.linalg.cholesky(S, check_finite=False)
    from sklearn.metrics.pairwise import rbf_kernel
    patches = photograph_patches()
    return lambda: rbf_kernel(patches)


def measure(name, calls):
    work = work_of(name)
    work()
    seconds = []
    for _ in range(calls):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    print(json.dumps(seconds))


def timed_process(name, calls, library):
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    if library:
        environment["LD_PRELOAD"] = os.path.abspath(library)
    done = subprocess.run([sys.executable, __file__, "--measure", name, "--calls", str(calls)], env=environment,
                          capture_output=True, text=True, check=True)
    return statistics.median(json.loads(done.stdout))


def record_of(name, library):
    calls, processes = CASES[name]
    seconds = {"plain": [], "heptad": []}
    for _ in range(processes):
        for kind in seconds:
            seconds[kind].append(timed_process(name, calls, library if kind == "heptad" else None))
    plain, heptad = (statistics.median(seconds[kind]) for kind in seconds)
    control = statistics.median(seconds["plain"][::2]) / statistics.median(seconds["plain"][1::2])
    return {"case": name, "plain": plain, "heptad": heptad, "ratio": plain / heptad, "control": control,
            "calls": calls, **{f"{kind}_processes": values for kind, values in seconds.items()}}


def environment_of(library):
    import numpy
    import scipy
    script = ("import ctypes, numpy; l = ctypes.CDLL('libopenblas.so.0'); "
              "l.openblas_get_corename.restype = l.openblas_get_config.restype = ctypes.c_char_p; "
              "print(l.openblas_get_config().decode(), l.openblas_get_corename().decode(), l.openblas_get_num_threads())")
    openblas = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip()
    with open("/proc/cpuinfo") as file:
        cpu = dict(line.split(":", 1) for line in file if ":" in line)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True,
                            cwd=os.path.dirname(os.path.abspath(__file__))).stdout.strip()
    return {
        "schema": 2, "kind": "clients", "date": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
        "commit": commit, "library": os.path.basename(library),
        "machine": {"cpu": next(v.strip() for k, v in cpu.items() if k.startswith("model name")),
                    "cores": len(os.sched_getaffinity(0))},
        "settings": {key: os.environ[key] for key in sorted(os.environ)
                     if key.startswith(("HEPTAD_", "OPENBLAS_", "OMP_"))},
        "versions": {"python": platform.python_version(), "numpy": numpy.__version__, "scipy": scipy.__version__,
                     "openblas": openblas},
    }


def kept_results(path, about):
    """Those of the record that is to be continued: it must be of the same commit, machine and settings."""
    if not path or not os.path.exists(path):
        return []
    with open(path) as file:
        record = json.load(file)
    if any(record.get(key) != about[key] for key in ("schema", "commit", "library", "machine", "settings", "versions")):
        sys.exit(f"{path} is a record of something else")
    return record["results"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="libheptad_blas.so")
    parser.add_argument("--only", default="", help="cases that match this pattern")
    parser.add_argument("--json", help="write the record to this file")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--calls", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        return measure(given.measure, given.calls)
    if not given.library:
        parser.error("--library is needed")

    about = environment_of(given.library)
    results = kept_results(given.json, about)
    for name in CASES:
        if not re.search(given.only, name):
            continue
        try:
            row = record_of(name, given.library)
        except subprocess.CalledProcessError as failed:
            print(f"{name}: not measured: {failed.stderr.strip().splitlines()[-1]}", flush=True)
            continue
        results = [old for old in results if old["case"] != name] + [row]
        print(f"{name:50} {row['plain']:12.8f} s  {row['heptad']:12.8f} s  {row['ratio']:6.3f}"
              f"  control {row['control']:6.3f}", flush=True)
        if given.json:  # after every case: what was measured is kept
            with open(given.json, "w") as file:
                json.dump({**about, "results": sorted(results, key=lambda one: list(CASES).index(one["case"]))}, file,
                          indent=1)
                file.write("\n")


if __name__ == "__main__":
    main()
