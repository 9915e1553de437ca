#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# exported-symbols.sh [--update] BUILD: compares what the libraries in the build folder show with the lists in abi/, which
# are what clients may have been linked to; --update writes the lists. docs/VERSIONING.md says what a difference means.
set -euo pipefail
update=
if [[ ${1:-} == --update ]]; then
  update=1
  shift
fi
if (($# != 1)); then
  echo "usage: $0 [--update] BUILD" >&2
  exit 2
fi
build=$1
lists=$(dirname "$0")/../abi

symbols() { # library: names as a reader knows them, with their version; the version's own name is none
  nm --dynamic --defined-only --with-symbol-versions "$1" |
    awk '$2 != "A" { print $3 }' | c++filt | LC_ALL=C sort -u
}

failed=0 compared=0
for name in heptad heptad_blas heptad_cuda heptad_starpu; do
  list=$lists/$name.symbols
  # Not those of packages and tests below the build folder, whatever the folders above it are called.
  library=$(find "$build" \( -name _CPack_Packages -o -name tests \) ! -path "$build" -prune -o -name "lib$name.so" -print -quit)
  [[ $library ]] || continue # not built here
  compared=$((compared + 1))
  if [[ $update ]]; then
    symbols "$library" >"$list"
  elif ! diff -u --label "abi/$name.symbols" "$list" --label "lib$name.so" <(symbols "$library"); then
    failed=1
  else
    echo "lib$name.so: $(wc -l <"$list") symbols, as recorded"
  fi
done
if ((compared == 0)); then
  echo "no library of Heptad in $build" >&2
  exit 1
fi
if ((failed)); then
  echo "Symbols differ. If they should, read docs/VERSIONING.md, then: $0 --update $build" >&2
  exit 1
fi
