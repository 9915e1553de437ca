#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of a k-step of AVX2's 12×4 and 24×4 tiles, as valgrind counts them: instructions.py VALGRIND PROGRAM.

12 multiplications, 3 loads and 4 broadcasts are 19. A compiler that moves sums between registers needs more, and on a
core that others use too every one of them costs."""
import re
import subprocess
import sys

TILES, STEPS = 16 * 8, 256
MOST = 20


def instructions(kind, steps):
    run = subprocess.run([sys.argv[1], "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.argv[2], kind, str(steps)],
                         capture_output=True, text=True)
    if run.returncode == 77:
        sys.exit(77)
    return int(re.search(r"Collected : (\d+)", run.stderr)[1])


wrong = 0
for kind in "f64", "f32":
    a_step = (instructions(kind, 2 * STEPS) - instructions(kind, STEPS)) / (TILES * STEPS)
    print(f"{kind}: {a_step:.2f} instructions a k-step, at most {MOST}")
    wrong += a_step > MOST
sys.exit(1 if wrong else 0)
