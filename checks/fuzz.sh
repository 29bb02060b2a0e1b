#!/usr/bin/env bash
# Hands every decoder bytes that nobody would have sent, and libbsp sequences of calls, right and wrong.
# `long` is `runs` where all data is long, and takes the ways of its own that long data has.
# Usage: checks/fuzz.sh [seconds for each target] [target...]; with `build` for the seconds it builds and runs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-20}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(packets pulse hosts variables runs long files sequences)

# What cannot be had fails the run.
rustc +nightly --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal ||
  { echo "no nightly compiler can be had, and libFuzzer needs one" >&2; exit 1; }
cargo +nightly fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --locked --quiet ||
  { echo "cargo-fuzz can neither be found nor installed" >&2; exit 1; }

# Memory that was used because a length was claimed is a finding. To ask for it is none: the library takes no for an
# answer, which it hears here from 1 GiB on.
export ASAN_OPTIONS="allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=0"
echo "== building the targets"
[ "${targets[*]}" = sequences ] || cargo +nightly fuzz build --features libfuzzer
if [ "$seconds" = build ]; then
  cargo test --quiet --no-run --package superstep-bsp --test bsp
  exit
fi
for target in "${targets[@]}"; do
  [ "$target" != sequences ] || continue
  echo "== $target for $seconds s"
  grown=$(mktemp -d)
  unset SUPERSTEP_TEST_LONG
  if [ "$target" = long ]; then
    export SUPERSTEP_TEST_LONG=1
    target=runs
  fi
  mkdir -p "fuzz/corpus/$target"
  # What is found is kept in fuzz/artifacts. The corpus that is committed stays as it is; what is new goes elsewhere.
  cargo +nightly fuzz run --features libfuzzer "$target" "$grown" "fuzz/corpus/$target" -- -max_total_time="$seconds" -malloc_limit_mb=0 \
    -rss_limit_mb=2048 -timeout=60 -max_len=512 -print_final_stats=1 2>"$grown.log" ||
    { tail -n 60 "$grown.log" >&2; echo "$target: a finding, kept in fuzz/artifacts/$target" >&2; exit 1; }
  grep -E "^stat::(number_of_executed_units|average_exec_per_sec|peak_rss_mb)|DONE" "$grown.log" | tail -n 4
  rm -rf "$grown" "$grown.log"
done

for target in "${targets[@]}"; do
  [ "$target" = sequences ] || continue
  echo "== sequences of calls of libbsp for $seconds s"
  from=${SUPERSTEP_SEQUENCES_FROM:-0}
  end=$((SECONDS + seconds))
  while [ $SECONDS -lt $end ]; do
    SUPERSTEP_SEQUENCES_FROM=$from SUPERSTEP_SEQUENCES=500 cargo test --quiet --package superstep-bsp --test bsp -- \
      --nocapture sequences_of_calls_do_what_their_model_does | grep sequences
    from=$((from + 500))
  done
done
