#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# run.sh BUILD FOLDER [SIZE]: measures all figures of README.md into FOLDER as CSV and JSON (half an hour on an
# idle machine), and draws them. What is in FOLDER already is kept: a run that was ended goes on from there.
# SIZE: m = n of the largest case, 3600 by default; in print it is 14400.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
build=$1 folder=$2 size=${3:-3600}
mkdir -p "$folder"
cmake --build "$build" --target bench_seeds heptad_program
measure() { # figure, size, rounds
  local file=$folder/figure-$1.csv
  [[ -e $file ]] && return
  "$build/bench/bench_seeds" "$1" --size "$2" --rounds "$3" | tee "$file.part"
  mv "$file.part" "$file"
}
measure 4.2-rank-k $((2 * size)) 2
measure 4.2-square "$size" 3
measure 4.8 "$size" 2
measure 4.9 "$size" 2
measure 4.11 $((2 * size)) 3
if [[ ! -e $folder/accuracy.json ]]; then
  "$build/tools/heptad" bench accuracy --sizes 512,1024 --levels 2 --json "$folder/accuracy.json"
fi
# Debian's python is the one that finds Debian's matplotlib.
/usr/bin/python3 "$here/page.py" "$folder" "$here/README.md"
