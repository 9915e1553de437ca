# SPDX-License-Identifier: BSD-3-Clause
"""The package and a program that uses it pass a strict type checker, which finds the mistakes of another program. The
extension's stub is made from the extension by the build."""

import importlib.util
import pathlib
import subprocess
import sys

package, work, settings = map(pathlib.Path, sys.argv[1:])
if importlib.util.find_spec("mypy") is None:
    print("skipped: no mypy")
    sys.exit(77)

cache = ["--cache-dir", str(work / "mypy")]
right = work / "right.py"
right.write_text(
    "import heptad\n"
    "import numpy as np\n"
    "A = np.ones((3, 4))\n"
    "C, report = heptad.matmul(A, A.T, max_error=10, scheduler='sequential', return_report=True)\n"
    "seconds: float = report.seconds\n"
    "levels: list[heptad.PlanLevel] = report.plan.levels\n"
    "rows: int = heptad.matmul(A, A.T).shape[0]\n"
    "text: str = heptad.explain(heptad.plan(8, 8, 8, dtype=np.float32, force_levels=1))\n"
)
wrong = work / "wrong.py"
wrong.write_text(
    "import heptad\n"
    "heptad.matmul(1, 2, scheduler='fortran')  # E\n"
    "heptad.matmul(1, 2, max_error='large')  # E\n"
    "heptad.matmul(1, 2, tolerance=1)  # E\n"
    "heptad.plan(8, 8)  # E\n"
    "heptad.plan(8, 8, 8).seconds = 1  # E\n"
)


def mypy(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "mypy", "--config-file", settings, *cache, *arguments], capture_output=True, text=True,
                          cwd=work)


checked = mypy(str(right), str(package))
print(checked.stdout + checked.stderr)
refused = mypy(str(wrong))
lines = {int(line.split(":")[1]) for line in refused.stdout.splitlines() if ": error:" in line}
expected = {number for number, line in enumerate(wrong.read_text().splitlines(), 1) if line.endswith("# E")}
if lines != expected:
    print("not refused as they should be:", expected ^ lines, refused.stdout)
sys.exit(checked.returncode != 0 or lines != expected)
