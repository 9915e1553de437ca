#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws a trace (of `heptad explain gemm --trace`, or HEPTAD_TRACE) as a Gantt chart: a row a worker, a bar a task.

    scripts/plot_trace.py trace.json gantt.svg [--call 1]
"""
import argparse
import json

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

KINDS = {  # by the name of a task: what it is called, and its colour
    "product": ("products", "#4878a8"),
    "sums of A": ("sums of A", "#e0a030"),
    "sums of B": ("sums of B", "#c86830"),
    "update of C": ("updates of C", "#609850"),
    "fringe": ("fringes", "#9070b0"),
    "scale": ("scaling", "#808080"),
}


def kind_of(name):
    return next((kind for kind in KINDS if name.startswith(kind)), "scale")


def unit_of(microseconds):
    for size, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= 2 * size:
            return size, unit
    return 1, "µs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("picture", help="its ending names the format: svg, png, pdf")
    parser.add_argument("--call", type=int, default=1, help="which call of the trace, from 1")
    given = parser.parse_args()
    with open(given.trace, encoding="utf-8") as file:
        events = [event for event in json.load(file) if event["pid"] == given.call]
    tasks = [event for event in events if event["ph"] == "X"]
    if not tasks:
        raise SystemExit(f"{given.trace}: call {given.call} has no tasks")
    title = next(event["args"]["name"] for event in events if event["name"] == "process_name")

    begin = min(task["ts"] for task in tasks)
    end = max(task["ts"] + task["dur"] for task in tasks)
    workers = sorted({task["tid"] for task in tasks})
    scale, unit = unit_of(end - begin)
    height = 0.7
    figure, axes = plt.subplots(figsize=(12, 1.6 + 0.55 * len(workers)), layout="constrained")
    for kind, (words, colour) in KINDS.items():
        of_kind = [task for task in tasks if kind_of(task["name"]) == kind]
        for worker in workers:
            bars = [((t["ts"] - begin) / scale, t["dur"] / scale) for t in of_kind if t["tid"] == worker]
            outlines = [0.4 if length > 0.004 * (end - begin) / scale else 0 for _, length in bars]  # else all white
            axes.broken_barh(bars, (worker - height / 2, height), facecolor=colour, edgecolor="white", linewidth=outlines)
        if of_kind:
            share = sum(task["dur"] for task in of_kind) / (len(workers) * (end - begin))
            axes.plot([], [], color=colour, linewidth=8, label=f"{words}: {len(of_kind)}, {100 * share:.1f} %")
    for task in tasks:  # numbers of the products that have room for theirs
        if kind_of(task["name"]) == "product" and task["dur"] > 0.012 * (end - begin) * len(task["name"][8:]) / 3:
            axes.text((task["ts"] + task["dur"] / 2 - begin) / scale, task["tid"], task["name"][8:], fontsize=7,
                      color="white", ha="center", va="center")
    idle = 1 - sum(task["dur"] for task in tasks) / (len(workers) * (end - begin))
    axes.set_title(f"{title}\n{(end - begin) / scale:.4g} {unit}, {100 * idle:.1f} % idle", fontsize=10, loc="left")
    axes.set_yticks(workers, [f"worker {worker}" for worker in workers])
    axes.invert_yaxis()
    axes.set_xlim(0, (end - begin) / scale)
    axes.set_xlabel(unit)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=6, frameon=False, fontsize=9)
    figure.savefig(given.picture, dpi=150)


if __name__ == "__main__":
    main()
