#!/usr/bin/env bash
# Runs the library's claims for aarch64 in emulation: the fabric's own tests, then claims on threads and simulated.
# Usage: checks/aarch64.sh [all|build]; without a word it runs the share that the campaign has time for, and with `build` it
# builds and runs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
target=aarch64-unknown-linux-gnu

missing=()
command -v qemu-aarch64 >/dev/null || missing+=(qemu-user)
command -v aarch64-linux-gnu-gcc >/dev/null || missing+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo"; fi
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
rustup target add $target >/dev/null 2>&1 || { echo "rustup has no standard library for $target" >&2; exit 1; }

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
# Every instruction takes ten times as long: groups are small, and one interleaving of each kind has to do.
export SUPERSTEP_TEST_SEEDS=1 SUPERSTEP_TEST_MOST=${SUPERSTEP_TEST_MOST:-4}

cargo test --quiet --no-run --target $target --package superstep-fabric --lib
cargo test --quiet --no-run --target $target --package superstep --test suite
[ "${1:-}" != build ] || exit 0

# The emulator keeps books of each page that a program maps, touched or not: a test that asks for more memory than any
# system has would take all of this machine's. So it has a limit, beyond which it is refused as a real system would.
ulimit -v $((8 << 20))

# Runs tests of one package, what follows `--` being for them.
emulate() {
  timeout 1200 cargo test --quiet --target $target --package "$@"
}

# Forked processes and MPI are for a real system: the emulator does not read the memory of other processes.
emulate superstep-fabric --lib -- --skip procs:: --skip mpi::
if [ "${1:-}" = all ]; then
  claims=(array areas collectives containers determinism divergence epoch graphs groups paged pairs queues refusals shared
    splits steps transfers volatile)
else
  claims=(steps:: areas:: array_writes:: epochs:: volatile::)
fi
emulate superstep --test suite -- "${claims[@]}"
