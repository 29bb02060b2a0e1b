#!/usr/bin/env bash
# Counts the instructions of loops over `local()` of an array and of the same loops over a slice, with valgrind. Fails if
# the former take more than a hundredth more.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --release --package superstep-loops
program=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/release/superstep-loops

# How many instructions the program takes, and what it prints.
counted() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" 2>&1 |
    awk '/Collected/ { count = $NF } /^[0-9.]+$/ { sum = $0 } END { print count, sum }'
}

read -r slice slice_sum <<<"$(counted slice)"
read -r array array_sum <<<"$(counted array)"
echo "loops over a slice: $slice instructions; over local(): $array"
if [ "$slice_sum" != "$array_sum" ]; then
  echo "the sums differ: $slice_sum and $array_sum"
  exit 1
fi
if [ $((100 * (array - slice))) -gt "$slice" ]; then
  echo "loops over local() take more than a hundredth more"
  exit 1
fi
