#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and passes all tests: release with warnings as errors, the format of the sources, then the address, undefined
# behaviour and thread sanitizers. --quick leaves the sanitizers out.
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
    only=(--target test_schedulers test_api test_cuda_host cuda_host_planted_faults)
    tests=(-L '^(schedulers|api|cuda-host)$')
  fi
  step "$preset: build without a warning" build "$preset" "${only[@]}"
  step "$preset: tests" ctest --preset "$preset" -j "$jobs" --no-tests=error "${tests[@]}"
done

echo
echo "== summary"
printf '%s\n' "${summary[@]}"
exit "$failed"
