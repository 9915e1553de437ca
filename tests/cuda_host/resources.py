#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Registers and spilled bytes of every generated kernel and of the fused ones, as ptxas reported them to the build, against a recorded table:
  resources.py TABLE FOLDER            fails where a kernel needs more than the table says, is missing, or is new
  resources.py --record TABLE FOLDER   writes the table
A kernel is named algorithm_levels:program:type:width[:adds], or fused:type:tile[:tensor][:wide]."""
import pathlib
import re
import sys


def name_of(entry, source):
    """None: not a kernel of the table."""
    types = {"d": "f64", "f": "f32"}
    if fused := re.search(r"fused_kernelINS0_10tile_shapeI([df])Lb([01])ELi(\d+)ELi(\d+)ELi(\d+)ELi(\d+)ELi\d+EEELb([01])E", entry):
        warps_m, warps_n, warp_m, warp_n = map(int, fused.group(3, 4, 5, 6))
        return ":".join(["fused", types[fused[1]], f"{warps_m * warp_m}x{warps_n * warp_n}"] + ["tensor"] * int(fused[2]) + ["wide"] * int(fused[7]))
    program = re.search(r"program_(\d+)E([df])Li(\d+)ELb([01])", entry)
    if program and source:
        return ":".join([source[1], program[1], types[program[2]], program[3]] + ["adds"] * int(program[4]))
    return None


def measured(folder):
    found = {}
    for log in sorted(folder.rglob("*.resources")):
        source = re.match(r"combine_(\w+)\.cu", log.name)
        kernel = arch = None
        spilled = 0
        for line in log.read_text().splitlines():
            if entry := re.search(r"Compiling entry function '(\S+)' for '(\w+)'", line):
                kernel = name_of(entry[1], source)
                arch = entry[2]
            elif spills := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
                spilled = int(spills[1]) + int(spills[2])
            elif (used := re.search(r"Used (\d+) registers", line)) and kernel:
                found[arch, kernel] = (int(used[1]), spilled)
    return found


def main():
    record = sys.argv[1] == "--record"
    table, folder = map(pathlib.Path, sys.argv[2 if record else 1:])
    found = measured(folder)
    if not found:
        sys.exit(f"{folder} has no report of ptxas")
    if record:
        lines = [f"{arch} {kernel} {registers} {spilled}" for (arch, kernel), (registers, spilled) in sorted(found.items())]
        table.write_text("# architecture kernel registers spilled-bytes; written by resources.py --record\n" + "\n".join(lines) + "\n")
        return
    allowed = {}
    for line in table.read_text().splitlines():
        if not line.startswith("#"):
            arch, kernel, registers, spilled = line.split()
            allowed[arch, kernel] = (int(registers), int(spilled))
    built = {arch for arch, _ in found}
    wrong = [f"{arch} {kernel}: not built any more" for arch, kernel in allowed if arch in built and (arch, kernel) not in found]
    for key, (registers, spilled) in found.items():
        name = " ".join(key)
        if key not in allowed:
            wrong.append(f"{name}: not in the table")
        elif registers > allowed[key][0] or spilled > allowed[key][1]:
            wrong.append(f"{name}: {registers} registers and {spilled} bytes spilled, recorded {allowed[key]}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(found)} kernels within the table")


main()
