#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fetches Intel MKL, the strongest BLAS to compare with, from its PyPI wheel and unpacks what dgemm and sgemm need
# (about 300 MB) into $HEPTAD_MKL_DIR or ~/.cache/heptad/peers/mkl, where `heptad bench` looks for it.
# MKL_VERSION chooses another version. On AMD the default is the older one that is fastest there.
set -euo pipefail

if grep -q AuthenticAMD /proc/cpuinfo; then default=2021.4.0; else default=2025.3.1; fi
version=${MKL_VERSION:-$default}
folder=${HEPTAD_MKL_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/heptad/peers/mkl}

if [[ -f $folder/VERSION && $(<"$folder/VERSION") == "$version" ]]; then
  echo "peers: MKL $version is in $folder"
  exit 0
fi
for tool in pip3:python3-pip unzip:unzip; do
  command -v "${tool%%:*}" >/dev/null && continue
  if ((EUID != 0)); then
    echo "peers: missing ${tool##*:}; install it or run this as root" >&2
    exit 1
  fi
  echo "peers: installing ${tool##*:}"
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${tool##*:}"
done

download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT
echo "peers: downloading MKL $version (about 200 MB)"
pip3 download --no-deps --only-binary :all: --dest "$download" "mkl==$version"

echo "peers: unpacking into $folder"
rm -rf "$folder"
mkdir -p "$folder"
libraries=()
for name in rt core gnu_thread intel_lp64 avx512 avx2 def; do libraries+=("*/libmkl_$name.so*"); done
unzip -q -j "$download"/mkl-*.whl "${libraries[@]}" -d "$folder"
echo "$version" >"$folder/VERSION"
echo "peers: MKL $version is ready"
