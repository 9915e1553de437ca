#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/blas.md from records of bench/clients.py, and from nothing else."""
import argparse
import json
import pathlib

import generated_part

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/blas.md"


def duration(seconds):
    unit, name = next((u, n) for u, n in ((1e-6, "ns"), (1e-3, "µs"), (50e-3, "ms"), (float("inf"), "s")) if seconds < u)
    scale = {"ns": 1e9, "µs": 1e6, "ms": 1e3, "s": 1}[name]
    return f"{seconds * scale:.{ {'ns': 0, 'µs': 1, 'ms': 1, 's': 2}[name]}f} {name}"


def table(path):
    record = json.loads(path.read_text())
    settings = " ".join(f"`{name}={value}`" for name, value in record["settings"].items()) or "no variable set"
    processes = [len(row["plain_processes"]) for row in record["results"]]
    return [f"{record['machine']['cpu']}, {record['machine']['cores']} cores; {record['date'][:10]}, commit "
            f"{record['commit'][:10]}; NumPy {record['versions']['numpy']}, SciPy {record['versions']['scipy']}, "
            f"{' '.join(record['versions']['openblas'].split()[:2])}, {settings}; medians over {min(processes)} to "
            f"{max(processes)} processes of each kind, in turns. Record: [{path.name}](../bench/results/{path.name}).",
            "", "| case | plain | Heptad | ratio | control |", "| --- | --- | --- | --- | --- |",
            *(f"| {row['case']} | {duration(row['plain'])} | {duration(row['heptad'])} | {row['ratio']:.2f} | "
              f"{row['control']:.2f} |" for row in record["results"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=pathlib.Path, nargs="+", help="under bench/results/")
    lines = []
    for path in parser.parse_args().records:
        lines += [*([""] if lines else []), *table(path)]
    generated_part.update(PAGE, "clients", "\n".join(lines))


if __name__ == "__main__":
    main()
