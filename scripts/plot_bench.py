#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws a record of `heptad bench gemm --json`: GFLOP/s of every library, and Heptad's ratio to the best of them."""
import argparse
import json
import pathlib

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "heptad"  # the same file of the same records
import matplotlib.pyplot as plt

COLOURS = {"heptad": "#c0392b", "mkl": "#2c6fbb", "openblas": "#3a9a5b", "blis": "#e08e0b"}
NAMES = {"heptad": "Heptad", "mkl": "MKL", "openblas": "OpenBLAS", "blis": "BLIS"}


def shape(case):
    square = case["m"] == case["n"] == case["k"]
    sizes = str(case["m"]) if square else f"{case['m']}\u00d7{case['n']}\u00d7{case['k']}"
    transposes = case.get("transposes", "nn")
    return sizes + ("" if transposes == "nn" else f" {transposes}") + (" cold" if case.get("operand_sets", 1) > 1 else "")


def panels(cases):
    """{(type, threads): its cases}, in their order."""
    result = {}
    for case in cases:
        result.setdefault((case["type"], case["threads"]), []).append(case)
    return result


def draw_speed(axes, cases):
    for library in dict.fromkeys(row["library"] for case in cases for row in case["results"]):
        points = [(i, row["gflops"]) for i, case in enumerate(cases) for row in case["results"]
                  if row["library"] == library and row["valid"]]
        if not points:
            continue
        own = library == "heptad"
        axes.plot(*zip(*points), marker="o" if own else "s", markersize=6 if own else 4, linewidth=2.4 if own else 1.3,
                  color=COLOURS.get(library), label=NAMES.get(library, library), zorder=3 if own else 2)
    axes.set_ylim(bottom=0, top=1.05 * axes.get_ylim()[1])


def draw_ratio(axes, cases, limits):
    for i, case in enumerate(cases):
        ratio = case.get("ratio")
        if ratio is None:
            continue
        axes.bar(i, ratio - 1, bottom=1, width=0.6, color=COLOURS["heptad"] if ratio >= 1 else "#999999", alpha=0.85)
        axes.annotate(f"{ratio:.2f}", (i, ratio), xytext=(0, 3 if ratio >= 1 else -11), textcoords="offset points",
                      ha="center", fontsize=8)
    axes.axhline(1, color="#333333", linewidth=1)
    axes.set_ylim(limits)


def ratio_limits(cases):
    """The same for every panel, so that bars compare; 1 is always in sight."""
    known = [case["ratio"] for case in cases if "ratio" in case] + [1]
    room = max(0.15 * (max(known) - min(known)), 0.03)
    return min(known) - room, max(known) + room


def draw(cases, title, file):
    groups = panels(cases)
    limits = ratio_limits(cases)
    figure, grid = plt.subplots(2, len(groups), figsize=(1.2 + 3.6 * len(groups), 6), squeeze=False,
                                gridspec_kw={"height_ratios": [3, 2]}, layout="constrained")
    for column, ((kind, threads), group) in enumerate(groups.items()):
        speed, ratio = grid[:, column]
        draw_speed(speed, group)
        draw_ratio(ratio, group, limits)
        speed.set_title(f"{kind}gemm, {threads} thread{'s' if threads > 1 else ''}", fontsize=11)
        labels = [shape(case) for case in group]
        for axes in (speed, ratio):
            axes.set_xticks(range(len(group)), labels, rotation=30 if max(map(len, labels)) > 5 else 0,
                            ha="right" if max(map(len, labels)) > 5 else "center", fontsize=8)
            axes.set_xlim(-0.6, len(group) - 0.4)
            axes.grid(axis="y", color="#dddddd", linewidth=0.6)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(axis="y", labelsize=8)
    grid[0, 0].set_ylabel("effective GFLOP/s (2mnk / time)")
    grid[1, 0].set_ylabel("speed over\nthe best other's")
    square = all(case["m"] == case["n"] == case["k"] for case in cases)
    figure.supxlabel("m = n = k" if square else "m \u00d7 n \u00d7 k (one number: all three)", fontsize=10)
    grid[0, 0].legend(frameon=False, fontsize=9, loc="lower right")
    figure.suptitle(f"Heptad beside the BLAS libraries\n{title}", fontsize=10)
    undated = {"metadata": {"Date": None}} if pathlib.Path(file).suffix == ".svg" else {}
    figure.savefig(file, dpi=130, **undated)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record", type=pathlib.Path, help="the JSON file")
    parser.add_argument("picture", type=pathlib.Path, help="the PNG file to write")
    arguments = parser.parse_args()
    record = json.loads(arguments.record.read_text())
    machine, commit = record["machine"], record["commit"]
    draw(record["cases"], f"{machine.get('cpu', 'unknown processor')}, {machine['cores']} cores, {record['date'][:10]}, "
         f"commit {commit['hash'][:10]}{' + changes' if commit['dirty'] else ''}", arguments.picture)
    print(f"drawn: {arguments.picture}")


if __name__ == "__main__":
    main()
