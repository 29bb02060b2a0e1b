#!/usr/bin/env bash
# Changes the library in one place at a time, and sees whether the tests notice. All changes are built at once, each
# behind a switch, and each mutant meets the tests that come to its place: unit tests, the contract of the fabric, random
# programs, faults and the claims, on threads and in the simulator. What outlives all is listed; `.cargo/mutants.toml`
# says what is left alone, and why. `checks/mutants` is the program that does it.
# Usage: checks/mutants.sh [minutes, 20 unless given] [file...]
# Mutants come in an order that SUPERSTEP_MUTANTS_SEED decides, until the time is over. It begins when the tests are built and
# have passed once; what they show is kept for as long as no file changes, and with 0 minutes there is no more.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-20}
shift || true
case $minutes in
  '' | *[!0-9]*) sed -n '2,9s/^# //p' "$0"; exit 2 ;;
esac
[ $# -gt 0 ] || set -- 'crates/superstep/src/engine/**' 'crates/superstep/src/epoch/**' 'crates/superstep/src/memory/**' \
  'crates/fabric/src/**'

# They change a copy of the sources. It is kept, and so is what is built of it.
work=${CARGO_TARGET_DIR:-target}/mutants
mkdir -p "$work"
work=$(cd "$work" && pwd)
CARGO_TARGET_DIR=$work/tool cargo build --quiet --manifest-path checks/mutants/Cargo.toml
rm -rf "$work/fresh" "$work/left"
mkdir -p "$work/fresh" "$work/left" "$work/tree"
git ls-files --cached --others --exclude-standard | while read -r file; do
  if [ -e "$file" ]; then cp --parents "$file" "$work/fresh"; fi
done
cd "$work/tree"
# What a mutant leaves behind goes with it.
export TMPDIR=$work/left CARGO_TARGET_DIR=$work/target
# Nobody debugs a mutant, and what says nothing about lines is linked sooner.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0
export SUPERSTEP_TEST_SEEDS=1 SUPERSTEP_TEST_MOST=4 SUPERSTEP_RANDOM_CASES=${SUPERSTEP_RANDOM_CASES:-60}
# A mutant that waits for ever says so, and is caught by that. Four thousand processors on a busy machine take ten seconds.
export SUPERSTEP_WAIT_LIMIT=20
code=0
"$work/tool/debug/superstep-mutants" "$minutes" "${SUPERSTEP_MUTANTS_SEED:-1}" "$@" || code=$?
rm -rf "$work/left"
exit $code
