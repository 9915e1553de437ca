# SPDX-License-Identifier: BSD-3-Clause
"""Netlib's testers of the BLAS through the drop-in. They link libblas.so.3, and define an xerbla_ of their own.

With no fast levels every routine must pass every test as it comes. The testers' ratios are element by element, a
bound that fast multiplication does not have (docs/accuracy.md), so with fast levels the calls must be completed, the
error exits be right and the summary say that fast products ran; how large their errors are is for fuzz_calls to judge.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TESTERS = pathlib.Path("/usr/lib/x86_64-linux-gnu/blas")
SETS = {
    "level_1_2": [f"xblat1{t}" for t in "sdcz"] + [f"xblat2{t}" for t in "sdcz"],
    "level_3": [f"xblat3{t}" for t in "sdcz"],
    "cblas": [f"x{t}cblat{level}" for t in "sdcz" for level in (1, 2, 3)],
}


def input_of(program):
    """The file that feeds a tester, if it needs one: xblat3d reads dblat3.in, xdcblat3 reads din3."""
    if found := re.fullmatch(r"xblat([23])([sdcz])", program):
        return TESTERS / f"{found[2]}blat{found[1]}.in"
    if found := re.fullmatch(r"x([sdcz])cblat([23])", program):
        return TESTERS / f"{found[1]}in{found[2]}"
    return None


def run(program, environment):
    """What the tester printed, with its summary file, and what the drop-in said."""
    with tempfile.TemporaryDirectory() as folder:
        source = input_of(program)
        with open(source or os.devnull) as feed:
            done = subprocess.run([TESTERS / program], stdin=feed, capture_output=True, text=True, cwd=folder,
                                  env=environment, timeout=300)
        summary = "".join(file.read_text() for file in pathlib.Path(folder).iterdir())
        return done.returncode, done.stdout + summary, done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--preload", help="libheptad_blas.so")
    parser.add_argument("--replace", help="the folder of our libblas.so.3")
    parser.add_argument("--levels", type=int, default=0)
    given = parser.parse_args()
    if not TESTERS.joinpath("xblat3d").exists():
        print("skipped: libblas-test is not installed")
        return 77

    environment = dict(os.environ, HEPTAD_BLAS_MIN_SIZE="0", HEPTAD_FORCE_LEVELS=str(given.levels), HEPTAD_VERBOSE="1")
    if given.preload:
        environment["LD_PRELOAD"] = given.preload
    if given.replace:
        environment["LD_LIBRARY_PATH"] = given.replace

    failures = []
    for program in SETS[given.set]:
        status, printed, said = run(program, environment)
        # Each tester has its words for success; all have FAIL for a wrong result, and *** before any complaint.
        complaints = re.findall(r".*(?:\*\*\*|FAIL).*", printed)
        if given.levels > 0:
            accuracy = r"SUSPECT|LESS THAN HALF ACCURATE|[SD]\w+\s+FAILED ON CALL NUMBER"
            complaints = [line for line in complaints if not re.search(accuracy, line)]
        passed = len(re.findall(r"PASS|END OF TESTS", printed))
        fast = int((re.findall(r"(\d+) products with fast levels", said) or ["0"])[-1])
        carried = sum(map(int, re.findall(r"calls, (\d+) by Heptad", said)))
        print(f"{program}: exit {status}, {passed} passed, {carried} calls by Heptad, {fast} fast products")
        if status != 0 or complaints or passed == 0:
            failures.append(program)
            print(*complaints, said[-2000:], sep="\n")
        ours = "3" in program and program[1] in "sd" or program in ("xblat3s", "xblat3d")
        if ours and (carried == 0 or (fast == 0) != (given.levels == 0)):
            failures.append(program)
            print("the drop-in did not carry what it should:", said[-2000:], sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
