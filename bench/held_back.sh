#!/usr/bin/env bash
# What an empty step takes on as many processors as cores while cores are taken away, against a barrier that yields in the
# same situation: on a quiet machine, with foreign processes of higher priority, and with a quota on this group of
# processes. Steps should take no more than 3 times as long as the barrier. Needs root, and cgroups for the quota.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --release --package superstep-bench --example held_back
measure="${CARGO_TARGET_DIR:-target}/release/examples/held_back"

echo "quiet"
"$measure"

echo "a foreign process of higher priority on each core, for 4 ms of each 12 ms"
foreign=()
trap 'kill "${foreign[@]}" 2>/dev/null || true' EXIT
for core in $(seq 0 $(($(nproc) - 1))); do
  taskset -c "$core" nice -n -15 python3 -c '
import time
while True:
    began = time.monotonic()
    while time.monotonic() - began < 0.004:
        pass
    time.sleep(0.008)' &
  foreign+=($!)
done
"$measure"
kill "${foreign[@]}"
foreign=()

echo "a quota of 40 % of one core"
if [ -d /sys/fs/cgroup/cpu ]; then
  group=/sys/fs/cgroup/cpu/superstep-held-back
  mkdir -p "$group"
  echo 10000 >"$group/cpu.cfs_period_us"
  echo 4000 >"$group/cpu.cfs_quota_us"
else
  group=/sys/fs/cgroup/superstep-held-back
  mkdir -p "$group"
  echo "4000 10000" >"$group/cpu.max"
fi
bash -c "echo \$\$ >$group/cgroup.procs; exec $measure"
rmdir "$group"
