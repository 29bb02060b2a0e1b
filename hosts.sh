#!/usr/bin/env bash
# Several hosts on one machine, for tests: network namespaces, each with an address, a hostname and a /dev/shm of its own,
# joined by a bridge. Needs root, iproute2 and Open MPI.
#
#   ./hosts.sh up 4                  makes hosts superstep1 to superstep4
#   ./hosts.sh run 4 PROGRAM ...     runs four processes of a program on them, dealt round, over TCP
#   ./hosts.sh claims                runs the suite of claims on them
#   ./hosts.sh cutoff 4              runs a program on them and cuts the last one off: all others must say so and end
#   ./hosts.sh heal 4                the same, but the last one is joined again in time: all must end well
#   ./hosts.sh cut 3                 cuts host 3 off; mend joins it again
#   ./hosts.sh down                  removes them all
set -euo pipefail

bridge=superstep0
# How the tests are built that run on the hosts.
profile=${SUPERSTEP_HOSTS_PROFILE:-dev}
name() { echo "superstep$1"; }

up() {
  down
  ip link add "$bridge" type bridge
  ip link set "$bridge" up
  for host in $(seq "$1"); do
    ip netns add "$(name "$host")"
    ip link add "superstep-e$host" type veth peer name eth0 netns "$(name "$host")"
    ip link set "superstep-e$host" master "$bridge" up
    ip -n "$(name "$host")" addr add "10.77.0.$host/24" dev eth0
    ip -n "$(name "$host")" link set eth0 up
    ip -n "$(name "$host")" link set lo up
  done
}

down() {
  for host in $(ip netns list | awk '/^superstep[0-9]/ { print $1 }'); do
    ip netns pids "$host" | xargs -r kill -9 2>/dev/null || true
    ip netns delete "$host"
  done
  for link in $(ip -o link | awk -F'[ :@]+' '/superstep-e[0-9]/ { print $2 }'); do ip link delete "$link" 2>/dev/null || true; done
  if ip link show "$bridge" >/dev/null 2>&1; then ip link delete "$bridge"; fi
}

# What mpirun calls instead of ssh: enters the host and runs the command there.
agent() {
  host=$1
  shift
  inside "$host" sh -c "$*"
}

# Runs a command in a host, with a hostname and a /dev/shm of its own.
inside() {
  host=$1
  shift
  exec ip netns exec "$host" unshare --uts --mount sh -c \
    'hostname "$0" && mount -t tmpfs tmpfs /dev/shm && exec "$@"' "$host" "$@"
}

run() {
  count=$1
  shift
  there=$(ip netns list | grep -c '^superstep[0-9]')
  used=$((count < there ? count : there))
  hosts=$(for host in $(seq "$used"); do printf '%s:%s,' "$(name "$host")" $(((count + used - 1) / used)); done)
  inside "$(name 1)" mpirun.openmpi --allow-run-as-root -n "$count" --host "${hosts%,}" \
    --mca plm_rsh_agent "$here agent" --mca orte_keep_fqdn_hostnames 1 \
    --mca pml ob1 --mca btl self,vader,tcp --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
    $(env | awk -F= '/^SUPERSTEP_|^RUST_/ { printf "-x %s ", $1 }') "$@"
}

# The executable of one of the library's tests.
executable() {
  cargo test --profile "$profile" --package superstep --test "$1" --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*'"$1"'-[^"]*\)".*/\1/p' | tail -n 1
}

# The suite of claims across hosts.
claims() {
  cd "$(dirname "$here")"
  SUPERSTEP_TEST_LAUNCHER="$here run" cargo test --profile "$profile" --package superstep --test suite -- --ignored --nocapture \
    launcher_of_the_user
}

# Waits until so many processes have said in the log that they step.
begun() {
  for _ in $(seq 300); do
    if [ "$(grep -a -c "pid [0-9]" "$log")" -ge "$1" ]; then
      sleep 1
      return
    fi
    sleep 0.1
  done
}

# A program that steps for ever, of which the last host is cut off: all others must say so and end.
cutoff() {
  cd "$(dirname "$here")/crates/superstep"
  program=$(executable mpi)
  log=$(mktemp)
  (begun "$1" && ip link set "superstep-e$1" down) &
  export SUPERSTEP_PEER_TIMEOUT=5 SUPERSTEP_TEST_PROGRAM=loop
  # The launcher does not notice that it is cut off from one of its own, so it is ended.
  timeout 30 "$here" run "$1" "$program" programs::program --exact --ignored --nocapture >"$log" 2>&1 || true
  wait
  ip link set "superstep-e$1" up
  lost="process $(($1 - 1)) on superstep$1"
  if [ "$(grep -a -c "PeerLost.*$lost" "$log")" -ne $(($1 - 1)) ]; then
    tail -n 30 "$log"
    echo "not all have noticed that $lost was cut off"
    exit 1
  fi
  grep -a -m 1 "PeerLost.*$lost" "$log"
}

# The same program, of which the last host is cut off for less time than a peer may be silent: it is named, heard again,
# and all end well.
heal() {
  cd "$(dirname "$here")/crates/superstep"
  program=$(executable mpi)
  log=$(mktemp) stop=$(mktemp -u)
  export SUPERSTEP_PEER_TIMEOUT=120 SUPERSTEP_TEST_PROGRAM=loop SUPERSTEP_TEST_STOP=$stop
  # TCP sends again at growing intervals, so what was cut for 15 s may need as long once more.
  (begun "$1" && ip link set "superstep-e$1" down && sleep 15 && ip link set "superstep-e$1" up && sleep 2 && touch "$stop") &
  ended=0
  timeout 200 "$here" run "$1" "$program" programs::program --exact --ignored --nocapture >"$log" 2>&1 || ended=$?
  wait
  rm -f "$stop"
  peer="process $(($1 - 1)) on superstep$1"
  if [ $ended -ne 0 ] || [ "$(grep -a -c "loop ended" "$log")" -ne "$1" ]; then
    tail -n 30 "$log"
    echo "the run has not ended well after $peer was cut off for a while: $ended"
    exit 1
  fi
  grep -a -m 1 "nothing was heard from $peer" "$log"
  grep -a -m 1 "$peer is heard again" "$log"
  echo "all $1 hosts have ended well after one was cut off and joined again"
}

here=$(readlink -f "$0")
case "${1:-}" in
  up) up "${2:?how many hosts}" ;;
  down) down ;;
  run) shift; run "$@" ;;
  claims) claims ;;
  cutoff) cutoff "${2:?how many hosts}" ;;
  heal) heal "${2:?how many hosts}" ;;
  cut) ip link set "superstep-e${2:?which host}" down ;;
  mend) ip link set "superstep-e${2:?which host}" up ;;
  agent) shift; agent "$@" ;;
  *) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
