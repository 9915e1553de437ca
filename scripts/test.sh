#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and passes all tests: release with warnings as errors, the format of the sources, then the address, undefined
# behaviour and thread sanitizers. Where scripts/build-starpu.sh has left a StarPU 1.4, with CUDA or without, the tests
# on StarPU are built and run with that one too. --quick leaves all but the release out.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=(release asan tsan)
case ${1:-} in
  "") ;;
  --quick) presets=(release) ;;
  *)
    echo "usage: $0 [--quick]" >&2
    exit 2
    ;;
esac

jobs=$(nproc)
launcher=()
summary=()
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
  cmake --preset "$preset" "${launcher[@]}" && cmake --build --preset "$preset" -j "$jobs" "$@"
}

formatted() {
  git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format-14 --dry-run -Werror &&
    echo "every source is formatted"
}

./scripts/install-deps.sh
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

step "format" formatted
for preset in "${presets[@]}"; do
  only=() tests=()
  if [[ $preset == tsan ]]; then # where there are threads
    only=(--target test_schedulers test_api test_cuda_host test_hybrid cuda_host_planted_faults)
    tests=(-L '^(schedulers|api|cuda-host)$')
  fi
  step "$preset: build without a warning" build "$preset" "${only[@]}"
  step "$preset: tests" ctest --preset "$preset" -j "$jobs" --no-tests=error "${tests[@]}"
done

# With CUDA's StarPU and a CUDA compiler the tests of StarPU's CUDA workers are built too; without a device they skip.
starpu_cache=${STARPU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/heptad/starpu}
for kind in plain cuda; do
  if [[ ${1:-} == --quick ]]; then continue; fi
  if [[ ! -f $starpu_cache/$kind/recipe ]]; then
    summary+=("skipped StarPU 1.4 ($kind): scripts/build-starpu.sh has not built it")
    continue
  fi
  targets=(test_starpu) cuda=OFF
  if [[ $kind == cuda ]] && command -v nvcc >/dev/null; then targets+=(test_gpu_starpu) cuda=ON; fi
  other_starpu() {
    cmake -S . -B "build/starpu-$kind" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEPTAD_WARNINGS_AS_ERRORS=ON \
      -DHEPTAD_WITH_CUDA=$cuda -DCMAKE_CUDA_ARCHITECTURES=90-real -DHEPTAD_STARPU_PREFIX="$starpu_cache/$kind" "${launcher[@]}" &&
      cmake --build "build/starpu-$kind" -j "$jobs" --target "${targets[@]}" &&
      ctest --test-dir "build/starpu-$kind" -j "$jobs" --no-tests=error --output-on-failure -L '^(starpu|gpu)$' -E '^examples/'
  }
  step "StarPU $(<"$starpu_cache/$kind/version") ($kind)" other_starpu
done

echo
echo "== summary"
printf '%s\n' "${summary[@]}"
exit "$failed"
