# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command under the drop-in and checks its summary: what Heptad carried, and with how many fast products.

with_audit.py [--carries dgemm,dgetrf] [--fast N] -- COMMAND...; exit 77, skipped, when a Python module is not there."""
import argparse
import importlib.util
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--needs", default="", help="Python modules, with commas")
    parser.add_argument("--carries", default="", help="routines of which Heptad must carry a call, with commas")
    parser.add_argument("--fast", type=int, default=0, help="at least so many products with fast levels")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    for module in filter(None, given.needs.split(",")):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: python3-{module} is not installed")
            return 77
    done = subprocess.run(given.command, stderr=subprocess.PIPE, text=True)
    summary = re.findall(r"^heptad-blas: .*(?:backend|calls|products).*$", done.stderr, re.MULTILINE)
    print(*summary[-20:], sep="\n")
    carried = {name: int(count) for name, count in re.findall(r"(\w+) \d+ calls, (\d+) by Heptad", "\n".join(summary))}
    fast = int((re.findall(r"(\d+) products with fast levels$", "\n".join(summary)) or ["0"])[-1])
    missing = [name for name in filter(None, given.carries.split(",")) if carried.get(name, 0) == 0]
    if done.returncode != 0:
        print(done.stderr[-4000:])
    if missing or fast < given.fast:
        print(f"not carried: {missing}; {fast} fast products, wanted {given.fast}")
        return 1
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
