#!/usr/bin/env bash
# Counts the instructions of loops over `local()` of an array, of the same in NestStep, and of the same loops over a slice, with
# valgrind. Fails if the former take more than a hundredth more.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --release --package superstep-loops
program=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/release/superstep-loops

# How many instructions the program takes, and what it prints.
counted() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" 2>&1 |
    awk '/Collected/ { count = $NF } /^[0-9.]+$/ { sum = $0 } END { print count, sum }'
}

# Holds the second program against the first.
compare() {
  read -r few few_sum <<<"$(counted "$1")"
  read -r count sum <<<"$(counted "$2")"
  echo "$1: $few instructions; $2: $count"
  if [ "$few_sum" != "$sum" ]; then
    echo "the sums differ: $few_sum and $sum"
    exit 1
  fi
  if [ $((100 * (count - few))) -gt "$few" ]; then
    echo "$2 takes more than a hundredth more"
    exit 1
  fi
}

compare slice array
compare loops neststep
