#!/usr/bin/env bash
# Holds libbsp against the bare machine: builds it, and runs bench/bsp/rates.c on two processes.
# Usage: bench/bsp.sh [--json] [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in
  -h | --help)
    sed -n '2,3s/^# //p' "$0"
    exit 0
    ;;
esac
cargo build --quiet --release --package superstep-bsp
folder=${CARGO_TARGET_DIR:-target}/release
folder=$(cd "$folder" && pwd)
gcc -O2 -Wall -Wextra -Werror -Icrates/bsp/include -o "$folder/bsp-rates" bench/bsp/rates.c \
  -L"$folder" -Wl,-rpath,"$folder" -lbsp
exec "$folder/bsp-rates" "$@"
