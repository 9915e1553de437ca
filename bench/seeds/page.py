#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the records of run.sh beside the printed figures and writes the tables of README.md from them."""
import argparse
import csv
import json
import pathlib
import re
import statistics

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Figure 4.2 of the dissertation: rank, practical speed-ups #1 (rank-k) and #2 (near-square) of "ours", in percent.
PRINTED = {
    "2x2x2": (7, 11.9, 13.1), "2x3x2": (11, 5.5, 7.7), "2x3x4": (20, 11.9, 16.3), "2x4x3": (20, 4.8, 14.9),
    "2x5x2": (18, 1.5, 8.6), "3x2x2": (11, 7.1, 7.2), "3x2x3": (15, 14.1, 17.2), "3x2x4": (20, 11.9, 16.1),
    "3x3x2": (15, 11.4, 17.3), "3x3x3": (23, 8.6, 14.4), "3x3x6": (40, -34.0, 24.2), "3x4x2": (20, 4.9, 16.0),
    "3x4x3": (29, 8.4, 18.1), "3x5x3": (36, 5.2, 19.1), "3x6x3": (40, -21.6, 19.5), "4x2x2": (14, 9.4, 11.9),
    "4x2x3": (20, 12.1, 15.9), "4x2x4": (26, 10.4, 18.4), "4x3x2": (20, 11.3, 16.8), "4x3x3": (29, 8.1, 19.8),
    "4x4x2": (26, -4.2, 17.1), "5x2x2": (18, 7.0, 8.2), "6x3x3": (40, -33.4, 24.0)}
WALKED = {"3x3x6": ("sparse336", 42), "3x6x3": ("sparse363", 42), "6x3x3": ("sparse633", 42)}  # fewest by walks
UNIT = {"d": 2.0**-53, "s": 2.0**-24}
MARKERS = {"ABC": "o-", "AB": "s-", "naive": "^-"}


def read(folder, figure):
    lines = (folder / f"figure-{figure}.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    for row in rows:
        for key in ("m", "n", "k"):
            row[key] = int(row[key])
        for key in ("predicted_seconds", "seconds", "gflops", "speedup_percent"):
            row[key] = float(row[key])
    return rows


def name(levels):
    return " + ".join(f"⟨{part.replace('x', ',')}⟩" for part in levels.split("+"))


def cases(rows):
    """Rows by shape, in the order measured."""
    found = {}
    for row in rows:
        found.setdefault((row["m"], row["n"], row["k"]), []).append(row)
    return found


def best_of(rows, levels):
    return max((row for row in rows if row["levels"] == levels), key=lambda row: row["speedup_percent"])


def table_of_4_2(folder):
    rank_k, square = read(folder, "4.2-rank-k"), read(folder, "4.2-square")
    lines = ["| ⟨m̃,k̃,ñ⟩ | rank | theory | rank-k: here | printed | near-square: here | printed |",
             "| --- |" + " --- |" * 6]

    def add(shape, rank, levels, printed):
        m, k, n = map(int, shape.split("x"))
        cells = [name(shape), str(rank), f"{100 * (m * k * n / rank - 1):.1f} %"]
        for rows, print_ in zip((rank_k, square), printed):
            best = best_of(rows, levels)
            cells += [f"{best['speedup_percent']:.1f} % ({best['variant']})", f"{print_:.1f} %" if print_ else ""]
        lines.append("| " + " | ".join(cells) + " |")

    for shape, (rank, *printed) in PRINTED.items():
        add(shape, rank, shape, printed)
        if shape in WALKED:
            levels, more = WALKED[shape]
            add(shape, more, levels, (None, None))
    one = lambda rows: "×".join(str(rows[0][x]) for x in "mnk")
    return f"m×n×k {one(rank_k)} and {one(square)}; in print 14400×14400×480 and 14400×14400×12000.\n\n" + "\n".join(lines)


def speed(row, seconds):
    return 2e-9 * row["m"] * row["n"] * row["k"] / row[seconds]


def draw_4_8(folder, rows):
    found = cases(rows)
    figure, panels = plt.subplots(3, 2, figsize=(10, 10), sharex=True, sharey=True)
    for line, variant in zip(panels, MARKERS):
        for axes, seconds in zip(line, ("seconds", "predicted_seconds")):
            for levels in dict.fromkeys(row["levels"] for row in rows):
                points = [row for case in found.values() for row in case
                          if row["levels"] == levels and row["variant"] in (variant, "")]
                axes.plot([row["k"] for row in points], [speed(row, seconds) for row in points],
                          "k--" if levels == "classical" else "o-", markersize=4, label=levels)
            axes.set_title(f"{variant}, {'measured' if seconds == 'seconds' else 'predicted'}")
            axes.grid(alpha=0.25)
            axes.set_ylabel("effective GFLOP/s")
    for axes in panels[-1]:
        axes.set_xlabel(f"k (m = n = {rows[0]['m']})")
    panels[0, 0].legend(fontsize=7)
    save(figure, folder, "figure-4.8")


def label(shape):
    return "×".join(map(str, shape))


def draw_bars(folder, rows, figure_name, title):
    found = cases(rows)
    figure, panels = plt.subplots(1, 2, figsize=(12, 4.5), sharey=True)
    for axes, seconds in zip(panels, ("seconds", "predicted_seconds")):
        for levels in dict.fromkeys(row["levels"] for row in rows):
            points = [(i, row) for i, case in enumerate(found.values()) for row in case if row["levels"] == levels]
            style = {"classical": "k_--", "chosen": "r*-"}.get(levels, "o:" if "+" in levels else "s-")
            axes.plot([i for i, _ in points], [speed(row, seconds) for _, row in points], style, markersize=4,
                      linewidth=0.8, label=levels)
        axes.set_xticks(range(len(found)), [label(shape) for shape in found], rotation=60, ha="right", fontsize=7)
        axes.set_title(f"{title}, {'measured' if seconds == 'seconds' else 'predicted'}")
        axes.grid(alpha=0.25)
    panels[0].set_ylabel("effective GFLOP/s")
    panels[1].legend(fontsize=6)
    save(figure, folder, f"figure-{figure_name}")


def figures_of_model(rows):
    off = sorted(abs(row["predicted_seconds"] / row["seconds"] - 1) for row in rows)
    return f"{100 * statistics.median(off):.1f} % in the median and {100 * off[int(0.9 * len(off))]:.1f} % at the 90th percentile"


def table_of_4_10(rows):
    lines = ["| m×n×k | fastest of the list | the model's two best, measured | Heptad's own plan |", "| --- |" + " --- |" * 3]
    for shape, case in cases(rows).items():
        list_ = [row for row in case if row["levels"] != "chosen"]
        chosen = next(row for row in case if row["levels"] == "chosen")
        fastest = min(list_, key=lambda row: row["seconds"])
        two = min(sorted(list_, key=lambda row: row["predicted_seconds"])[:2], key=lambda row: row["seconds"])
        words = lambda row: row["levels"] if row["levels"] == "classical" else name(row["levels"])
        lines.append(f"| {label(shape)} | {words(fastest)} {fastest['gflops']:.1f} | {words(two)} {two['gflops']:.1f} | "
                     f"{chosen['gflops']:.1f} |")
    return "\n".join(lines)


def table_of_4_11(rows):
    found = cases(rows)
    lines = ["| levels | " + " | ".join(label(shape) for shape in found) + " |", "| --- |" + " --- |" * len(found)]
    for levels in dict.fromkeys(row["levels"] for row in rows):
        cells = [f"{next(row for row in case if row['levels'] == levels)['gflops']:.1f}" for case in found.values()]
        lines.append(f"| {levels if levels == 'classical' else name(levels)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def printed_bound(n, levels):
    """(E.1) of the dissertation: of the max norm, in units of u ‖A‖ ‖B‖."""
    inner = n / 2**levels
    return n * n if levels == 0 else 12**levels * (inner**2 + 5 * inner) - 5 * n


def table_of_e_1(record):
    rows = [r for r in record["rows"] if r["data"] == "uniform" and r["algorithm"] in ("strassen", "classical")]
    lines = ["| type | n | levels | largest error / u | mean error / u | bound (E.1) | Heptad's bound | likely |",
             "| --- |" + " --- |" * 7]
    for r in rows:
        u, n = UNIT[r["type"]], r["n"]
        printed = printed_bound(n, r["levels"])
        lines.append(f"| {'double' if r['type'] == 'd' else 'single'} | {n} | {r['levels']} | {r['max_error'] / u:.0f} | "
                     f"{r['mean_error'] / u:.0f} | {printed:.2g} | {r['bound'] / u:.2g} | {r['likely_bound'] / u:.2g} |")
    return "\n".join(lines)


def draw_e_2(folder, record):
    figure, panels = plt.subplots(1, 2, figsize=(12, 4))
    for axes, type_ in zip(panels, "ds"):
        rows = [r for r in record["rows"] if r["data"] == "uniform" and r["type"] == type_]
        n = max(r["n"] for r in rows)
        rows = [r for r in rows if r["n"] == n]
        names = sorted({r["algorithm"] for r in rows if r["levels"] > 0})
        for levels in (1, 2):
            points = {r["algorithm"]: r["max_error"] for r in rows if r["levels"] == levels}
            axes.semilogy([names.index(x) for x in points], list(points.values()), "o" if levels == 1 else "s",
                          label=f"{levels} level{'s' if levels > 1 else ''}")
        axes.axhline(next(r["max_error"] for r in rows if r["levels"] == 0), color="k", linestyle="--", label="classical")
        axes.set_xticks(range(len(names)), names, rotation=70, ha="right", fontsize=7)
        axes.set_title(f"{'double' if type_ == 'd' else 'single'}, n = {n}: largest error, uniform in [−1, 1)")
        axes.grid(axis="y", which="both", alpha=0.25)
    panels[0].legend(fontsize=7)
    save(figure, folder, "figure-E.2")


def save(figure, folder, file_name):
    figure.tight_layout()
    figure.savefig(folder / f"{file_name}.svg")
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path)
    given = parser.parse_args()
    one, two, hybrid = read(given.folder, "4.8"), read(given.folder, "4.9"), read(given.folder, "4.11")
    record = json.loads((given.folder / "accuracy.json").read_text())
    draw_4_8(given.folder, one)
    draw_bars(given.folder, two, "4.9", "One and two levels, ABC")
    draw_bars(given.folder, hybrid, "4.11", "Hybrid partitions, ABC")
    draw_e_2(given.folder, record)
    tables = {"4.2": table_of_4_2(given.folder), "4.8": f"Predicted times are off by {figures_of_model(one)} here, "
              f"by {figures_of_model(two)} for figure 4.9.", "4.10": table_of_4_10(two), "4.11": table_of_4_11(hybrid),
              "E.1": table_of_e_1(record)}
    page = given.page.read_text()
    for key, text in tables.items():
        mark = re.escape(f"<!-- {key} -->")
        page = re.sub(f"{mark}.*?<!-- end -->", lambda _: f"<!-- {key} -->\n{text}\n<!-- end -->", page, flags=re.S)
    given.page.write_text(page)


if __name__ == "__main__":
    main()
