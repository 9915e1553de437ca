#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The main job on real input: compares every patch of a photograph with every other one by one large product, checks
# it against the classical product, then measures Heptad beside the BLAS libraries of this machine.
# Leaves the matrices, the record (JSON) and two pictures (PNG) in demo-output/.
set -euo pipefail
cd "$(dirname "$0")/.."
out=demo-output
heptad=build/release/tools/heptad
python=/usr/bin/python3 # Debian's own: it is the one that finds Debian's numpy and matplotlib
export PYTHONUNBUFFERED=1 # shows what it does while it does it, also through a pipe

say() { printf '\n== %s\n' "$*"; }

say "dependencies"
./scripts/install-deps.sh

say "building Heptad (release)"
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake --preset release "${launcher[@]}"
cmake --build --preset release --target heptad_program -j "$(nproc)"
mkdir -p "$out"

say "the data: a photograph, cut into overlapping patches"
"$python" scripts/demo_data.py patches "$out"

say "the product: heptad gemm A.npy B.npy -o C.npy --check"
echo "multiplying, and once more by the classical algorithm to compare (some seconds)"
"$heptad" gemm "$out/A.npy" "$out/B.npy" -o "$out/C.npy" --check

say "what it says about the photograph"
"$python" scripts/demo_data.py matches "$out"

say "side by side with the BLAS libraries of this machine (one to two minutes)"
threads=1
if (($(nproc) > 1)); then threads=1,$(nproc); fi
"$heptad" bench gemm --sizes 1024,2048,4096 --type d,s --threads "$threads" --json "$out/bench.json"
"$python" scripts/plot_bench.py "$out/bench.json" "$out/bench.png"

say "done: $out/ holds"
ls -sh "$out"
