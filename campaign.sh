#!/usr/bin/env bash
# The long tests: random programs, mistakes, faults, schedules, memory checks, fuzzing and a soak, within a given time.
# What ran, how many and what was found is written to CAMPAIGN.md.
# Usage: ./campaign.sh [minutes, 60 unless given] [part...]
set -uo pipefail
cd "$(dirname "$0")"
minutes=${1:-60}
shift || true
asked=("$@")
case $minutes in
  '' | *[!0-9]*) sed -n '2,4s/^# //p' "$0"; exit 2 ;;
esac
seed=${SUPERSTEP_RANDOM_SEED:-$(date +%s)}
logs=target/campaign
mkdir -p "$logs"
rows="" failed=0 began=$SECONDS
# The table of claims is to be that of this campaign.
if [ ${#asked[@]} -eq 0 ]; then rm -rf target/claims target/claims.md; fi

# So many of something that has a rate for each minute of the whole campaign.
many() { echo $(($1 * minutes > $2 ? $1 * minutes : $2)); }

# Runs one part: its name, which lines of its output count, and the command. It may take what is left of the time, and
# ten minutes at least.
part() {
  local name=$1 lines=$2 start=$SECONDS status=0 left
  shift 2
  if [ ${#asked[@]} -gt 0 ] && [[ " ${asked[*]} " != *" $name "* ]]; then return; fi
  left=$((minutes * 60 - (SECONDS - began)))
  printf '\n== %s\n' "$name"
  timeout $((left > 600 ? left : 600)) "$@" >"$logs/$name.log" 2>&1 || status=$?
  local found="nothing"
  if [ $status -ne 0 ]; then
    found="**ended with $status**"
    failed=1
    tail -n 30 "$logs/$name.log"
  fi
  local what
  what=$(grep -E "$lines" "$logs/$name.log" | grep -v "0 passed" | tail -n 12 | sed 's/|/,/g' | paste -sd ';' - | sed 's/;/; /g')
  rows+="| $name | \`$(echo "$*" | tr "\n" " ")\` | ${what:-no line said how many} | $found | $((SECONDS - start)) s |"$'\n'
  echo "${what:-no line said how many}; found: $found; $((SECONDS - start)) s"
}

# The variable of a claim's or program's number goes before the command.
release="cargo test --release --quiet --package superstep"
random="SUPERSTEP_RANDOM_SEED=$seed"
result='test result|a second|calls of|stat::number|supersteps|mutants|schedules|faults of'

part build "Finished" cargo build --release --package superstep-cli
part random-simulated "$result" env $random SUPERSTEP_RANDOM_CASES="$(many 16000 2000)" $release --test random -- --nocapture simulated
part random-threads "$result" env $random SUPERSTEP_RANDOM_CASES="$(many 1700 500)" $release --test random -- --nocapture threads_are
part random-processes "$result" env $random SUPERSTEP_RANDOM_CASES="$(many 350 100)" $release --test random -- --nocapture processes_are
part random-mistakes "$result" env $random SUPERSTEP_RANDOM_CASES="$(many 350 100)" $release --test random -- --nocapture mistake
part random-mpi "$result" env $random SUPERSTEP_RANDOM_CASES="$(many 85 50)" $release --test random -- --nocapture --ignored of_all_sizes
part claims-simulated "$result" env SUPERSTEP_TEST_SEEDS="$(many 2 2)" $release --test suite
part claims-late "$result" env SUPERSTEP_TEST_FAULTS=delay,stall SUPERSTEP_TEST_SEEDS="$(many 1 1)" $release --test suite -- --skip elsewhere
part claims-processes "$result" $release --test suite -- --ignored --nocapture processes_of_all_sizes
part claims-counted "$result" $release --test suite -- --ignored --nocapture counted_on_threads
part claims-mpi "$result" $release --test suite -- --ignored --nocapture --test-threads=1 holds_under_open_mpi holds_under_mpich
part faults-simulated "$result" env SUPERSTEP_TEST_SEEDS="$(many 10 10)" $release --test faults -- --nocapture
part faults-processes "$result" bash -c "$release --test procs --test waits &&
  $random SUPERSTEP_FAULTS=$((minutes * 10 / 3 + 1)) $release --test mayhem -- --nocapture forked"
part faults-mpi "$result" bash -c "$release --test mpi &&
  $random SUPERSTEP_FAULTS=$((minutes / 15 + 1)) $release --test mayhem -- --nocapture --test-threads=1 of_open_mpi of_mpich"
part schedules "$result" env RUSTFLAGS="--cfg loom" cargo test --release --package superstep-fabric --lib --target-dir target/loom loom -- --include-ignored
part large "$result" bash -c "SUPERSTEP_TEST_SEEDS=1 $release --test suite -- --ignored a_reduction_of_more &&
  $release --test mpi -- --ignored --skip programs::program &&
  cargo test --release --quiet --package superstep-bsp --test bsp -- --ignored"
part hosts "$result|host" bash -c "./hosts.sh up 4 && ./hosts.sh claims && ./hosts.sh cutoff 4 && ./hosts.sh heal 4; ended=\$?; ./hosts.sh down; exit \$ended"
part bsp "$result" cargo test --release --quiet --package superstep-bsp
part miri "$result" checks/miri.sh "$((minutes / 12))"
part sanitizers "$result" checks/sanitizers.sh
part fuzz 'DONE|stat::number|==' checks/fuzz.sh "$((minutes * 2))"
part mutants 'caught|: replace|: delete' checks/mutants.sh "$((minutes / 4))"
part soak 'supersteps|memory|descriptors|threads' target/release/superstep soak --minutes "$((minutes / 10))"
part soak-processes 'supersteps|memory|descriptors|threads' target/release/superstep soak --fabric procs --minutes "$((minutes / 30))"

if [ ${#asked[@]} -eq 0 ]; then
  {
    echo "# Campaign"
    echo
    echo "Commit $(git rev-parse --short HEAD) of $(git log -1 --format=%cs), $(nproc) cores ($(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)),"
    echo "$(rustc --version). Seeds of random programs begin at $seed. It took $(((SECONDS - began) / 60)) minutes, builds included."
    echo
    echo "| part | command | what ran | found | time |"
    echo "|---|---|---|---|---|"
    printf '%s' "$rows"
  } >CAMPAIGN.md
  echo "CAMPAIGN.md says what ran, and target/claims.md how often each claim did, and where"
fi
exit $failed
