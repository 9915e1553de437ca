#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# run.sh BUILD FOLDER [SIZE]: measures all figures of README.md into FOLDER as CSV and JSON (quarter of an hour on an
# idle machine), and draws them. SIZE: m = n of the largest case, 3600 by default; in print it is 14400.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
build=$1 folder=$2 size=${3:-3600}
mkdir -p "$folder"
measure() { "$build/bench/bench_seeds" "$1" --size "$2" --rounds "$3" | tee "$folder/figure-$1.csv"; }
measure 4.2-rank-k $((2 * size)) 2
measure 4.2-square "$size" 1
measure 4.8 "$size" 2
measure 4.9 "$size" 2
measure 4.11 $((2 * size)) 2
"$build/tools/heptad" bench accuracy --sizes 512,1024 --levels 2 --json "$folder/accuracy.json"
python3 "$here/page.py" "$folder" "$here/README.md"
