#!/usr/bin/env bash
# The long tests: every schedule that takes minutes to explore, many seeds, many random programs. Prints what it tried.
# Usage: ./campaign.sh [seeds] [programs]
set -euo pipefail
cd "$(dirname "$0")"
seeds=${1:-200}
programs=${2:-20000}

echo "== schedules of the meeting of threads, explored whole (loom)"
RUSTFLAGS="--cfg loom" cargo test --release --package superstep-fabric --lib --target-dir target/loom loom -- --ignored --nocapture

echo "== the suite of claims under $seeds seeds of each simulated fabric"
SUPERSTEP_TEST_SEEDS=$seeds cargo test --release --package superstep --test suite

echo "== the suite of claims on forked processes, of all sizes"
claims=$(cargo test --release --package superstep --test suite --no-run --message-format=json 2>/dev/null |
  sed -n 's/.*"executable":"\([^"]*suite-[^"]*\)".*/\1/p' | tail -n 1)
for _ in 1 2 3 4 5; do
  (cd crates/superstep && SUPERSTEP_FABRIC=procs "$claims" --quiet --test-threads=1 abandoned:: areas:: array \
    collectives:: containers:: epoch groups:: leaving:: outcomes:: paged pairs:: queues:: refusals:: shared:: steps:: \
    transfers:: volatile:: wordings:: --skip the_parent_resumes)
done

echo "== transfers and reductions of more than 4 GiB (needs 24 GiB of memory)"
SUPERSTEP_TEST_SEEDS=1 cargo test --release --package superstep --test suite -- --ignored a_reduction_of_more
cargo test --release --package superstep --test mpi -- --ignored --skip programs::program
cargo test --release --package superstep-bsp --test bsp -- --ignored

echo "== the claims across four hosts, and a program of which one host is cut off"
./hosts.sh up 4
trap './hosts.sh down' EXIT
./hosts.sh claims 4
./hosts.sh cutoff 4

for seed in 1 2 3 4; do
  echo "== $programs random programs of seed $seed against the model"
  SUPERSTEP_RANDOM_SEED=$seed SUPERSTEP_RANDOM_CASES=$programs \
    cargo test --release --package superstep --test random --test arrays_random
done
