#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# manual.sh PROGRAM FOLDER SOURCE: the man page and the completion in FOLDER name every command and every option that the
# program's own --help names, and every variable that the sources read; and man and bash take them without a word.
set -euo pipefail
program=$1 folder=$2 source=$3
page=$folder/heptad.1
# As a reader sees it, unbroken; without groff as it is written, less the marks.
if command -v groff >/dev/null; then
  said=$(groff -man -ww -Tutf8 -z "$page" 2>&1)
  [[ -z $said ]] || { echo "groff says of the man page: $said" >&2 && exit 1; }
fi
text=$(sed -e 's/\\f[BIR]//g' -e 's/\\-/-/g' "$page")
# shellcheck disable=SC1091
source "$folder/heptad"

failed=0
missing() {
  echo "missing: $*" >&2
  failed=1
}
complete_words() { # word...: what bash would offer for the last one
  COMP_WORDS=(heptad "$@") COMP_CWORD=$#
  COMPREPLY=()
  _heptad || true
  printf '%s\n' "${COMPREPLY[@]}"
}

checked=0
check() { # the words of a command
  local help words=("$@") option command
  help=$("$program" "$@" --help)
  if (($# > 0)) && [[ $text != *"heptad $*"* ]]; then missing "command '$*' in the man page"; fi
  local offered
  offered=$(complete_words "$@" --)
  for option in $(grep -oE '^ +(-[a-zA-Z],)?--[a-z][a-z0-9-]*' <<<"$help" | grep -oE -- '--[a-z][a-z0-9-]*'); do
    checked=$((checked + 1))
    [[ $text == *"$option"* ]] || missing "option $option of '$*' in the man page"
    grep -qx -- "$option" <<<"$offered" || missing "option $option of '$*' in the completion"
  done
  for command in $(sed -n '/^Subcommands:/,$p' <<<"$help" | grep -oE '^  [a-z]+' || true); do
    complete_words "$@" "${command:0:1}" | grep -qx "$command" || missing "command $command of '$*' in the completion"
    check "$@" "$command"
  done
}
check
((checked > 40)) || missing "options: only $checked were found in --help"

[[ $(complete_words gemm A.npy B.npy --scheduler s) == *sequential* ]] || missing "the values of --scheduler"
[[ -z $(complete_words gemm A) ]] || missing "the names of files, which words would hide"

for variable in $(grep -rhoE '"HEPTAD_[A-Z_]+"' "$source/src/api/environment.cpp" "$source/src/plan/profile.cpp" \
  "$source/tools" | tr -d '"' | sort -u); do
  [[ $variable == HEPTAD_WITH_* ]] || [[ $text == *".B $variable"* ]] || missing "variable $variable in the man page"
done
((failed == 0)) && echo "man page and completion: $checked options, as in --help"
exit "$failed"
