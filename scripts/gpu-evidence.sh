#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests and measures Heptad on the CUDA device of this machine, and writes what was seen to
# bench/results/gpu/<date>-<device>-<commit>/. Figures about GPUs in the documents come from such a folder alone.
#   gpu-evidence.sh                  builds here, then runs
#   gpu-evidence.sh --binaries DIR   runs the $programs of DIR, built elsewhere from commit $COMMIT
set -euo pipefail
cd "$(dirname "$0")/.."

programs=(test_gpu heptad_gpu_bench heptad_gpu_host_bench heptad_hybrid_bench heptad)
binaries=
if [[ ${1:-} == --binaries && -n ${2:-} ]]; then
  binaries=$2
elif (($# > 0)); then
  echo "usage: $0 [--binaries DIR]" >&2
  exit 2
fi
device=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 | tr ' A-Z' '-a-z') || true
if [[ -z $device ]]; then
  echo "no CUDA device: nothing to measure" >&2
  exit 77
fi
commit=${COMMIT:-$(git rev-parse --short=10 HEAD)}
if [[ -z $binaries ]]; then
  cmake --preset release -DHEPTAD_WITH_CUDA=ON
  cmake --build --preset release -j "$(nproc)" --target test_gpu heptad_gpu_bench heptad_gpu_host_bench heptad_hybrid_bench heptad_program
  binaries=$PWD/build/gpu-evidence
  mkdir -p "$binaries"
  cp build/release/tests/gpu/test_gpu build/release/bench/gpu/heptad_{gpu,gpu_host,hybrid}_bench build/release/tools/heptad "$binaries"
fi
out=${OUT:-bench/results/gpu}/$(date -u +%F)-$device-$commit
mkdir -p "$out"

{
  echo "date $(date -u +%FT%TZ)"
  echo "commit $commit"
  nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,power.limit,memory.total,ecc.mode.current --format=csv
  nvcc --version 2>/dev/null | tail -2 || true
  uname -srm
  (cd "$binaries" && sha256sum "${programs[@]}")
} >"$out/environment.txt"

failed=0
run() { # log, command...
  local log=$1
  shift
  echo "== $*"
  "$@" >"$out/$log" 2>&1 || { failed=1; echo "FAILED: see $out/$log"; }
  tail -3 "$out/$log"
}
run tests.txt "$binaries/test_gpu"
if command -v compute-sanitizer >/dev/null; then
  some="every generated kernel*,a failed call*,vectors*,blocks of a host product*,fused levels*,small fused*"
  run memcheck.txt compute-sanitizer --tool memcheck --error-exitcode 1 "$binaries/test_gpu" "$some"
  run racecheck.txt compute-sanitizer --tool racecheck --error-exitcode 1 "$binaries/test_gpu" "every generated kernel*,small fused*"
fi

# The benches plan with the rates of this device.
export HEPTAD_PROFILE_DIR=$out
run calibrate.txt "$binaries/heptad" calibrate --device cuda

bench() { # types, sizes, rounds, further arguments...
  echo "== sizes $2"
  "$binaries/heptad_gpu_bench" --types "$1" --sizes "$2" --rounds "$3" "${@:4}" >>"$out/gemm.jsonl" 2>>"$out/gemm.txt"
}
: >"$out/gemm.jsonl"
: >"$out/gemm.txt"
bench ds 1024,1536,2048,3001,3072,4096,6144,8192 15
bench ds 16384 7
bench ds 32768 3
bench ds 4096,8192,16384 7 --beta 1
# TF32 runs at the limit of the device's power, where what came before decides the clock: each by itself for a while.
nvidia-smi --query-gpu=timestamp,clocks.sm,power.draw.instant,clocks_event_reasons.active --format=csv -lms 100 >"$out/power.txt" &
watch=$!
date -u +"%FT%T.%3N TF32, n = 8192, cuBLAS and one level of Winograd in turn" >"$out/power-times.txt"
bench t 8192 5 --seconds 0.4 --variants auto --variants 1 --variants 2 --variants 2b
date -u +"%FT%T.%3N other sizes" >>"$out/power-times.txt"
bench t 4096,16384,32768 5 --seconds 0.4 --variants auto --variants 1 --variants 2 --variants 2b
kill "$watch"
for n in 2048 4096 8192 16384; do
  bench ds $n 7 --variants 1f --variants 1f@atomic --variants 1f@streams --variants 1/1f
done
bench s 4096,8192,16384 7 --max-workspace 0
bench s 4096,8192,16384 7 --max-workspace 1048576
# What is planned beside what else there is.
all=(--variants auto --variants 1 --variants 1b --variants 2 --variants 2b --variants 3b --variants 1/1b --variants 1/2b --variants 1/3b)
bench ds 2048,4096,8192 7 "${all[@]}" --variants strassen:2b
bench ds 16384 3 "${all[@]}" --variants 1/1/2b --variants 1/1/3b

host() { # types, sizes, rounds, further arguments...
  echo "== host memory, sizes $2"
  "$binaries/heptad_gpu_host_bench" --types "$1" --sizes "$2" --rounds "$3" "${@:4}" >>"$out/host.jsonl" 2>>"$out/host.txt"
}
: >"$out/host.jsonl"
: >"$out/host.txt"
host ds 4096,8192,16384 5 --peers copy,xt2048,xt4096
host d 8192,16384 3 --peers copy,xt4096 --pageable --copy-threads 1
host d 8192,16384 3 --peers copy,xt4096 --pageable --copy-threads 8
host d 32768 3 --peers copy,xt4096 --caps 0,8192

# CPU and devices together: with the rates of this CPU too.
run calibrate-cpu.txt "$binaries/heptad" calibrate
hybrid() { # types, sizes, rounds, further arguments...
  echo "== CPU and devices, sizes $2"
  "$binaries/heptad_hybrid_bench" --types "$1" --sizes "$2" --rounds "$3" --longest 2 "${@:4}" >>"$out/hybrid.jsonl" 2>>"$out/hybrid.txt"
}
: >"$out/hybrid.jsonl"
: >"$out/hybrid.txt"
# The CPU by itself: a device that has rested meanwhile is faster than one that has not.
hybrid ds 8192,16384 9 --warm-up 7 --variants device,h1,h2,h3
hybrid ds 8192,16384 1 --variants cpu
hybrid ds 32768 3 --variants device,h1
hybrid d 8192,16384 3 --pageable --copy-threads 8 --variants device,h1
echo "written: $out"
exit "$failed"
