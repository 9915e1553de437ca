#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and passes all tests: the format of the sources, and release with warnings as errors; what is for CUDA devices
# for one architecture, that of the device here or 90. --all: for every one, and the benchmarks built; then once more
# under the address, undefined behaviour and thread sanitizers, and on the StarPU 1.4 of scripts/build-starpu.sh beside
# Debian's 1.3.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=(release)
case ${1:-} in
  "") ;;
  --all) presets+=(asan tsan) ;;
  *)
    echo "usage: $0 [--all]" >&2
    exit 2
    ;;
esac

jobs=$(nproc)
launcher=()
summary=()
failures=() # a file of results for each run of tests that did not pass
failed=0
step() { # name, command...
  local name=$1 start=$SECONDS verdict=passed
  shift
  echo
  echo "== $name"
  if ! "$@"; then
    verdict=FAILED
    failed=1
  fi
  summary+=("$(printf '%-34s %s  %4d s' "$name" "$verdict" $((SECONDS - start)))")
}

build() {
  local preset=$1
  shift
  cmake --preset "$preset" "${launcher[@]}" "$architectures" && cmake --build --preset "$preset" -j "$jobs" "$@"
}

run_tests() { # build folder, ctest's arguments...
  local folder=$1 status=0
  shift
  rm -f "$folder/tests.xml"
  ctest "$@" -j "$jobs" --no-tests=error --output-junit tests.xml || status=$?
  if ((status != 0)) && [[ -f $folder/tests.xml ]]; then # there is none where no test could begin
    failures+=("$folder/tests.xml")
  fi
  return "$status"
}

formatted() {
  git ls-files '*.c' '*.h' '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs clang-format-14 --dry-run -Werror &&
    echo "every source is formatted"
}

./scripts/install-deps.sh
if command -v ccache >/dev/null; then
  # The builds inside tests find here what the first one has compiled: by absolute paths, as they are deeper folders.
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

# The oldest of the devices here: its kernels are also there for newer ones to translate.
architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -V | head -1 | tr -d .) || true
one_architecture=-DCMAKE_CUDA_ARCHITECTURES=${architecture:-90}
if [[ ${1:-} == --all ]]; then architectures=-UCMAKE_CUDA_ARCHITECTURES; else architectures=$one_architecture; fi

step "format" formatted
for preset in "${presets[@]}"; do
  only=() tests=()
  if [[ $preset == release && ${1:-} == --all ]]; then
    only=(--target all heptad_benchmarks)
  fi
  if [[ $preset == tsan ]]; then # where there are threads
    only=(--target test_schedulers test_api test_cuda_host test_hybrid cuda_host_planted_faults)
    tests=(-L '^(schedulers|api|cuda-host)$')
  fi
  step "$preset: build without a warning" build "$preset" "${only[@]}"
  step "$preset: tests" run_tests "build/$preset" --preset "$preset" "${tests[@]}"
done

# StarPU 1.4, with CUDA where there is its compiler: then the tests of StarPU's CUDA workers are built too, and skip
# themselves where there is no device. The first time takes minutes more; the prefix is kept.
other_starpu() { # prefix, ON or OFF for CUDA, targets...
  local prefix=$1 cuda=$2
  shift 2
  cmake -S . -B build/starpu-1.4 -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEPTAD_WARNINGS_AS_ERRORS=ON -DHEPTAD_BUILD_BENCH=OFF \
    -DHEPTAD_WITH_CUDA="$cuda" -DHEPTAD_STARPU_PREFIX="$prefix" "${launcher[@]}" "$one_architecture" &&
    cmake --build build/starpu-1.4 -j "$jobs" --target "$@" &&
    run_tests build/starpu-1.4 --test-dir build/starpu-1.4 --output-on-failure -L '^(starpu|gpu)$' -E '^examples/'
}
if [[ ${1:-} == --all ]]; then
  start=$SECONDS answer=0
  if command -v nvcc >/dev/null; then
    nvcc=$(readlink -f "$(command -v nvcc)")
    prefix=$(CUDA_HOME=${CUDA_HOME:-${nvcc%/bin/nvcc}} ./scripts/build-starpu.sh --cuda) || answer=$?
    other=(ON test_starpu test_gpu_starpu)
  else
    prefix=$(./scripts/build-starpu.sh) || answer=$?
    other=(OFF test_starpu)
  fi
  if ((answer == 0)); then
    summary+=("$(printf '%-34s built   %4d s' "StarPU $(<"$prefix/version")" $((SECONDS - start)))")
    step "StarPU 1.4, CUDA ${other[0]}: tests" other_starpu "$prefix" "${other[@]}"
  elif ((answer == 3)); then
    summary+=("skipped StarPU 1.4: its sources could not be fetched")
  else
    summary+=("StarPU 1.4                         FAILED")
    failed=1
  fi
fi

# What failed stands among thousands of lines above: here it is once more, by the summary.
for results in "${failures[@]}"; do
  python3 - "$results" <<'END'
import sys
import xml.etree.ElementTree

for test in xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"):
    skipped = test.find("skipped")  # by itself, or for want of its program
    if test.get("status") == "fail" or (skipped is not None and not skipped.get("message").startswith("SKIP_")):
        output = test.findtext("system-out", "").splitlines()
        print("", f"== failed: {test.get('name')} ({sys.argv[1]})", *output[-30:], sep="\n")
END
done

echo
echo "== summary"
printf '%s\n' "${summary[@]}"
exit "$failed"
