#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/performance.md and of the README from records of `heptad bench gemm --json`, and from nothing else."""
import argparse
import json
import pathlib
import re

NAMES = {"mkl": "MKL", "openblas": "OpenBLAS", "blis": "BLIS", "heptad": "Heptad"}
ROUTINES = {"d": "dgemm", "s": "sgemm"}
ROOT = pathlib.Path(__file__).resolve().parent.parent


def shape(case):
    m, n, k = case["m"], case["n"], case["k"]
    sizes = str(m) if m == n == k else f"{m}×{n}×{k}"
    cold = ", from memory" if case.get("operand_sets", 1) > 1 else ""
    return sizes + cold + {"nn": "", "nt": ", Bᵀ", "tn": ", Aᵀ", "tt": ", Aᵀ, Bᵀ"}[case.get("transposes", "nn")]


def column(case):
    return f"{ROUTINES[case['type']]}, {case['threads']} thread{'s' if case['threads'] > 1 else ''}"


def levels(case):
    """The levels of the plan that ran, as in the bench: t task, e explicit, f fused."""
    own = next(row for row in case["results"] if row["library"] == "heptad")
    names = own["last_call"]["plan"]["levels"]
    return " ".join(f"{level['kind'][0]}:{level['algorithm']}" for level in names) or "classical"


def ratio_table(cases):
    columns = sorted({column(c) for c in cases})
    rows = list(dict.fromkeys(shape(c) for c in cases))
    found = {(shape(c), column(c)): c for c in cases}
    lines = ["| m×n×k | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    for row in rows:
        cells = [f"{found[row, c]['ratio']:.2f}" if "ratio" in found.get((row, c), {}) else "" for c in columns]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def detail_table(cases):
    libraries = list(dict.fromkeys(row["library"] for case in cases for row in case["results"]))
    lines = ["| product | " + " | ".join(NAMES[x] for x in libraries) + " | ratio | levels | workspace | idle |",
             "| --- |" + " --- |" * (len(libraries) + 4)]
    for case in cases:
        rows = {row["library"]: row for row in case["results"]}
        speeds = [f"{rows[x]['gflops']:.1f}" if x in rows and rows[x]["valid"] else "" for x in libraries]
        last = rows["heptad"]["last_call"]
        lines.append(f"| {column(case)}, {shape(case)} | " + " | ".join(speeds) + f" | {case.get('ratio', 0):.3f} | "
                     f"{levels(case)} | {last['workspace'] / 2**20:.0f} MiB | {100 * rows['heptad']['idle_fraction']:.1f} % |")
    return "\n".join(lines)


def processor_of(record):
    machine = record["machine"]
    return machine["cpu"], machine["cpu_family"], machine["cpu_model"]


def provenance(record, name):
    machine, commit = record["machine"], record["commit"]
    versions = {x["name"]: re.search(r"\d+\.\d[\d.]*", x["version"])[0] for x in record["libraries"] if x["name"] != "heptad"}
    peers = ", ".join(f"{NAMES[name]} {version}" for name, version in versions.items())
    return (f"{machine['cpu']} (family {machine['cpu_family']}, model {machine['cpu_model']}), {machine['cores']} cores; "
            f"{record['date'][:10]}, commit {commit['hash'][:10]}{' with changes' if commit['dirty'] else ''}; "
            f"beside {peers}. Record: [{name}]({{}}bench/results/{name}).")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="+", type=pathlib.Path, help="under bench/results/; a case of a later one replaces the same case of an earlier one of the same processor in the README")
    arguments = parser.parse_args()
    records = [(path.name, json.loads(path.read_text())) for path in arguments.records]

    page = ["# Performance", "",
            "Made by `scripts/performance_page.py` from the records named below; [bench/README.md](../bench/README.md) says "
            "how they were measured. Speeds are effective GFLOP/s, 2mnk / median seconds; the ratio is the best peer's time "
            "over Heptad's; levels t: task, e: explicit, f: fused."]
    for name, record in records:
        page += ["", f"## {name.removesuffix('.json')}", provenance(record, name).format("../"), "", detail_table(record["cases"])]
    (ROOT / "docs/performance.md").write_text("\n".join(page) + "\n")

    tables = []
    for processor in dict.fromkeys(processor_of(record) for _, record in records):
        own = [(name, record) for name, record in records if processor_of(record) == processor]
        latest = {(shape(case), column(case)): case for _, record in own for case in record["cases"]}
        sources = "\n".join(f"- {provenance(record, name).format('')}" for name, record in own)
        tables.append(f"{ratio_table(list(latest.values()))}\n\n{sources}")
    table = ("Times of the best other library over Heptad's, a table for each processor; of a case in several of the records "
             "below it, the last one counts:\n\n" + "\n\n".join(tables) +
             "\n\nAll figures: [docs/performance.md](docs/performance.md).")
    readme = ROOT / "README.md"
    marked = re.compile(r"(<!-- performance:.*?-->\n).*?(<!-- end of performance -->)", re.S)
    readme.write_text(marked.sub(lambda m: m[1] + table + "\n" + m[2], readme.read_text()))


main()
