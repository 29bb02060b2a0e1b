#!/usr/bin/env bash
# Packs every crate that users need and builds each of them from its package alone, as `cargo publish` would.
# Usage: checks/publish.sh [--no-verify], which packs them and builds nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}/publish
CARGO_TARGET_DIR=$target cargo publish --dry-run --allow-dirty --quiet --package superstep-fabric --package superstep-derive \
  --package neststep --package superstep --package superstep-programs --package superstep-bench --package superstep-cli "$@"
echo "seven crates can be published"
