#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/performance.md and of the README, and draws the README's picture, from records of `heptad bench
gemm --json` and from nothing else."""
import argparse
import json
import pathlib
import re
import sys

import generated_part

SQUARES = [512, 1024, 2048, 4096, 8192]
# By CPUID's family and model: virtual machines hide the name, and one of them says 167 for a model that has the caches and
# the instructions of a Granite Rapids (AVX512-FP16, 64 KiB for instructions, 480 MiB of third-level cache).
PROCESSORS = {(25, 17): "AMD Zen 4", (25, 1): "AMD Zen 3", (26, 2): "AMD Zen 5", (6, 207): "Intel Emerald Rapids",
              (6, 167): "Intel Granite Rapids"}
WITH_AVX512 = {"AMD Zen 4", "AMD Zen 5"}  # some virtual machines hide it
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


def plan_of(case):
    """The plan that ran."""
    own = next(row for row in case["results"] if row["library"] == "heptad")
    return own["last_call"]["plan"]


def levels(case):
    """As in the bench: t task, e explicit, f fused."""
    names = plan_of(case)["levels"]
    return " ".join(f"{level['kind'][0]}:{level['algorithm']}" for level in names) or "classical"


def columns_of(cases):
    return sorted({column for _, column in cases})


def ratio(cases, row, column):
    """Of a case of {(shape, column): case}; nothing where there is none."""
    return f"{cases[row, column]['ratio']:.2f}" if "ratio" in cases.get((row, column), {}) else ""


def ratio_table(cases):
    columns = columns_of(cases)
    squares_first = sorted(dict.fromkeys(row for row, _ in cases), key=lambda row: int(row) if row.isdecimal() else 10**6)
    lines = ["| m×n×k | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    lines += [f"| {row} | " + " | ".join(ratio(cases, row, c) for c in columns) + " |" for row in squares_first]
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
    name = PROCESSORS.get((int(machine["cpu_family"]), int(machine["cpu_model"])), machine["cpu"])
    hidden = name in WITH_AVX512 and plan_of(record["cases"][0]).get("kernel") == "avx2"
    return f"{name} without AVX-512" if hidden else name


def provenance(record, name):
    machine, commit = record["machine"], record["commit"]
    versions = {x["name"]: re.search(r"\d+\.\d[\d.]*", x["version"])[0] for x in record["libraries"] if x["name"] != "heptad"}
    peers = ", ".join(f"{NAMES[name]} {version}" for name, version in versions.items())
    return (f"{machine['cpu']} (family {machine['cpu_family']}, model {machine['cpu_model']}), {machine['cores']} cores; "
            f"{record['date'][:10]}, commit {commit['hash'][:10]}{' with changes' if commit['dirty'] else ''}; "
            f"beside {peers}. Record: [{name}](../bench/results/{name}).")


def latest_cases(records):
    """{processor: {(shape, column): case}}; the case of a later record replaces that of an earlier one."""
    result = {}
    for _, record in records:
        cases = result.setdefault(processor_of(record), {})
        cases.update({(shape(case), column(case)): case for case in record["cases"]})
    return result


def squares_table(latest):
    sizes = [str(n) for n in SQUARES]
    lines = ["| m = n = k | | " + " | ".join(sizes) + " |", "| --- | --- |" + " --- |" * len(sizes)]
    for processor, cases in latest.items():
        for title in columns_of(cases):
            lines.append(f"| {processor} | {title} | " + " | ".join(ratio(cases, n, title) for n in sizes) + " |")
    return "\n".join(lines)


def draw_squares(latest):
    """The squares of the first processor."""
    import plot_bench  # matplotlib is not needed to check the pages

    processor, cases = next(iter(latest.items()))
    chosen = [cases[str(n), title] for title in columns_of(cases) for n in SQUARES if (str(n), title) in cases]
    plot_bench.draw(chosen, f"{processor}, random data", ROOT / "docs/images/performance.svg")


def ratios_and_records(records, latest):
    page = ["## Ratios", "The best peer's time over Heptad's; of a case in several of a processor's records, that of the last one."]
    for processor, cases in latest.items():
        page += ["", f"### {processor}", ratio_table(cases)]
    page += ["", "## Records", "Speeds are effective GFLOP/s, 2mnk / median seconds; levels t: task, e: explicit, f: fused."]
    for name, record in records:
        page += ["", f"### {name.removesuffix('.json')}", provenance(record, name), "", detail_table(record["cases"])]
    return "\n".join(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="*", type=pathlib.Path, help="under bench/results/; with none, those of the present page")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the pages say something else")
    arguments = parser.parse_args()
    full, readme = ROOT / "docs/performance.md", ROOT / "README.md"
    shown = [ROOT / "bench/results" / name for name in re.findall(r"Record: \[(.*?)\]", full.read_text())]
    records = [(path.name, json.loads(path.read_text())) for path in arguments.records or shown]
    latest = latest_cases(records)

    stale = [page.name for page, text in ((full, ratios_and_records(records, latest)), (readme, squares_table(latest)))
             if generated_part.update(page, "performance", text, arguments.check)]
    if not arguments.check:
        draw_squares(latest)
    elif stale:
        sys.exit(f"not what the records say: {', '.join(stale)}; run scripts/performance_page.py")


main()
