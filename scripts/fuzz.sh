#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Random calls of the C interface and of the drop-in beside the reference BLAS: fuzz.sh BUILD [CALLS] [SEED], a million
# unless said. A third each runs without levels, with one and with two, from four threads; then a tenth as many come from
# 64 threads at once. Prints a record for bench/results, and fails at the first call whose result is wrong.
set -euo pipefail
build=$(realpath "${1:?usage: $0 BUILD [CALLS] [SEED]}")
calls=${2:-1000000} seed=${3:-1}
cd "$(dirname "$0")/.."
export HEPTAD_BLAS_MIN_SIZE=0 HEPTAD_NUM_THREADS=2

echo "date: $(date -u +%Y-%m-%dT%H:%MZ)"
echo "commit: $(git rev-parse HEAD)$(git diff --quiet HEAD || echo ' with changes')"
echo "machine: $(sed -n 's/^model name\t*: //p' /proc/cpuinfo | head -1), $(nproc) cores"
echo "reference: $(dpkg-query -W -f '${Package} ${Version}' libblas3 2>/dev/null || echo unknown)"
first=0
run() { # levels, calls, options...
  local levels=$1 count=$2 start=$SECONDS
  shift 2
  echo
  echo "HEPTAD_FORCE_LEVELS=$levels fuzz_calls --calls $count --first $first --seed $seed $*"
  HEPTAD_FORCE_LEVELS=$levels "$build/tests/fuzz/fuzz_calls" --calls "$count" --first "$first" --seed "$seed" "$@"
  echo "passed in $((SECONDS - start)) s"
  first=$((first + count))
}
for levels in 0 1 2; do run "$levels" $(((calls + 2) / 3)) --threads 4; done
for levels in 1 2; do run "$levels" $((calls / 20)) --threads 64; done
