#!/usr/bin/env bash
# Checks that the library builds where its users are: for other systems, with the oldest Rust that it promises, and as a
# program that is linked with nothing else. `checks/aarch64.sh` runs claims for aarch64 in emulation.
# What rustup cannot add here is not checked, and the last line says so.
# Usage: checks/systems.sh
set -euo pipefail
cd "$(dirname "$0")/.."
absent=()
# Whether rustup has something, or can add it; else it is noted.
has() {
  local what=$1
  shift
  if rustup "$@" >/dev/null 2>&1; then return 0; fi
  absent+=("$what")
  return 1
}

# What is checked is what users build. libbsp is for Linux with the GNU C library alone.
portable=(--package superstep --package superstep-fabric --package superstep-bench --package superstep-cli)
for target in x86_64-unknown-linux-musl aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-pc-windows-gnu; do
  has "$target" target add "$target" || continue
  RUSTFLAGS="-D warnings" cargo check --quiet --target "$target" "${portable[@]}"
  echo "$target: builds"
  case $target in
  *-musl)
    cargo build --quiet --target "$target" --package superstep --example walk
    for fabric in threads sim procs; do
      SUPERSTEP_PROCS=3 SUPERSTEP_FABRIC=$fabric "${CARGO_TARGET_DIR:-target}/$target/debug/examples/walk" >/dev/null
    done
    echo "$target: an example ends well on threads, simulated and on processes"
    ;;
  aarch64-unknown-linux-gnu)
    RUSTFLAGS="-D warnings" cargo check --quiet --target "$target" --package superstep-bsp
    ;;
  esac
done

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if rustup run "$oldest" rustc --version >/dev/null 2>&1 || has "Rust $oldest" toolchain install "$oldest" --profile minimal; then
  cargo "+$oldest" check --quiet "${portable[@]}" --package superstep-bsp --package neststep
  echo "Rust $oldest: builds"
fi
[ ${#absent[@]} -eq 0 ] || printf 'NOT CHECKED, because rustup cannot add it here: %s\n' "${absent[@]}"
