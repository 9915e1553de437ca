#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws a record of `heptad bench accuracy --json`: the growth of the error by algorithm and level beside the model and
the proved bound, errors by size, and what scaling does. Writes one SVG each into a folder."""
import argparse
import json
import math
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib import ticker

TYPES = {"d": "double", "s": "single"}
SCALINGS = ["none", "outside", "inside", "both"]
UNIT = {"d": 2.0**-53, "s": 2.0**-24}
CLASSICAL = "#555555"


def select(rows, **wanted):
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def names_of(rows):
    return sorted({row["algorithm"] for row in rows if row["levels"] > 0})


def colours(names):
    palette = plt.get_cmap("tab20")
    return {name: palette(i % 20) for i, name in enumerate(names)}


def plain_logarithmic(axis, at):
    """Numbers as they are read, 20 and not 2 × 10¹."""
    axis.set_major_locator(at)
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(ticker.NullLocator())


def sizes_below(axes, sizes):
    axes.set_xscale("log", base=2)
    plain_logarithmic(axes.xaxis, ticker.FixedLocator(sizes))
    axes.set_xlabel("n")


def legend_below(figure, axes, **options):
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=len(labels), fontsize=8, frameon=False, **options)


def save(figure, folder, name):
    figure.savefig(folder / name)
    plt.close(figure)


def draw_growth(rows, folder):
    """Measured growth of every algorithm, type and size as points, the model's as a bar."""
    uniform = select(rows, data="uniform")
    names = names_of(uniform)
    levels = sorted({row["levels"] for row in uniform if row["levels"] > 0})
    figure, panels = plt.subplots(len(levels), 1, figsize=(max(7, 0.42 * len(names) + 2), 2.6 * len(levels)),
                                  sharex=True, squeeze=False)
    for axes, level in zip(panels[:, 0], levels):
        for i, name in enumerate(names):
            found = select(uniform, algorithm=name, levels=level)
            if not found:
                continue
            axes.plot([i - 0.3, i + 0.3], 2 * [found[0]["expected_growth"]], color="#c0392b", linewidth=2.5)
            for type_, marker in (("d", "o"), ("s", "^")):
                points = [row["growth"] for row in found if row["type"] == type_]
                axes.plot([i] * len(points), points, marker, color="#2c6fbb", markersize=4, alpha=0.7)
        axes.set_yscale("log")
        plain_logarithmic(axes.yaxis, ticker.LogLocator(subs=(1, 2, 5)))
        axes.set_ylabel(f"{level} level{'s' if level > 1 else ''}")
        axes.grid(axis="y", which="both", alpha=0.25)
    panels[-1, 0].set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=8)
    panels[0, 0].set_title("Error over that of the classical product, uniform ±\n"
                           "points: measured (o double, ^ single; every size), bars: expected", fontsize=10)
    figure.tight_layout()
    save(figure, folder, "growth.svg")


def draw_bounds(rows, folder, algorithm, data="uniform"):
    """Errors by size in units of u |A| |B|: measured, expected, the likely and the proved bound."""
    figure, panels = plt.subplots(1, 2, figsize=(9.5, 4.2), sharey=True)
    for axes, type_ in zip(panels, "ds"):
        some = select(rows, data=data, type=type_)
        for level in sorted({row["levels"] for row in some}):
            line = [row for row in some if row["levels"] == level and row["algorithm"] in (algorithm, "classical")]
            line.sort(key=lambda row: row["n"])
            sizes = [row["n"] for row in line]
            colour = plt.get_cmap("viridis")(0.2 * level)
            classical = {row["n"]: row["max_error"] for row in select(some, levels=0)}
            label = "classical" if level == 0 else f"{level} level{'s' if level > 1 else ''}"
            axes.plot(sizes, [row["max_error"] / UNIT[type_] for row in line], "o-", color=colour, label=label)
            axes.plot(sizes, [classical[row["n"]] * row["expected_growth"] / UNIT[type_] for row in line], ":",
                      color=colour)
            axes.plot(sizes, [row["likely_bound"] / UNIT[type_] for row in line], "-.", color=colour)
            axes.plot(sizes, [row["bound"] / UNIT[type_] for row in line], "--", color=colour)
        sizes_below(axes, sizes)
        axes.set_yscale("log")
        axes.set_title(f"{algorithm}, {TYPES[type_]}, {data}", fontsize=10)
        axes.grid(alpha=0.25)
    panels[0].set_ylabel("largest error / u")
    legend_below(figure, panels[0], title_fontsize=8,
                 title="points: measured, dotted: expected, dash-dotted: likely bound, dashed: proved")
    save(figure, folder, f"bounds-{algorithm}.svg")


def draw_scaling(rows, folder):
    """Errors relative to Σ |a b| of each element, for badly scaled data."""
    figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.6), sharey=True)
    titles = {"rows": "rows of A, columns of B × 10^±6", "inner": "columns of A, rows of B × 10^±4"}
    for axes, data in zip(panels, titles):
        some = select(rows, data=data, type="d")
        sizes = sorted({row["n"] for row in some})
        for at, (scaling, levels) in enumerate([(0, 0)] + [(i, 2) for i in range(4)]):
            line = [next((row["relative_error"] for row in some
                          if row["n"] == n and row["levels"] == levels and row["scaling"] == scaling), math.nan)
                    for n in sizes]
            label = "classical" if levels == 0 else f"2 levels, {SCALINGS[scaling]}"
            style = {} if scaling in (0, 3) else {"linestyle": "--", "markerfacecolor": "white"}  # equal lines show both
            axes.plot(sizes, line, marker="o", label=label, **style,
                      color=CLASSICAL if levels == 0 else plt.get_cmap("tab10")(at))
        sizes_below(axes, sizes)
        axes.set_yscale("log")
        axes.set_title(titles[data], fontsize=10)
        axes.grid(alpha=0.25)
    panels[0].set_ylabel("largest error / Σ |a b|")
    legend_below(figure, panels[0])
    save(figure, folder, "scaling.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = json.loads(arguments.record.read_text())["rows"]
    arguments.folder.mkdir(parents=True, exist_ok=True)
    matplotlib.rcParams["svg.hashsalt"] = "heptad"  # the same file from the same record
    draw_growth(rows, arguments.folder)
    draw_bounds(rows, arguments.folder, "winograd")
    draw_bounds(rows, arguments.folder, "strassen")
    draw_scaling(rows, arguments.folder)


if __name__ == "__main__":
    main()
