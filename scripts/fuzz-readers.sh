#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The readers of .npy files, algorithm files, profiles and variables under libFuzzer, with the address and undefined
# behaviour sanitizers: fuzz-readers.sh [SECONDS], a minute for each unless said. Needs clang-16 and libclang-rt-16-dev (14 does not know the ranges of GCC 12's library).
# What ends a reader goes to tests/fuzz/inputs, where the tests run it from then on; what it learned stays in
# build/libfuzzer/corpus for the next time. Prints a record for bench/results.
set -euo pipefail
seconds=${1:-60}
cd "$(dirname "$0")/.."
cmake --preset libfuzzer >/dev/null
cmake --build --preset libfuzzer -j "$(nproc)" >/dev/null

echo "date: $(date -u +%Y-%m-%dT%H:%MZ)"
echo "commit: $(git rev-parse HEAD)$(git diff --quiet HEAD || echo ' with changes')"
echo "machine: $(sed -n 's/^model name\t*: //p' /proc/cpuinfo | head -1), $(nproc) cores"
echo "compiler: $(clang++-16 --version | head -1)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
for reader in npy algorithm profile environment; do
  corpus=build/libfuzzer/corpus/$reader inputs=tests/fuzz/inputs/$reader
  mkdir -p "$corpus"
  if ! "build/libfuzzer/tests/fuzz/fuzz_$reader" "$corpus" "$inputs" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=4096 -artifact_prefix="$inputs/" -print_final_stats=1 >"$log" 2>&1; then
    failed=1
    tail -40 "$log"
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  covered=$(grep -oE 'cov: [0-9]+' "$log" | tail -1)
  echo "$reader: ${runs:-no} inputs in $seconds s, $covered, $(find "$corpus" -type f | wc -l) kept"
done
exit "$failed"
