# For Bats files about jobs that hang: `load common` first.

# How a report of what lasts begins, with DRASYNC_STALL_S=1.
head="drasync: rank N (HOST): a wait lasts for 1 s or more (DRASYNC_STALL_S); \
what ranks wait for:"

# hangs_until PATTERN COMMAND...: run the job COMMAND, whose program hangs until
# the file $over appears; once a line that matches PATTERN is there, let it go on.
# Its status, and its output in $output, as `run` has them; only our lines, masked.
hangs_until() {
  local pattern=$1 said=$BATS_TEST_TMPDIR/said pid
  shift
  rm -f "$over"
  : >"$said" # what the job before said is not this one's
  "$@" >"$said" 2>&1 3>&- &
  pid=$!
  await $pid grep -q -- "$pattern" "$said" || true # the test sees what it said
  [ -z "${while_it_hangs:-}" ] || $while_it_hangs
  : >"$over"
  status=0
  wait $pid || status=$?
  output=$(grep '^drasync:' "$said" | masked)
}

# hang_until PATTERN NAME...: once each of these jobs, which `beside` has started, has
# a line that matches PATTERN, let them go on.  Afterwards said_by NAME has the status
# and the output of one of them.
hang_until() {
  local pattern=$1 name
  shift
  declare -gA status_with=()
  for name; do
    await "${beside_as[$name]}" grep -q -- "$pattern" \
      "$BATS_TEST_TMPDIR/beside.$name" || true # the test sees what it said
  done
  : >"$over"
  for name; do
    ended "$name"
    status_with[$name]=$status
  done
}

# all_hang_until NODES PATTERN COMMAND...: the same of a job with each of these values
# of DRASYNC_NODE, which is its name.
all_hang_until() {
  local nodes=$1 pattern=$2 node
  shift 2
  rm -f "$over"
  for node in $nodes; do
    DRASYNC_NODE=$node beside "$node" "$@"
  done
  # shellcheck disable=SC2086 # names
  hang_until "$pattern" $nodes
}

said_by() {
  status=${status_with[$1]}
  output=$(grep '^drasync:' "$BATS_TEST_TMPDIR/beside.$1" | masked)
}

# What differs between runs: addresses, processes, hosts, times, lines of the
# program; and which ranks of several come first.
masked() {
  sed -E -e 's/0x[0-9a-f]+/ADDRESS/g' -e 's/process [0-9]+/process P/g' \
    -e 's/since [0-9]+ s/since T s/g' -e "s/\\b$(uname -n)\\b|\\b[a-z]{2,4}[12]\\b,/HOST/g" \
    -e 's/(HOST) process/\1, process/; s/HOST,,/HOST,/g' \
    -e 's/\((\w+\.c):[0-9]+\)/(\1:LINE)/g' \
    -e 's/^drasync: rank [0-9]+ \([^)]*\)/drasync: rank N (HOST)/'
}

# same TEXT: $output is that.
same() {
  [ "$output" = "$1" ] || {
    printf 'expected:\n%s\nsaid:\n%s\n' "$1" "$output"
    return 1
  }
}
