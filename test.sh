#!/usr/bin/env bash
# Installs what the tests need, then runs all of them. A missing tool fails the run; it does not skip anything.
set -euo pipefail
cd "$(dirname "$0")"

# Everything is built once: what would make a second build shorter, and what debuggers read, makes this one longer.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
# One interleaving of each kind, where plain `cargo test` tries four and `campaign.sh` many more: this is for every change.
export SUPERSTEP_TEST_SEEDS=1

part="" times="" scratch=$(mktemp)
trap 'rm -f "$scratch"; jobs -p | xargs -r kill 2>/dev/null || true' EXIT
# Says which part begins, and keeps how long the one before took, and how much of the cores' time.
say() {
  local now
  times >"$scratch"
  now=$(awk 'NR == 2 { gsub(/[ms]/, " "); split($0, t, " "); printf "%d", 60 * (t[1] + t[3]) + t[2] + t[4] }' "$scratch")
  if [ -n "$part" ]; then
    times+=$(printf '%5d s, %5d s of the cores  %s' $((SECONDS - began)) $((now - had)) "$part")$'\n'
  fi
  part=$1 began=$SECONDS had=$now
  printf '\n== %s\n' "$1"
}

# Rust needs a linker, and programs under MPI need both of the usual ones, side by side.
missing=()
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v mpirun.openmpi >/dev/null || missing+=(openmpi-bin)
command -v mpiexec.mpich >/dev/null || missing+=(mpich)
command -v valgrind >/dev/null || missing+=(valgrind)
# Programs in C, C++ and Fortran are built against libbsp.
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
command -v g++ >/dev/null || missing+=(g++)
command -v clang >/dev/null || missing+=(clang)
command -v gfortran >/dev/null || missing+=(gfortran)
command -v pkg-config >/dev/null || missing+=(pkg-config)
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  if [ "$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo"; fi
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

say "format"
cargo fmt --all --check

# Builds use the cores one after the other for much of their time, and tests wait a good deal, for processes, launchers and
# limits of time. So there are lanes of both, side by side. What a lane prints is shown when all of them have ended.
logs=$(mktemp -d)
lane() {
  local name=$1 start=$SECONDS
  shift
  "$@" >"$logs/$name" 2>&1 || echo "$name" >>"$logs/failed"
  printf '%5d s    %s\n' $((SECONDS - start)) "$name" >>"$logs/times"
}

# These have folders of their own to build in, and do not wait for the rest.
{
  lane "decoders, with the corpus of what is fuzzed and what is near it" \
    env RUSTFLAGS="--cfg fuzzing" timeout 1800 cargo test --quiet --manifest-path fuzz/Cargo.toml --target-dir target/fuzzing
  lane "the program that makes mutants" timeout 600 cargo test --quiet --manifest-path checks/mutants/Cargo.toml \
    --target-dir target/mutants/tool
} &

say "lints"
cargo clippy --workspace --all-targets --quiet -- -D warnings

say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

say "packages"
checks/publish.sh --no-verify

say "building the tests"
cargo test --workspace --quiet --no-run

say "tests, and what else needs nothing of them"
# All of them name the workspace: a package alone would be built once more, with fewer features of what it needs.
# All of them run, also behind one that fails: what it prints is all that somebody has who was not there.
test=(cargo test --workspace --quiet --no-fail-fast)
# Every example with each of these numbers of processors, on the fabrics that need no launcher.
examples() {
  cargo build --quiet --workspace --examples
  local example name procs fabric
  for example in crates/superstep/examples/*.rs crates/neststep/examples/*.rs; do
    name=$(basename "$example" .rs)
    for procs in 1 2 5; do
      for fabric in threads sim procs; do
        SUPERSTEP_PROCS=$procs SUPERSTEP_FABRIC=$fabric "${CARGO_TARGET_DIR:-target}/debug/examples/$name" >/dev/null || return 1
      done
    done
    echo "$name: ends well with 1, 2 and 5 processors, on threads, simulated and on processes"
  done
}
# Whoever waits at a barrier spins first: what computes goes one after the other, beside what waits and builds.
{
  lane "tests a to l" "${test[@]}" --lib --bins --test '[ac-l]*' --test 'ba*'
  lane "tests q to s" "${test[@]}" --test '[q-s]*'
  # Behind the claims elsewhere: all of them write one table of how often each claim ran.
  lane "the claims again, under MPI" timeout 7200 "${test[@]}" --test suite -- --ignored --nocapture --test-threads=1 \
    holds_under_open_mpi holds_under_mpich
} &
{
  lane "tests of libbsp" "${test[@]}" --test bsp
  lane "tests m to p" "${test[@]}" --test '[m-p]*'
  lane "tests t to z" "${test[@]}" --test '[t-z]*'
  lane "other systems, and the oldest Rust that will do" checks/systems.sh
  lane "examples" examples
  lane "examples in the documentation" "${test[@]}" --doc
} &
wait
for log in "$logs"/*; do
  [ "$log" = "$logs/times" ] || { printf '\n-- %s\n' "$(basename "$log")"; cat "$log"; }
done
if [ -e "$logs/failed" ]; then
  while read -r name; do grep -HE "FAILED|panicked at|^error" "$logs/$name" >&2 || echo "$name" >&2; done <"$logs/failed"
  exit 1
fi
absent=$(grep -h "^NOT CHECKED" "$logs"/other* || true)
lanes=$(cat "$logs/times")
rm -r "$logs"

say "all of it passed, in $SECONDS s"
printf '%s' "$times"
printf 'of the tests:\n%s\n' "$lanes"
printf '%s' "$absent"
