#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# manual.sh PROGRAM FOLDER SOURCE: the man page and the completions in FOLDER name every command and every option that the
# program's own --help names, and every variable that the sources read; and man, bash, zsh and fish take them without a
# word. A shell that is not here is left out.
set -euo pipefail
program=$1 folder=$2 source=$3
page=$folder/man/heptad.1
# As a reader sees it, unbroken; without groff as it is written, less the marks.
if command -v groff >/dev/null; then
  said=$(groff -man -ww -Tutf8 -z "$page" 2>&1)
  [[ -z $said ]] || { echo "groff says of the man page: $said" >&2 && exit 1; }
fi
text=$(sed -e 's/\\f[BIR]//g' -e 's/\\-/-/g' "$page")

failed=0
missing() {
  echo "missing: $*" >&2
  failed=1
}

# Each shell reads lines of words after "heptad", and writes for each what it offers for the last one: LINE TAB WORD.
offered_by_bash() {
  # shellcheck disable=SC1091
  source "$folder/bash/heptad"
  while IFS= read -r query; do
    read -ra COMP_WORDS <<<"heptad $query"
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
    _heptad || true
    for word in "${COMPREPLY[@]}"; do printf '%s\t%s\n' "$query" "$word"; done
  done
}
offered_by_zsh() { # with what its completion system would be told
  zsh -f -c '
    compdef() { : }
    offer() { local word; for word; do print -r -- "$query"$'"'\t'"'"$word"; done }
    _describe() { local list=${@[-1]} word; for word in "${(@P)list}"; do offer "${word%%:*}"; done }
    _files() { offer "a file" }
    compadd() { shift; offer "$@" }
    source $1
    while IFS= read -r query; do words=(heptad ${=query}) CURRENT=$#words PREFIX=$words[-1]; _heptad; done' \
    zsh "$folder/zsh/_heptad"
}
offered_by_fish() {
  HOME=$work/home XDG_CONFIG_HOME=$work/home XDG_DATA_HOME=$work/home fish --no-config -c '
    source $argv[1]
    while read -l query
      complete -C "heptad $query" | while read -l line
        printf "%s\t%s\n" $query (string split \t -- $line)[1]
      end
    end' "$folder/fish/heptad.fish"
}

queries=() expected=() # the same number of both
expect() { # line, word
  queries+=("$1") expected+=("$1"$'\t'"$2")
}
checked=0
check() { # the words of a command
  local help option command
  help=$("$program" "$@" --help)
  if (($# > 0)) && [[ $text != *"heptad $*"* ]]; then missing "command '$*' in the man page"; fi
  for option in $(grep -oE '^ +(-[a-zA-Z],)?--[a-z][a-z0-9-]*' <<<"$help" | grep -oE -- '--[a-z][a-z0-9-]*'); do
    checked=$((checked + 1))
    [[ $text == *"$option"* ]] || missing "option $option of '$*' in the man page"
    expect "${*:+$* }--" "$option"
  done
  for command in $(sed -n '/^Subcommands:/,$p' <<<"$help" | grep -oE '^  [a-z]+' || true); do
    expect "${*:+$* }${command:0:1}" "$command"
    check "$@" "$command"
  done
}
check
((checked > 40)) || missing "options: only $checked were found in --help"
expect "gemm A.npy B.npy --scheduler s" sequential

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/empty"
cd "$work/empty" # no file that a shell could offer
shells=()
for shell in bash zsh fish; do
  command -v "$shell" >/dev/null || continue
  shells+=("$shell")
  offers=$(printf '%s\n' "${queries[@]}" "gemm A" | sort -u | "offered_by_$shell" 2>"$work/said")
  [[ ! -s $work/said ]] || missing "silence of $shell: $(<"$work/said")"
  for one in "${expected[@]}"; do
    grep -qxF -- "$one" <<<"$offers" || missing "'${one#*$'\t'}' after 'heptad ${one%%$'\t'*}' in $shell's completion"
  done
  others=$(grep -v $'\ta file$' <<<"$offers" | grep '^gemm A'$'\t' || true)
  [[ -z $others ]] || missing "names of files, which $shell's words would hide: $others"
done

for variable in $(grep -rhoE '"HEPTAD_[A-Z_]+"' "$source/src/api/environment.cpp" "$source/src/plan/profile.cpp" \
  "$source/tools" | tr -d '"' | sort -u); do
  [[ $variable == HEPTAD_WITH_* ]] || [[ $text == *".B $variable"* ]] || missing "variable $variable in the man page"
done
((failed == 0)) && echo "man page and completions (${shells[*]}): $checked options, as in --help"
exit "$failed"
