#!/usr/bin/env bash
# What an empty step and a bsp_sync take on as many processors as cores while cores are taken away, against a barrier that
# yields in the same situation. Both should take no more than 3 times as long as the barrier; medians of 9 rounds.
# Needs root, and cgroups for the quota.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --release --package superstep-bench --example held_back
cargo build --quiet --release --package superstep-bsp
folder=$(cd "${CARGO_TARGET_DIR:-target}/release" && pwd)
gcc -O2 -Wall -Wextra -Werror -Icrates/bsp/include -o "$folder/bsp-held-back" bench/bsp/held_back.c \
  -L"$folder" -Wl,-rpath,"$folder" -lbsp
cores=$(nproc)
measure=("$folder/examples/held_back" "$cores" "$folder/bsp-held-back")

foreign=()
trap 'kill "${foreign[@]}" 2>/dev/null || true' EXIT

# Measures beside a process on each core; the arguments start it.
beside() {
  for core in $(seq 0 $((cores - 1))); do
    taskset -c "$core" "$@" &
    foreign+=($!)
  done
  "${measure[@]}"
  kill "${foreign[@]}"
  wait "${foreign[@]}" 2>/dev/null || true
  foreign=()
}

echo "a quiet machine"
"${measure[@]}"

echo "a foreign process of higher priority on each core, for 4 ms of each 12 ms"
beside nice -n -15 python3 -c '
import time
while True:
    began = time.monotonic()
    while time.monotonic() - began < 0.004:
        pass
    time.sleep(0.008)'

echo "a busy foreign process on each core"
beside python3 -c '
while True:
    pass'

echo "all on one core"
taskset -c 0 "${measure[@]}"

echo "a quota of a fifth of each core"
if [ -d /sys/fs/cgroup/cpu ]; then
  group=/sys/fs/cgroup/cpu/superstep-held-back
  mkdir -p "$group"
  echo 10000 >"$group/cpu.cfs_period_us"
  echo $((2000 * cores)) >"$group/cpu.cfs_quota_us"
else
  group=/sys/fs/cgroup/superstep-held-back
  mkdir -p "$group"
  echo "$((2000 * cores)) 10000" >"$group/cpu.max"
fi
bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' quota "$group" "${measure[@]}"
rmdir "$group"
