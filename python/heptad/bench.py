# SPDX-License-Identifier: BSD-3-Clause
"""Times heptad.matmul beside NumPy's @, in turns, and compares their results."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import statistics
import time
from typing import Any, Callable

from . import __version__, get_num_threads, matmul, set_num_threads


def measure(m: int, n: int, k: int, dtype: str, rounds: int) -> dict[str, Any]:
    """Medians of rounds in which both have their turn, after one that does not count."""
    import numpy as np

    random = np.random.default_rng(m + n + k)
    a = random.uniform(-1, 1, (m, k)).astype(dtype)
    b = random.uniform(-1, 1, (k, n)).astype(dtype)
    out = {name: np.empty((m, n), dtype) for name in ("heptad", "numpy")}
    reports = []
    turns: dict[str, Callable[[], object]] = {
        "heptad": lambda: reports.append(matmul(a, b, out=out["heptad"], return_report=True)[1]),
        "numpy": lambda: np.matmul(a, b, out=out["numpy"]),
    }
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    for turn in range(rounds + 1):
        for name, run in turns.items():
            start = time.perf_counter()
            run()
            if turn > 0:
                seconds[name].append(time.perf_counter() - start)
    plan = reports[-1].plan
    return {
        "m": m,
        "n": n,
        "k": k,
        "dtype": dtype,
        "seconds": seconds,
        "gflops": {name: 2e-9 * m * n * k / statistics.median(times) for name, times in seconds.items()},
        "levels": [level.name for level in plan.levels],
        "max_difference": float(np.abs(out["heptad"] - out["numpy"]).max()),
        "scale": float(np.abs(out["numpy"]).max()),
    }


def plot(record: dict[str, Any], file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for dtype in dict.fromkeys(case["dtype"] for case in record["cases"]):
        cases = [case for case in record["cases"] if case["dtype"] == dtype]
        sizes = [(case["m"] * case["n"] * case["k"]) ** (1 / 3) for case in cases]
        for name, style in (("heptad", "o-"), ("numpy", "s--")):
            axes.plot(sizes, [case["gflops"][name] for case in cases], style, label=f"{name}, {dtype}")
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("cube root of m n k")
    axes.set_ylabel("effective GFLOP/s: 2 m n k / time")
    axes.set_title(f"heptad {record['heptad']} and NumPy {record['numpy']}, {record['threads']} threads")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file)


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' must be an integer of at least 1")
    return int(text)


def shape(text: str) -> tuple[int, int, int]:
    sides = text.split("x")
    if len(sides) == 1:
        sides *= 3
    try:
        m, n, k = map(positive, sides)
    except (argparse.ArgumentTypeError, ValueError):
        raise argparse.ArgumentTypeError(f"'{text}' must be a size as 2048, or MxNxK") from None
    return m, n, k


def shapes(text: str) -> list[tuple[int, int, int]]:
    return [shape(one) for one in text.split(",")]


def require_writable(file: str) -> None:
    """Raises OSError where a file cannot be written. Leaves what is there."""
    existed = os.path.lexists(file)
    with open(file, "ab"):
        pass
    if not existed:
        os.remove(file)


def run(arguments: argparse.Namespace) -> None:
    import numpy as np

    # What would fail in the end fails before the work.
    for file in filter(None, (arguments.json, arguments.plot)):
        require_writable(file)
    if arguments.plot:
        importlib.import_module("matplotlib")
    if arguments.threads is not None:
        set_num_threads(arguments.threads)
    record: dict[str, Any] = {
        "heptad": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.processor() or platform.machine(),
        "threads": get_num_threads(),
        "cases": [],
    }
    print(f"{'m x n x k':>20} {'type':>8} {'NumPy':>9} {'Heptad':>9} {'ratio':>6}  difference  levels")
    for dtype in arguments.dtype:
        for m, n, k in arguments.sizes:
            case = measure(m, n, k, dtype, arguments.rounds)
            record["cases"].append(case)
            fast, plain = case["gflops"]["heptad"], case["gflops"]["numpy"]
            print(
                f"{f'{m} x {n} x {k}':>20} {dtype:>8} {plain:9.1f} {fast:9.1f} {fast / plain:6.2f}"
                f"  {case['max_difference'] / case['scale']:10.1e}  {' '.join(case['levels']) or 'classical'}",
                flush=True,
            )
    print("GFLOP/s by medians; difference: the largest, over the largest element. NumPy uses the threads of its BLAS.")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.write("\n")
    if arguments.plot:
        plot(record, arguments.plot)
        print(f"written: {arguments.plot}")


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=shapes, metavar="N|MxNxK,...",
                        default=[(n, n, n) for n in (512, 1024, 2048, 4096)], help="default: 512,1024,2048,4096")
    parser.add_argument("--dtype", nargs="+", choices=("float32", "float64"), default=["float64"])
    parser.add_argument("--threads", type=int, help="Heptad's workers; default: all that the process may use")
    parser.add_argument("--rounds", type=positive, default=5, help="turns of each; default: 5")
    parser.add_argument("--json", metavar="FILE", help="write every time to this file")
    parser.add_argument("--plot", metavar="FILE", nargs="?", const="heptad-bench.png",
                        help="draw the speeds (needs matplotlib); default file: heptad-bench.png")
    parser.set_defaults(run=run)
