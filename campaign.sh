#!/usr/bin/env bash
# The long tests: random programs, mistakes, faults, schedules, memory checks, fuzzing, mutants and a soak, within a given
# time. Each part has a share of it, and goes on in rounds, with new seeds, until its share is over. What ran, how many and
# what was found is written to CAMPAIGN.md; where parts are named, behind what is there.
# Usage: ./campaign.sh [minutes, 60 unless given] [part...]
# What is built counts, too: `./campaign.sh 1 build` does that beforehand.
set -uo pipefail
cd "$(dirname "$0")"
minutes=${1:-60}
shift || true
asked=("$@")
case $minutes in
  '' | *[!0-9]* | 0) sed -n '2,6s/^# //p' "$0"; exit 2 ;;
esac
seed=${SUPERSTEP_RANDOM_SEED:-$(date +%s)}
logs=target/campaign-logs
rm -rf "$logs"
mkdir -p "$logs"
commit=$(git rev-parse --short HEAD) rows="" failed=0 began=$SECONDS
# Optimised a little, with all checks of a debug build: what takes minutes to optimise further runs no faster for that.
campaign="cargo test --profile campaign --quiet"
claims="$campaign --package superstep"

# What the log of a part comes to: how many of each thing there were, and the lines that say more.
sum_up() {
  local log=$1 lines=$2
  grep -oE '[0-9]+ (programs|mutants|faults|sequences of calls|calls|passed)\b' "$log" |
    awk '$1 > 0 { n = $1; $1 = ""; all[$0] += n } END { for (thing in all) print all[thing] thing }' | sort
  grep -oE 'number_of_executed_units: *[0-9]+' "$log" | awk '{ all += $2 } END { if (all) print all " inputs" }'
  [ -z "$lines" ] || grep -E "$lines" "$log" | tail -n 8
}

# Does one part: how often it may begin (`rounds`, or `once`), its name, its share of the time, which lines of its output
# say more, and the command. What a part does not need is left to those behind it. A round finds its number in $round,
# the seconds of the part in $seconds, and seeds of its own in the environment. What is cut off by the time is no failure,
# and said.
part() {
  local way=$1 name=$2 share=$3 lines=$4 start=$SECONDS status=0 round=0 end left
  shift 4
  if [ ${#asked[@]} -gt 0 ] && [[ " ${asked[*]} " != *" $name "* ]]; then return; fi
  if [ -n "$counting" ]; then
    shares=$((shares + share))
    return
  fi
  end=$((SECONDS + (deadline - SECONDS) * share / shares))
  shares=$((shares - share))
  printf '\n== %s, for %d s\n' "$name" $((end - SECONDS))
  while :; do
    left=$((end > SECONDS ? end - SECONDS : 0))
    # What has begun has half a minute at least, and a round that is about to end may end.
    SUPERSTEP_RANDOM_SEED=$((seed + 1000000 * round)) SUPERSTEP_SEQUENCES_FROM=$((seed + 1000000 * round)) \
      round=$round seconds=$left \
      timeout --kill-after=20 $((left + left / 5 + 30)) bash -c "$*" >>"$logs/$name.log" 2>&1 || status=$?
    round=$((round + 1))
    if [ $status -ne 0 ] || [ "$way" = once ] || [ $SECONDS -ge $end ]; then break; fi
  done
  local found="nothing"
  if [ $status -eq 124 ] || [ $status -eq 137 ]; then
    found="nothing; cut off by the time"
  elif [ $status -ne 0 ]; then
    found="**ended with $status**"
    failed=1
    tail -n 30 "$logs/$name.log"
  fi
  local what
  what=$(sum_up "$logs/$name.log" "$lines" | sed 's/|/,/g' | paste -sd ';' - | sed 's/;/; /g')
  rows+="| $name | \`$(echo "$*" | tr -s "\n " " " | sed 's/|/\\|/g')\` | $round | ${what:-no line said how many} | $found | $((SECONDS - start)) s |"$'\n'
  echo "$round rounds: ${what:-no line said how many}; found: $found; $((SECONDS - start)) s"
}

# A simulation uses one core: two of them run at a time, with seeds of their own.
twice() {
  local first status=0
  "$@" &
  first=$!
  SUPERSTEP_RANDOM_SEED=$((SUPERSTEP_RANDOM_SEED + 500000)) "$@" || status=$?
  wait "$first" || status=$?
  return $status
}
export -f twice

random="$claims --test random -- --nocapture"
everything() {
  part rounds random-threads 32 "" "SUPERSTEP_RANDOM_CASES=5000 $random threads_are"
  part rounds random-long 8 "" "SUPERSTEP_TEST_LONG=1 SUPERSTEP_RANDOM_CASES=2000 $random simulated_processors"
  part rounds random-processes 40 "" "SUPERSTEP_RANDOM_CASES=2000 $random processes_are"
  part rounds random-mistakes 24 "" "SUPERSTEP_RANDOM_CASES=1000 $random a_mistake_ends"
  part rounds random-conflicts 4 "with a conflict" "SUPERSTEP_RANDOM_CASES=1000 $random conflicts_are"
  part rounds random-mpi 50 "" "SUPERSTEP_RANDOM_CASES=100 $random --ignored of_all_sizes"
  part rounds random-neststep 18 "" "SUPERSTEP_NESTSTEP_PROGRAMS=100 SUPERSTEP_NESTSTEP_SEED=\$SUPERSTEP_RANDOM_SEED $campaign --package neststep --test random -- --nocapture"
  part rounds faults-mpi 35 "" "SUPERSTEP_FAULTS=1 $claims --test mayhem -- --nocapture --test-threads=1 of_open_mpi of_mpich && $claims --test mpi"
  part rounds faults-simulated 8 "" "SUPERSTEP_TEST_SEEDS=20 SUPERSTEP_TEST_SEED=\$((1 + 20 * round)) $claims --test faults -- --nocapture"
  part rounds restarts 30 "" "SUPERSTEP_KILLS=100 $claims --test restarts -- --nocapture && SUPERSTEP_KILLS=12 $campaign --package superstep-cli --test restarts -- --nocapture"
  part once soak 70 "supersteps|memory|descriptors|threads" "target/release/superstep soak --minutes \$((seconds / 60 > 1 ? seconds / 60 : 1))"
  part once soak-processes 20 "supersteps|memory|descriptors|threads" "target/release/superstep soak --fabric procs --minutes 1"
  part once mutants 60 "^caught|: replace|: delete" "checks/mutants.sh \$((seconds / 60 > 1 ? seconds / 60 : 1))"
  part once claims-elsewhere 20 "claims" "$claims --test suite -- --nocapture elsewhere &&
    $claims --test suite -- --ignored --nocapture counted_on_threads"
  part once claims-mpi 16 "claims" "$claims --test suite -- --ignored --nocapture --test-threads=1 holds_under_open_mpi holds_under_mpich"
  part rounds claims-simulated 20 "" "SUPERSTEP_TEST_SEEDS=2 SUPERSTEP_TEST_SEED=\$((1 + 2 * round)) $claims --test suite -- --skip elsewhere"
  part rounds claims-late 15 "" "SUPERSTEP_TEST_FAULTS=delay,stall SUPERSTEP_TEST_SEEDS=1 SUPERSTEP_TEST_SEED=\$((1 + round)) $claims --test suite -- --skip elsewhere"
  part once waits 15 "" "$claims --test waits"
  part once schedules 70 "" "RUSTFLAGS='--cfg loom' cargo test --release --package superstep-fabric --lib --target-dir target/loom loom -- --include-ignored"
  part rounds schedules-tried 3 "" "SUPERSTEP_SCHEDULES=5000 RUSTFLAGS='--cfg shuttle' cargo test --release --package superstep-fabric --lib --target-dir target/shuttle shuttle"
  part once large 60 "" "SUPERSTEP_TEST_SEEDS=1 $claims --test suite -- --ignored a_reduction_of_more &&
    $claims --test mpi -- --ignored --skip programs::program &&
    $campaign --package superstep-bsp --test bsp -- --ignored"
  part once hosts 45 "host" "trap './hosts.sh down' EXIT; ./hosts.sh up 4 && ./hosts.sh claims && ./hosts.sh cutoff 4 && ./hosts.sh heal 4"
  part once aarch64 30 "" "checks/aarch64.sh"
  part once instructions 5 "instructions" "bench/instructions.sh"
  part once bsp 75 "" "$campaign --package superstep-bsp"
  part once miri 60 "parts ran" "checks/miri.sh \$((seconds / 60 + 1))"
  part once sanitizers 60 "claims hold|sequences of calls" "checks/sanitizers.sh"
  part once fuzz 60 "" "checks/fuzz.sh \$((seconds / 8 + 1))"
  # Whatever the others have left is for those of whom there should be most.
  part rounds faults-processes 196 "" "SUPERSTEP_FAULTS=20 $claims --test mayhem -- --nocapture forked && $claims --test procs"
  part rounds random-simulated 300 "" "SUPERSTEP_RANDOM_CASES=20000 twice $random simulated_processors"
}

# What the parts run is built before the first of them, by the same commands, so that none is cut off while it builds: packages
# that are built together have more features than each alone.
export SUPERSTEP_HOSTS_PROFILE=campaign
counting="" shares=1 deadline=$((SECONDS + 36000))
part once build 1 "" "cargo build --release --package superstep-cli --package superstep-loops && $claims --no-run &&
  $campaign --package superstep-bsp --no-run && $campaign --package neststep --test random --no-run &&
  $campaign --package superstep-cli --test restarts --no-run &&
  RUSTFLAGS='--cfg loom' cargo test --release --quiet --package superstep-fabric --lib --target-dir target/loom --no-run &&
  RUSTFLAGS='--cfg shuttle' cargo test --release --quiet --package superstep-fabric --lib --target-dir target/shuttle --no-run &&
  checks/aarch64.sh build && checks/miri.sh build && checks/fuzz.sh build && checks/mutants.sh 0"
deadline=$((began + minutes * 60))
# Where builds took most of the time, there is half of it all the same.
[ $((deadline - SECONDS)) -gt $((minutes * 30)) ] || deadline=$((SECONDS + minutes * 30))
shares=0 counting=yes
everything
counting=""
if [ $shares -eq 0 ] && [[ " ${asked[*]} " != *" build "* ]]; then
  echo "no part is called ${asked[*]}" >&2
  exit 2
fi
everything

if [ ${#asked[@]} -gt 0 ]; then
  {
    echo
    echo "Again: \`./campaign.sh $minutes ${asked[*]}\`, commit $commit of $(git log -1 --format=%cs "$commit")."
    echo
    echo "| part | command | rounds | what ran | found | time |"
    echo "|---|---|---|---|---|---|"
    printf '%s' "$rows"
  } >>CAMPAIGN.md
else
  {
    echo "# Campaign"
    echo
    echo "Commit $commit of $(git log -1 --format=%cs "$commit"), $(nproc) cores ($(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)),"
    echo "$(rustc --version). Seeds of random programs begin at $seed, a million further in each round. It took"
    echo "$(((SECONDS - began) / 60)) minutes, builds included. \`./campaign.sh $minutes\` does it again."
    echo
    echo "| part | command | rounds | what ran | found | time |"
    echo "|---|---|---|---|---|---|"
    printf '%s' "$rows"
  } >CAMPAIGN.md
  echo "CAMPAIGN.md says what ran, and target/claims.md how often each claim did, and where"
fi
exit $failed
