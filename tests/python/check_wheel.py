# SPDX-License-Identifier: BSD-3-Clause
"""`pip wheel` of the checkout: small, complete, and at work where neither the build nor an installed Heptad is."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

source, work, *defines = sys.argv[1:]
if importlib.util.find_spec("scikit_build_core") is None:
    print("skipped: no scikit-build-core")
    sys.exit(77)
work = pathlib.Path(work)
shutil.rmtree(work, ignore_errors=True)
pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
settings = [f"--config-settings=cmake.define.{define.removeprefix('-D')}" for define in defines]
subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", work, f"--config-settings=build-dir={work}/build",
                *settings, source], check=True)

(wheel,) = work.glob("heptad-*.whl")
megabytes = wheel.stat().st_size / 1e6
names = zipfile.ZipFile(wheel).namelist()
print(f"{wheel.name}: {megabytes:.2f} MB", *names, sep="\n  ")
assert megabytes < 10
for wanted in ("__init__.py", "__main__.py", "bench.py", "py.typed", "_heptad.pyi", "libheptad.so."):
    assert any(name.startswith(f"heptad/{wanted}") for name in names), wanted
assert all(name.startswith("heptad") for name in names)

subprocess.run([*pip, "install", "--no-deps", "--target", work / "site", wheel], check=True)
use = """
import heptad, numpy as np
A = np.random.default_rng(1).uniform(-1, 1, (300, 200))
C, report = heptad.matmul(A, A.T, return_report=True)
assert abs(C - A @ A.T).max() < 1e-11
mine = [line.split()[-1] for line in open("/proc/self/maps") if "libheptad" in line]
assert mine and all(name.startswith(heptad.__path__[0]) for name in mine), mine
print(heptad.__version__, repr(report))
"""
environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
subprocess.run([sys.executable, "-c", use], check=True, cwd=work, env={**environment, "PYTHONPATH": str(work / "site")})
shutil.rmtree(work)
