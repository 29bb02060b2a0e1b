#!/usr/bin/env bash
# Installs what the tests need, then runs all of them. A missing tool fails the run; it does not skip anything.
set -euo pipefail
cd "$(dirname "$0")"

part="" times=""
# Says which part begins, and keeps how long the one before took.
say() {
  if [ -n "$part" ]; then times+=$(printf '%5d s  %s' $((SECONDS - began)) "$part")$'\n'; fi
  part=$1 began=$SECONDS
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

say "lints"
cargo clippy --workspace --all-targets --quiet -- -D warnings

say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

say "packages"
checks/publish.sh --no-verify

say "tests"
# Two interleavings of each kind, where plain `cargo test` tries four and `campaign.sh` many more: this is for every change.
export SUPERSTEP_TEST_SEEDS=2
cargo test --workspace --quiet --no-run
# Tests wait a good deal, for processes, launchers and limits of time. So there are two lanes of them, by their first letter.
logs=$(mktemp -d)
lane() {
  local name=$1
  shift
  cargo test --workspace --quiet "$@" >>"$logs/$name" 2>&1 || touch "$logs/failed"
}
lane first --lib --bins --test '[a-p]*' &
{ lane second --test '[q-z]*' && lane second --doc; } &
wait
cat "$logs"/{first,second}
[ ! -e "$logs/failed" ] || { grep -hE "FAILED|panicked at|^error" "$logs"/{first,second} >&2; exit 1; }
rm -r "$logs"

say "examples"
cargo build --quiet --package superstep --package neststep --examples
for example in crates/superstep/examples/*.rs crates/neststep/examples/*.rs; do
  name=$(basename "$example" .rs)
  for procs in 1 2 5; do
    for fabric in threads sim procs; do
      SUPERSTEP_PROCS=$procs SUPERSTEP_FABRIC=$fabric "${CARGO_TARGET_DIR:-target}/debug/examples/$name" >/dev/null
    done
  done
  echo "$name: ends well with 1, 2 and 5 processors, on threads, simulated and on processes"
done

say "the claims again, under MPI"
timeout 7200 cargo test --quiet --package superstep --test suite -- --ignored --nocapture --test-threads=1 holds_under_open_mpi \
  holds_under_mpich

timeout 1800 cargo test --quiet --package neststep --test suite -- --ignored --test-threads=1 holds_under_open_mpi holds_under_mpich

say "instructions of loops over local parts"
bench/instructions.sh

say "every schedule of the meeting of threads (loom)"
RUSTFLAGS="--cfg loom" cargo test --quiet --release --package superstep-fabric --lib --target-dir target/loom loom

say "decoders, with the corpus of what is fuzzed and what is near it"
RUSTFLAGS="--cfg fuzzing" timeout 1800 cargo test --quiet --manifest-path fuzz/Cargo.toml --target-dir target/fuzzing

say "other systems, aarch64 in emulation, and the oldest Rust that will do"
logs=$(mktemp)
checks/systems.sh | tee "$logs"
absent=$(grep "^NOT CHECKED" "$logs" || true)
rm "$logs"

say "all of it passed, in $SECONDS s"
printf '%s' "$times"
printf '%s' "$absent"
