#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiler launcher for CUDA sources: keeps what ptxas says of registers and spills beside the object (OBJECT.resources)
# and shows the rest.
set -euo pipefail
object=
for ((i = 1; i < $#; ++i)); do
  if [[ ${!i} == -o ]]; then
    next=$((i + 1))
    object=${!next}
  fi
done
said=$(mktemp)
trap 'rm -f "$said"' EXIT
status=0
"$@" 2>"$said" || status=$?
# Progress lines of ptxas; its warnings and errors begin otherwise.
about='^ptxas info|^    [0-9]+ bytes stack frame|^Function properties|^    Function properties'
grep -E "$about" "$said" >"$object.resources" || true
grep -vE "$about" "$said" >&2 || true
exit "$status"
