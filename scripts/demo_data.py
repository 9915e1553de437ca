#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Patch matching, the heart of non-local denoising and texture synthesis (Buades, Coll & Morel 2005), as one product.

patches DIR   cuts the photograph that ships with matplotlib (grace_hopper.jpg, U.S. Navy, public domain) into 4096
              overlapping patches of 32 x 32 pixels x 3 colours. Every patch, freed of its mean colour and scaled to
              length 1, is a row of A (4096 x 3072) and a column of B. So C = A B holds the correlation of every pair,
              in [-1, 1].
matches DIR   reads C and names the most similar patches that have contrast and do not overlap; draws them.
"""
import argparse
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.cbook
import matplotlib.patheffects
import matplotlib.pyplot as plt
import numpy as np

SIDE = 32  # pixels
GRID = 64  # patches along each direction


def photograph():
    with matplotlib.cbook.get_sample_data("grace_hopper.jpg") as file:
        return plt.imread(file, format="jpg")


def corners(image):
    """Top left corners of the patches, row by row: 4096 x 2."""
    ys = np.linspace(0, image.shape[0] - SIDE, GRID).round().astype(int)
    xs = np.linspace(0, image.shape[1] - SIDE, GRID).round().astype(int)
    return np.array([(y, x) for y in ys for x in xs])


def patches(image, places):
    """A row a patch, freed of its mean colour: 4096 x 3072."""
    cut = np.array([image[y : y + SIDE, x : x + SIDE] for y, x in places], dtype=np.float64)
    cut -= cut.mean(axis=(1, 2), keepdims=True)
    return cut.reshape(len(places), -1)


def write_patches(folder):
    image = photograph()
    places = corners(image)
    print(f"grace_hopper.jpg, {image.shape[1]} x {image.shape[0]} pixels: {len(places)} patches of {SIDE} x {SIDE} x 3")
    A = patches(image, places)
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    np.save(folder / "A.npy", A)
    np.save(folder / "B.npy", np.ascontiguousarray(A.T))
    print(f"A.npy {A.shape[0]} x {A.shape[1]}, B.npy {A.shape[1]} x {A.shape[0]}: row i of A is patch i, B is A transposed")


def best_matches(C, places, contrast, count):
    """The most similar pairs of patches with more contrast than most: no patch overlaps another, also of other pairs."""
    step = np.abs(places[:, None, :] - places[None, :, :])
    similarity = np.where((step >= SIDE).any(axis=2), C, -np.inf)
    free = contrast > np.median(contrast)
    pairs = []
    for _ in range(count):
        i, j = np.unravel_index(np.argmax(np.where(free[:, None] & free[None, :], similarity, -np.inf)), C.shape)
        pairs.append((min(i, j), max(i, j)))
        for patch in (i, j):
            free &= (step[patch] >= SIDE).any(axis=1)
    return pairs


def draw_matches(image, matches, file):
    """Every match in a colour of its own, edged with white to be seen on any ground."""
    edge = [matplotlib.patheffects.withStroke(linewidth=4, foreground="white")]
    figure, axes = plt.subplots(figsize=(7, 8), layout="constrained")
    axes.imshow(image)
    for colour, (first, second, correlation) in zip(plt.get_cmap("tab10").colors, matches):
        for y, x in (first, second):
            axes.add_patch(plt.Rectangle((x, y), SIDE, SIDE, fill=False, edgecolor=colour, linewidth=2,
                                         path_effects=edge))
        (y0, x0), (y1, x1) = first + SIDE / 2, second + SIDE / 2
        axes.plot([x0, x1], [y0, y1], color=colour, linewidth=1.5, path_effects=edge)
        axes.annotate(f"{correlation:.3f}", ((x0 + x1) / 2, (y0 + y1) / 2), color=colour, fontsize=10, ha="center",
                      va="center", weight="bold", bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": colour})
    axes.set_title(f"Most similar patches of {SIDE} x {SIDE} pixels that do not overlap, and their correlation")
    axes.axis("off")
    figure.savefig(file, dpi=120)


def report_matches(folder):
    image = photograph()
    places = corners(image)
    C = np.load(folder / "C.npy")
    print(f"every patch with itself: correlation 1 to within {np.abs(np.diag(C) - 1).max():.1e}")
    print(f"C is symmetric to within {np.abs(C - C.T).max():.1e}")
    contrast = np.linalg.norm(patches(image, places), axis=1)
    pairs = best_matches(C, places, contrast, 8)
    draw_matches(image, [(places[i], places[j], C[i, j]) for i, j in pairs], folder / "matches.png")
    for i, j in pairs:
        print(f"patch at x={places[i][1]:3}, y={places[i][0]:3} looks most like x={places[j][1]:3}, "
              f"y={places[j][0]:3}: correlation {C[i, j]:.4f}")
    print(f"drawn: {folder / 'matches.png'}")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("what", choices=["patches", "matches"])
parser.add_argument("folder", type=pathlib.Path)
arguments = parser.parse_args()
{"patches": write_patches, "matches": report_matches}[arguments.what](arguments.folder)
