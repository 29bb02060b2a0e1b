#!/usr/bin/env bash
# Changes the library in one place at a time, and sees whether the tests notice. A mutant of the fabric meets its unit
# tests and its contract first, and one of the library its unit tests and some random programs. Whoever outlives these
# meets random programs and the claims on threads and in the simulator. What outlives all is listed;
# `.cargo/mutants.toml` says what is left alone, and why.
# Usage: checks/mutants.sh [minutes, 20 unless given] [file...]
# Mutants come in shards of eight, in an order that SUPERSTEP_MUTANTS_SEED decides, until the time is over.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-20}
shift || true
case $minutes in
  '' | *[!0-9]*) sed -n '2,7s/^# //p' "$0"; exit 2 ;;
esac
seed=${SUPERSTEP_MUTANTS_SEED:-1}
cargo mutants --version >/dev/null 2>&1 || cargo install cargo-mutants --locked --quiet ||
  { echo "cargo-mutants can neither be found nor installed" >&2; exit 1; }

# They change a copy, which is built in a folder that is kept.
work=${CARGO_TARGET_DIR:-target}/mutants
mkdir -p "$work"
work=$(cd "$work" && pwd)
rm -rf "$work/tree" "$work/found"
mkdir "$work/tree" "$work/found"
git ls-files --cached --others --exclude-standard | while read -r file; do
  if [ -e "$file" ]; then cp --parents "$file" "$work/tree"; fi
done
cd "$work/tree"
export CARGO_TARGET_DIR="$work/target" SUPERSTEP_TEST_SEEDS=1 SUPERSTEP_TEST_MOST=4 \
  SUPERSTEP_RANDOM_CASES=${SUPERSTEP_RANDOM_CASES:-60}
# Nobody debugs a mutant, and what says nothing about lines is linked sooner.
export CARGO_PROFILE_DEV_DEBUG=0
# A mutant that waits for ever says so, and is caught by that.
export SUPERSTEP_WAIT_LIMIT=60

[ $# -gt 0 ] || set -- 'crates/superstep/src/engine/**' 'crates/superstep/src/epoch/**' 'crates/superstep/src/memory/**' \
  'crates/fabric/src/**'
# The files of both packages, apart: tests of the fabric know nothing of the library.
of_library=() of_fabric=()
for file in "$@"; do
  case $file in
    crates/fabric/*) of_fabric+=(--file "$file") ;;
    *) of_library+=(--file "$file") ;;
  esac
done
# How many mutants such files have, in shards.
shards_of() {
  local all=0
  [ $# -eq 0 ] || all=$(cargo mutants --workspace --list "$@" | wc -l)
  echo $(((all + 7) / 8))
}
library=$(shards_of "${of_library[@]}") fabric=$(shards_of "${of_fabric[@]}")
[ $((library + fabric)) -gt 0 ] || { echo "there is nothing to change in $*" >&2; exit 1; }
echo "== for $minutes minutes, $library shards of the library and $fabric of the fabric, seed $seed"

# The targets are said to every call of cargo: else all tests there are would be built for each mutant.
first_of_fabric=(--test-package superstep-fabric --cargo-arg=--lib --cargo-arg=--test=contract)
first_of_library=(--test-package superstep --cargo-arg=--lib --cargo-arg=--test=random -- -- --skip processes_are)
second=(--test-package superstep --cargo-arg=--test=random --cargo-arg=--test=suite --cargo-arg=--test=faults
  -- -- --skip elsewhere --skip processes_are)
# Meets some mutants with one of the commands: where to keep what comes of it, which ones, a bar, and the command.
declare -A baseline
meet() {
  local out=$1 chosen=() code=0
  shift
  while [ "$1" != "|" ]; do chosen+=("$1"); shift; done
  shift
  # The same command must pass without a change first, once: else a mistake in it would catch every mutant. It ends with
  # 4 if it does not, with 2 if mutants are left, and with 3 if one ran out of time, which is a way to be caught.
  cargo mutants --workspace --in-place --timeout 120 --no-shuffle "${chosen[@]}" --baseline "${baseline[$*]:-run}" \
    --output "$out" "${which[@]}" "$@" </dev/null >>"$out.log" 2>&1 || code=$?
  [[ $code =~ ^[023]$ ]] || { tail -n 20 "$out.log"; exit 1; }
  baseline[$*]=skip
}
# The mutants of a list, and no others.
by_name() {
  while read -r name; do printf -- '--re\n^%s$\n' "$(sed 's/[][\\.*+?(){}|^$]/\\&/g' <<<"$name")"; done <"$1"
}
end=$((SECONDS + 60 * minutes)) met=0 unviable=0
touch "$work/found/missed.txt"
# Both packages in one order: a name and a number for each shard.
all_shards() {
  seq 0 $((library - 1)) | sed 's/^/library /'
  seq 0 $((fabric - 1)) | sed 's/^/fabric /'
}
while read -r package shard; do
  [ $SECONDS -lt $end ] || break
  out=$work/found/$package-$shard
  mkdir "$out" "$out/left"
  if [ "$package" = fabric ]; then
    which=("${of_fabric[@]}") first=("${first_of_fabric[@]}") shards=$fabric
  else
    which=("${of_library[@]}") first=("${first_of_library[@]}") shards=$library
  fi
  meet "$out" --shard "$shard/$shards" --sharding round-robin "|" "${first[@]}"
  lists=$out/mutants.out
  met=$((met + $(cat "$lists"/{caught,timeout,missed}.txt | wc -l))) unviable=$((unviable + $(wc -l <"$lists/unviable.txt")))
  [ -s "$lists/missed.txt" ] || continue
  mapfile -t left < <(by_name "$lists/missed.txt")
  meet "$out/left" "${left[@]}" "|" "${second[@]}"
  cat "$out/left/mutants.out/missed.txt" >>"$work/found/missed.txt"
done < <(all_shards | shuf --random-source=<(yes "$seed"))

echo "== not caught"
cat "$work/found/missed.txt"
echo "caught $((met - $(wc -l <"$work/found/missed.txt"))) of $met mutants; $unviable more do not compile"
[ "$met" -gt 0 ] || { echo "no mutant met a test" >&2; exit 1; }
