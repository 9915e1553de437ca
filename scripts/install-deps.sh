#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what building, testing and the demo need on Debian 12, and only what is missing. Needs root only for that.
set -euo pipefail

packages=(
  # building
  g++ cmake ninja-build pkg-config git ccache
  libtbb-dev libfmt-dev nlohmann-json3-dev libcli11-dev libhwloc-dev libstarpu-dev libeigen3-dev
  # the Python package (nanobind comes from PyPI, below) and the Debian packages
  python3-dev python3-venv dpkg-dev file
  # building StarPU 1.4 for the tests (scripts/build-starpu.sh)
  make patch libltdl-dev ocl-icd-opencl-dev
  # testing the documentation
  doxygen groff-base zsh fish
  # testing
  catch2 libbenchmark-dev clang-format-14 pocl-opencl-icd valgrind graphviz
  # programs that the drop-in BLAS is tested with
  libblas3 liblapack3 libblas-test python3-scipy python3-pytest python3-hypothesis
  # measuring: the libraries to compare with (BLIS also lends its micro-kernels where Heptad has none of its own)
  libopenblas0-pthread libblis-pthread-dev
  # the demo's data and plots
  python3 python3-numpy python3-matplotlib python3-pil
)

missing=()
for package in "${packages[@]}"; do
  # shellcheck disable=SC2016  # ${Status} is dpkg-query's
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [[ $status == *"ok installed"* ]] || missing+=("$package")
done

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { # what, command...
  local what=$1 start=$SECONDS
  shift
  echo "dependencies: $what"
  "$@" >"$log" 2>&1 &
  local job=$!
  while kill -0 "$job" 2>/dev/null; do
    sleep 1
    if (((SECONDS - start) % 10 == 9)); then echo "  ... $((SECONDS - start)) s"; fi
  done
  if ! wait "$job"; then
    cat "$log" >&2
    return 1
  fi
}

if ((${#missing[@]} == 0)); then
  echo "dependencies: all ${#packages[@]} packages are installed"
elif ((EUID != 0)); then
  echo "dependencies: missing ${missing[*]}; run this as root: $0" >&2
  exit 1
else
  export DEBIAN_FRONTEND=noninteractive
  quietly "reading the package lists" apt-get update -q
  quietly "installing ${missing[*]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
  echo "dependencies: installed ${#missing[@]} packages"
fi

# Beside Debian's Python, for what Debian does not have. Without it (offline, say) all but the Python package is built.
root=$(cd "$(dirname "$0")/.." && pwd)
wanted=$root/python/requirements.txt
venv=$root/build/venv
if ! cmp -s "$wanted" "$venv/requirements.txt"; then
  if quietly "installing nanobind and its tools into build/venv" \
    sh -ec '/usr/bin/python3 -m venv --system-site-packages "$2" && "$2/bin/pip" install -q -r "$1" && cp "$1" "$2/"' \
    sh "$wanted" "$venv"; then
    echo "dependencies: build/venv is complete"
  else
    echo "dependencies: no nanobind, so the Python package will not be built and its tests are skipped" >&2
  fi
fi
