#!/usr/bin/env bash
# Runs the library in Miri, which checks every access: bounds, initialisation, aliasing, data races, weak memory.
# Usage: checks/miri.sh [minutes]; without a number it runs the share that fits into a change, and with `build` it builds
# and runs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-0}

rustup +nightly component add miri rust-src >/dev/null 2>&1 ||
  rustup toolchain install nightly --profile minimal --component miri,rust-src ||
  { echo "Miri cannot be had: rustup has no nightly toolchain with the components miri and rust-src" >&2; exit 1; }

# Function pointers travel as numbers, so provenance is exposed. Threads are kept between runs, so they never end. There
# are no files, and the clock goes by what was interpreted.
flags="-Zmiri-permissive-provenance -Zmiri-ignore-leaks -Zmiri-isolation-error=hide"
flags+=" -Zmiri-env-forward=SUPERSTEP_TEST_SEEDS -Zmiri-env-forward=SUPERSTEP_TEST_SEED"
export SUPERSTEP_TEST_SEEDS=${SUPERSTEP_TEST_SEEDS:-1}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/miri

# What processes and MPI do needs a system, and is not for Miri.
fabric=(--package superstep-fabric --lib -- --skip procs::team --skip procs::run --skip procs::watch --skip procs::child
  --skip mpi)
contract=(--package superstep-fabric --test contract)
# The claims by modules: each is small enough to end, and together they touch every layer.
claims=(areas::a_put queues::messages shared:: steps::an_empty splits:: array_writes:: array_reads:: paged:: epochs:: volatile::
  collectives:: leaving:: containers::)

if [ "$minutes" = build ]; then
  MIRIFLAGS=$flags cargo +nightly miri test --quiet --no-run --package superstep-fabric --lib --test contract
  MIRIFLAGS=$flags cargo +nightly miri test --quiet --no-run --package superstep --test suite
  exit
fi

# Runs tests under one seed of Miri's own scheduler, with so many cores, for as many seconds at most.
interpret() {
  local seconds=$1 seed=$2 cores=$3 code=0
  shift 3
  MIRIFLAGS="$flags -Zmiri-seed=$seed -Zmiri-num-cpus=$cores" timeout "$seconds" cargo +nightly miri test --quiet "$@" ||
    code=$?
  case $code in
  0) ran=$((ran + 1)) ;;
  124)
    echo "no end within the time: ${*:1:3} ... under seed $seed"
    cut=$((cut + 1))
    ;;
  *)
    echo "Miri has found something: -Zmiri-seed=$seed -Zmiri-num-cpus=$cores, ${*}" >&2
    exit 1
    ;;
  esac
}

ran=0 cut=0
if [ "$minutes" -eq 0 ]; then
  echo "== the memory and the waits of the fabric, in Miri"
  interpret 600 1 2 --package superstep-fabric --lib -- region:: pages:: procs::ring:: threads:: code::entry::
else
  end=$((SECONDS + 60 * minutes))
  for seed in $(seq 1 1000); do
    # With one core waits give way at once, with four they spin.
    cores=$((1 + 3 * (seed % 2)))
    for part in "${claims[@]}" contract fabric; do
      left=$((end - SECONDS))
      [ $left -gt 0 ] || break 2
      echo "== $part in Miri, seed $seed, $cores cores"
      case $part in
      fabric) interpret $left "$seed" $cores "${fabric[@]}" ;;
      contract) interpret $left "$seed" $cores "${contract[@]}" ;;
      *) interpret $left "$seed" $cores --package superstep --test suite -- "$part" ;;
      esac
    done
  done
fi
echo "$ran parts ran to their ends in Miri, and $cut were cut off by the time"
[ $ran -gt 0 ] || { echo "nothing ran to its end" >&2; exit 1; }
