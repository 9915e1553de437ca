#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/gpu.md and of the README from a folder of bench/results/gpu; --check only compares."""
import json
import pathlib
import re
import sys

import generated_part

root = pathlib.Path(__file__).resolve().parent.parent
records_root = root / "bench/results/gpu"


class environment:
    """What environment.txt of a record says: date, commit and device."""

    def __init__(self, folder):
        text = (folder / "environment.txt").read_text()
        self.date = re.search(r"date (\S+)", text)[1]
        self.day = self.date[:10]
        self.commit = re.search(r"commit (\S+)", text)[1]
        self.device = text.splitlines()[3].split(",")[0]


def date_of(folder):
    return environment(folder).date


def rows(folder):
    return [json.loads(line) for line in (folder / "gemm.jsonl").read_text().splitlines()]


def table(records, types, beta):
    lines = ["| n | " + " | ".join(f"{t}: cuBLAS ms | Heptad ms | faster | how" for t in types) + " |",
             "| --- |" + " --- | --- | --- | --- |" * len(types)]
    auto = [r for r in records if r["beta"] == beta and r.get("max_workspace", -1) < 0]
    for n in dict.fromkeys(r["n"] for r in auto if r["variant"] == "auto" and r["type"] in types):
        cells = []
        for t in types:
            case = [r for r in auto if r["n"] == n and r["type"] == t]
            # The first cuBLAS row is the one that was timed in turn with the first `auto` row.
            reference = next((r for r in case if r["variant"] == "cublas"), None)
            own = next((r for r in case if r["variant"] == "auto"), None)
            if own is None or reference is None:
                cells.append("| | | ")
                continue
            cells.append(f"{reference['median_ms']:.3f} | {own['median_ms']:.3f} | {own['over_cublas']:.2f}× | "
                         f"{own['stages'] or 'cuBLAS'}")
        lines.append(f"| {n} | " + " | ".join(cells) + " |")
    return lines


def variants(records, kind, n):
    lines = ["| stages | ms | over cuBLAS | workspace, GB | difference |", "| --- | --- | --- | --- | --- |"]
    explicit = [i for i, r in enumerate(records) if r["type"] == kind and r["n"] == n and r["variant"] not in ("auto", "cublas")]
    for r in (records[i] for i in explicit):
        lines.append(f"| {r['stages']} | {r['median_ms']:.3f} | {r['over_cublas']:.2f}× | {r['workspace'] / 1e9:.2f} | "
                     f"{r['difference']:.1e} |")
    return lines


def planned_table(records):
    """What was planned beside the fastest of what was tried in turn with it."""
    runs = []
    for r in records:
        if r["variant"] == "cublas":
            runs.append([])
        runs[-1].append(r)
    lines = ["", "Planned, and the fastest of all that were timed in turn with it:", "",
             "| n | type | planned | ms | fastest | ms | planned over fastest |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for run in sorted(runs, key=lambda run: (run[0]["type"], run[0]["n"])):
        explicit = [r for r in run if r["variant"] not in ("cublas", "auto")]
        plans = [r for r in run if r["variant"] == "auto"]
        if run[0]["type"] == "tf32" or len(explicit) < 3 or not plans:
            continue
        own, best = plans[0], min(run, key=lambda r: r["median_ms"])
        if best["stages"] == own["stages"]:
            best = own
        lines.append(f"| {own['n']} | {own['type']} | {own['stages'] or 'cuBLAS'} | {own['median_ms']:.3f} | {best['stages'] or 'cuBLAS'} | "
                     f"{best['median_ms']:.3f} | {best['median_ms'] / own['median_ms']:.3f} |")
    return lines if len(lines) > 5 else []


def tf32_table(records):
    """On request. The device's power decides the rate, so each variant ran for a while by itself."""
    cases = {}
    for r in sorted(records, key=lambda r: r["n"]):
        if r["type"] == "tf32":
            cases.setdefault(r["n"], {})[r["variant"]] = r
    ways = ["1", "2", "2b"]
    lines = ["", "TF32, on request, each for 0.4 s of calls in a row:", "",
             "| n | cuBLAS ms | planned | " + " | ".join(f"winogradx{w}" for w in ways) + " |", "| --- |" + " --- |" * (2 + len(ways))]
    for n, case in cases.items():
        auto = case["auto"]
        cells = [f"{case['cublas']['median_ms']:.3f}", f"{auto['over_cublas']:.2f}×, {auto['stages'] or 'cuBLAS'}"]
        cells += [f"{case[w]['over_cublas']:.2f}×" if w in case else "" for w in ways]
        lines.append(f"| {n} | " + " | ".join(cells) + " |")
    return lines


def fused_table(records):
    lines = []
    for kind, name in (("f32", "float"), ("f64", "double")):
        lines += fused_table_of(records, kind, name)
    return lines


def fused_table_of(records, kind, name):
    """One fused level in every way, and what the planner takes within little workspace."""
    ways = {"1f": "ordered", "1f@atomic": "atomic", "1f@streams": "streams", "1/1f": "Winograd around it"}
    cases = {}
    for r in records:
        if r["type"] == kind and (r["variant"] in ways or r["variant"] == "auto" and r.get("max_workspace", -1) >= 0):
            cases.setdefault(r["n"], {})[r["variant"] if r["variant"] in ways else r["max_workspace"]] = r
    caps = sorted({c for case in cases.values() for c in case if isinstance(c, int)})
    if not cases:
        return []
    heads = list(ways.values()) + [f"planned within {c >> 10} KiB" for c in caps]
    lines = ["", f"Fused levels of Strassen, {name}, over cuBLAS:", "", "| n | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(heads)]
    for n, case in sorted(cases.items()):
        cells = [f"{case[w]['over_cublas']:.2f}×" if w in case else "" for w in ways]
        cells += [f"{case[c]['over_cublas']:.2f}×, {case[c]['stages'] or 'cuBLAS'}" if c in case else "" for c in caps]
        lines.append(f"| {n} | " + " | ".join(cells) + " |")
    return lines


def host_table(folder):
    """Matrices in host memory: the best of cuBLASXt's blocks beside Heptad."""
    records = [json.loads(line) for line in (folder / "host.jsonl").read_text().splitlines()]
    lines = ["", "Matrices in host memory, double where not said otherwise (copy: all is sent, one call of cuBLAS, C is fetched; "
             "cuBLASXt: the better of blocks of 2048 and 4096; overlap: share of the time of transfers in which products ran):", "",
             "| n | memory | copy, ms | cuBLASXt, ms | Heptad, ms | over copy | over cuBLASXt | blocks | sent once | overlap |",
             "| --- |" + " --- |" * 9]
    reference = {}
    for r in records:
        key = r["type"], r["n"], r["memory"], r["copy_threads"]
        if not r["variant"].startswith("Heptad"):
            kind = "copy" if r["variant"].startswith("copy") else "xt"
            known = reference.setdefault(key, {})
            known[kind] = min(known.get(kind, r["median_ms"]), r["median_ms"])
            continue
        copy, xt, ms = reference[key]["copy"], reference[key]["xt"], r["median_ms"]
        memory = r["memory"] + (f", copied by {r['copy_threads']}" if r["memory"] == "pageable" else "")
        within = r["variant"].removeprefix("Heptad")
        lines.append(f"| {r['n']}{', float' if r['type'] == 'f32' else ''} | {memory}{within} | {copy:.1f} | {xt:.1f} | {ms:.1f} | {copy / ms:.2f}× | "
                     f"{xt / ms:.2f}× | {'×'.join(map(str, r['blocks']))} | {'yes' if r['resident'] else 'no'} | "
                     f"{100 * r['overlap']:.0f} % |")
    return lines


def introduction(folder, up):
    on = environment(folder)
    where = folder.relative_to(root).as_posix()
    return (f"{on.device}, {on.day}, commit {on.commit}; square matrices on the device, random data, medians of rounds that time both in turn. "
            f"Record: [{where}]({up}{where}).")


def section(folder, full):
    records = rows(folder)
    text = [introduction(folder, "../" if full else ""), ""]
    text += ["`winogradxNb`: N levels of Winograd whose sums are formed in one pass, products in one batch; `f`: fused.", ""] if full else []
    text += table(records, ["f64", "f32"], 0.0)
    if full:
        text += ["", "With beta = 1:", ""] + table(records, ["f64", "f32"], 1.0)
        for kind, name in (("f64", "double"), ("f32", "float")):
            text += ["", f"Choices for {name} at 8192 (difference: ‖X − cuBLAS‖F / ‖cuBLAS‖F):", ""] + variants(records, kind, 8192)
        text += planned_table(records) + tf32_table(records)
        text += fused_table(records) + host_table(folder)
    return "\n".join(text)


def hybrid_section(folders):
    """Products shared by the CPU and devices, of the latest record for each number of devices: what is timed in turn is one row."""
    latest = {}
    for folder in sorted(folders, key=date_of):
        latest[json.loads((folder / "hybrid.jsonl").read_text().splitlines()[0])["devices"]] = folder
    folders = [latest[devices] for devices in sorted(latest)]
    names = {"cpu": "CPU", "device": "one device", "h1": "shared", "h2": "shared, each device as 2", "h3": "as 3", "d1": "devices alone"}
    lines = []
    for folder in folders:
        records = [json.loads(line) for line in (folder / "hybrid.jsonl").read_text().splitlines()]
        on = environment(folder)
        where = folder.relative_to(root).as_posix()
        cases = {}
        for r in records:
            cases.setdefault((r["n"], r["type"], r["memory"]), {})[r["variant"]] = r
        some = records[0]
        used = [name for name in names if any(name in case for case in cases.values())]
        lines += [f"{some['devices']} × {on.device} and {some['workers']} CPU workers, {on.day}, commit {on.commit}; ms, "
                  f"medians. Record: [{where}](../{where}).", "",
                  "| n | type | memory | " + " | ".join(names[u] for u in used) + " | CPU's share | shared over one device |",
                  "| --- |" + " --- |" * (len(used) + 4)]
        for (n, kind, memory), case in cases.items():
            both, one = case["h1"], case["device"]
            memory += f", copied by {both['copy_threads']}" if memory == "pageable" else ""
            lines.append(f"| {n} | {kind} | {memory} | " + " | ".join(f"{case[u]['median_ms']:.1f}" if u in case else "" for u in used) +
                         f" | {100 * both['cpu_share']:.1f} % | {one['median_ms'] / both['median_ms']:.2f}× |")
        lines.append("")
    return "\n".join(lines[:-1])


def others_section(device):
    """The latest record of every other device, in short."""
    latest = {}
    for folder in sorted((p.parent for p in records_root.glob("*/gemm.jsonl")), key=date_of):
        latest[environment(folder).device] = folder
    latest.pop(device)
    lines = []
    for folder in latest.values():
        records = rows(folder)
        lines += [introduction(folder, "../"), ""] + table(records, ["f64", "f32"], 0.0)
        lines += ["", "With beta = 1:", ""] + table(records, ["f64", "f32"], 1.0) + tf32_table(records) + [""]
    return "\n".join(lines[:-1])


def main():
    check = "--check" in sys.argv
    # The latest record of those that have everything.
    whole = max((p.parent for p in records_root.glob("*/host.jsonl")), key=date_of)
    shared = [p.parent for p in records_root.glob("*/hybrid.jsonl")]
    parts = [("docs/gpu.md", "gpu", section(whole, True)), ("README.md", "gpu", section(whole, False)),
             ("docs/gpu.md", "other devices", others_section(environment(whole).device)),
             ("docs/gpu.md", "hybrid", hybrid_section(shared))]
    wrong = [f"{page} ({name})" for page, name, text in parts if generated_part.update(root / page, name, text, check)]
    if wrong and check:
        sys.exit(f"{', '.join(wrong)}: the GPU figures are not those under bench/results/gpu; run scripts/gpu_page.py")


main()
