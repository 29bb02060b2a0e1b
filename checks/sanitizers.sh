#!/usr/bin/env bash
# Runs the claims under ThreadSanitizer and AddressSanitizer, with an instrumented standard library, and the programs
# in C against a library that is instrumented, too.
# Usage: checks/sanitizers.sh [thread|address|c...]; with `build` it builds and runs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(thread address c)

rustup +nightly component add rust-src >/dev/null 2>&1 ||
  rustup toolchain install nightly --profile minimal --component rust-src ||
  { echo "the sanitizers cannot be had: rustup has no nightly toolchain with the component rust-src" >&2; exit 1; }
if ! [ -e "$(clang -print-file-name="libclang_rt.asan-$(uname -m).a")" ]; then
  if [ "$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo"; fi
  { $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends clang libclang-rt-dev; } ||
    { echo "the sanitizers need clang and its run-time libraries, which cannot be installed" >&2; exit 1; }
fi

host=$(rustc +nightly -vV | sed -n 's/^host: //p')
target=${CARGO_TARGET_DIR:-target}
# Instrumented programs are slow: one interleaving, groups of up to four, and some optimisation, which the standard
# library is built with as well.
export SUPERSTEP_TEST_SEEDS=${SUPERSTEP_TEST_SEEDS:-1} SUPERSTEP_TEST_MOST=${SUPERSTEP_TEST_MOST:-4}
export CARGO_PROFILE_DEV_OPT_LEVEL=1
# The claims that are run: one module for each part of the library that shares memory between processors.
claims=(areas:: queues:: shared:: steps:: splits:: groups:: array_writes:: array_reads:: array_sections:: paged:: paged_coherence::
  epochs:: epoch_answers:: volatile:: collectives:: leaving:: containers:: failures::)
# What counts to a hundred thousand, names sizes of its own, or starts processes.
skipped=(--skip elsewhere --skip a_hundred_thousand --skip sixty_four --skip ten_thousand)

# Builds or tests with a sanitizer.
sanitized() {
  local sanitizer=$1
  shift
  RUSTFLAGS="-Zsanitizer=$sanitizer" CARGO_TARGET_DIR="$target/$sanitizer" cargo +nightly "$1" -Zbuild-std \
    --target "$host" "${@:2}"
}

for part in "${parts[@]}"; do
  case $part in
  build)
    for sanitizer in thread address; do
      sanitized $sanitizer test --quiet --no-run --package superstep-fabric --lib --test contract
      sanitized $sanitizer test --quiet --no-run --package superstep --test suite
    done
    sanitized address build --quiet --release --package superstep-bsp
    ;;
  thread)
    echo "== the claims under ThreadSanitizer"
    # Forked processes are other threads to nobody, and are looked at by the other sanitizer.
    export TSAN_OPTIONS="halt_on_error=1"
    sanitized thread test --quiet --package superstep-fabric --lib --test contract -- --skip procs --skip mpi \
      --skip many_more_threads
    sanitized thread test --quiet --package superstep --test suite -- "${claims[@]}" "${skipped[@]}"
    ;;
  address)
    echo "== the claims under AddressSanitizer"
    # Threads are kept until the program ends, with what they have.
    export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1"
    sanitized address test --quiet --package superstep-fabric --lib --test contract
    sanitized address test --quiet --package superstep --test suite -- "${claims[@]}" "${skipped[@]}"
    ;;
  c)
    echo "== programs in C under AddressSanitizer"
    export ASAN_OPTIONS="detect_leaks=0"
    sanitized address build --quiet --release --package superstep-bsp
    library=$target/address/$host/release/libbsp.a
    built=$(mktemp -d)
    trap 'rm -rf "$built"' EXIT
    compile() {
      clang -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -I crates/bsp/include -o "$built/$1" "${@:2}" \
        "$library" -lpthread -ldl -lm
    }
    c=crates/bsp/tests/c
    compile claims $c/claims.c $c/registration.c $c/transfers.c $c/messages.c $c/others.c
    count=0
    for claim in $("$built/claims" --list); do
      for processes in 1 2 3 5; do
        timeout 300 "$built/claims" "$claim" $processes >/dev/null
        count=$((count + 1))
      done
    done
    echo "$count claims hold"
    compile sequences $c/sequences.c
    for seed in $(seq 0 "${SUPERSTEP_SEQUENCES:-200}"); do
      said=$(timeout 300 "$built/sequences" "$seed" $((1 + seed % 5)) 2>"$built/said" | head -n 1 || true)
      if [ "$said" != "as expected" ] && ! grep -q "^$said" "$built/said"; then
        cat "$built/said" >&2
        echo "sequence $seed with $((1 + seed % 5)) processes: not \"$said\"" >&2
        exit 1
      fi
    done
    echo "$((seed + 1)) sequences of calls end as they should"
    ;;
  *)
    echo "no part is called $part; there are thread, address, c and build" >&2
    exit 1
    ;;
  esac
done
