# Sourced by scripts/figures: the programs' runs, their records and the replay, and
# what messages cost.

# --- Running and replaying ---------------------------------------------------------

program_of() { echo "$build/programs/$1/.libs/$1_myrmics"; }

# seconds COMMAND...: what the program says it took; nothing if it failed or
# took too long.
seconds() {
  ${prefix[@]+"${prefix[@]}"} timeout -k 5 "$limit" "$@" </dev/null \
    2>>"$out/runs.log" | sed -n 's/.* seconds=\([0-9.]*\).*/\1/p' || true
}

median() { # of the numbers on stdin; nothing of none
  sort -n | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'
}

mpirun=${MPIRUN:-mpirun}

# once SYSTEM WORKERS PROGRAM ARGUMENTS...: on this host, in seconds
once() {
  local system=$1 workers=$2 program
  program=$(program_of "$3")
  shift 3
  case $system in
  drasync) seconds env LD_PRELOAD="$shim" "$mpirun" -n "$workers" "$program" "$@" ;;
  drasync-one)
    seconds env LD_PRELOAD="$shim" DRASYNC_NODE=rank \
      "$mpirun" -bind-to core -n "$workers" "$program" "$@"
    ;;
  baseline-one)
    seconds env MYRMICS_SCHEDULERS=1 \
      "$mpirun" -n $((workers + 1)) "$program" "$@"
    ;;
  esac
}

# Is it measured on this host?  Twice as many workers as cores show what the model
# does not know.
is_measured() { # SYSTEM WORKERS
  [ -n "$measure" ] && [ "$1" != baseline-mult ] &&
    [[ $2 -le $cores || ($1 = drasync && $2 -le $((2 * cores))) ]]
}

measure() { # COMMAND...: several times, but once where that takes long
  local i time since
  for ((i = 0; i < repeat; i++)); do
    since=$SECONDS
    time=$("$@")
    echo "$time"
    [ -n "$time" ] && [ $((SECONDS - since)) -lt 5 ] || break
  done | grep . | median
}

# Where the times beside the records are
beside() { echo "$work/$1.$2.$3"; } # NAME SYSTEM WORKERS

# measured NAME SYSTEM WORKERS PROGRAM ARGUMENTS...: as it was beside the records
# of this run, or now
measured() {
  if [ -s "$(beside "$@")" ]; then
    median <"$(beside "$@")"
  else
    measure once "${@:2}"
  fi
}

# measure_beside SYSTEM NAME WORKERS PROGRAM ARGUMENTS...: once, what the records
# of SYSTEM will be compared with.  In turns with them: machines are faster or
# slower for minutes.
measure_beside() {
  local system all=baseline-one
  [ "$1" != drasync ] || all="drasync drasync-one"
  for system in $all; do
    is_measured "$system" "$3" || continue
    once "$system" "${@:3}" >>"$(beside "$2" "$system" "$3")"
  done
}

# Processes that compute, or spin while they wait: the baseline's scheduler too.
busy_of() { # SYSTEM WORKERS
  if [ "$1" = baseline-one ]; then echo $(($2 + 1)); else echo "$2"; fi
}

# DRASync keeps frames in stock up to a part of the memory there is.  As if it
# grew with the workers, 4 GiB for each, as the paper's machine had; what is
# really there ends it earlier.
memory_for() { # WORKERS
  awk -v w="$1" '/^MemTotal/ { m = $2 * 0.9 / 1024; printf "%d", (w * 4096 > m ? w * 4096 : m) }' \
    /proc/meminfo
}

# recorded SYSTEM NAME WORKERS: the name of the records
recorded() { echo "$records/$2.$1.$3"; }

# alone NAME: puts before a command that its records of several workers share one
# core, if the problem computes for long.  With two, workers that compute at the
# same time share the outer cache, which takes a tenth longer where trees fill
# it; and DRASync's always do, while the baseline's wait for each other's sends
# and often have it to themselves.
alone() {
  { "$simulate" replay "$(recorded drasync "$1" 1)" 2>/dev/null || true; } |
    awk -F, -v most="$long_seconds" -v core="$(taskset -pc $$ | sed 's/.*[:,-] *//')" \
      '$6 > most { print "taskset -c " core }'
}

# record SYSTEM NAME WORKERS PROGRAM ARGUMENTS...: unless it is there.  The
# baseline is recorded with one scheduler.  Of up to 64 workers several runs are
# recorded, if they are short, and that in the middle is kept: a single one may be
# disturbed.
record() {
  local file ranks=$3 preload="$libs/libdrasync_record.so" program i run runs=1 since took core=()
  file=$(recorded "$1" "$2" "$3")
  program=$(program_of "$4")
  if [ "$1" = drasync ]; then preload+=" $shim"; else ranks=$((ranks + 1)); fi
  [ ! -e "$file.0" ] || return 0
  say "$2: recording $1 with $3 workers"
  # shellcheck disable=SC2207
  [ "$3" = 1 ] || core=($(alone "$2"))
  if [ "$3" -le $((2 * cores)) ]; then
    runs=$repeat
  elif [ "$3" -le 64 ] && [ "$repeat" -gt 3 ]; then
    runs=3
  fi
  : >"$work/runs"
  for ((i = 0; i < runs; i++)); do
    since=$SECONDS
    [ -n "$(DRASYNC_RECORD=$file.run$i DRASYNC_MEMORY=$(memory_for "$3")M LD_PRELOAD=$preload \
      seconds ${core[@]+"${core[@]}"} "$mpirun" -n "$ranks" "$program" "${@:5}")" ] || break
    echo "$("$simulate" replay "$file.run$i" | cut -d, -f6) $i" >>"$work/runs"
    took=$((SECONDS - since))
    measure_beside "$@"
    [ "$took" -lt 10 ] || break
  done
  i=$(sort -n "$work/runs" | awk '{ v[NR] = $2 } END { if (NR) print v[int((NR + 1) / 2)] }')
  if [ -n "$i" ]; then
    for run in "$file.run$i".*; do mv "$run" "$file.${run##*.}"; done
  else
    say "$2: no record of $1 with $3 workers (see runs.log)"
  fi
  rm -f "$file".run*
}

# replay SYSTEM WORKERS NAME [OPTION...]: its line; nothing without a record
replay() {
  local system=$1 workers=$2 name=$3 how=() of=baseline
  shift 3
  case $system in
  drasync) of=drasync ;;
  drasync-one) of=drasync how=("${one_cost[@]}") ;;
  baseline-one) how=(--request "${request[$name]}") ;;
  baseline-mult) how=(--request "${request[$name]}" --schedulers "$workers") ;;
  esac
  [ -e "$(recorded "$of" "$name" "$workers").0" ] || return 0
  "$simulate" replay "$(recorded "$of" "$name" "$workers")" \
    "${local_cost[@]}" ${how[@]+"${how[@]}"} "$@"
}

# --- What messages cost here ---------------------------------------------------------

# Over a network whose hosts have cores to spare; chosen after wire_latency and
# wire_bandwidth of scripts/bench.
network_cost=(--latency 8 --overhead 1 --bandwidth 1700)

two_hosts=("$top/scripts/cluster" run -genv LD_LIBRARY_PATH "$libs" -genv LD_PRELOAD "$shim" -n 2)

# probe COMMAND...: its lines, or nothing.  The baseline needs a scheduler.
probe() { timeout -k 5 30 "$@" "$build/sim/probe" </dev/null 2>>"$out/runs.log" || true; }

# The lines of several: between hosts that share cores now and then all of a run
# waits for them.
probe_often() { # COMMAND...
  local i times=5
  [ "$mode" != tiny ] || times=1
  for ((i = 0; i < times; i++)); do probe "$@"; done
}

# Of each line of several runs the one in the middle
middle() { # FILE
  sort -k1,1 -k2,2n -k3,3n "$1" |
    awk '$1 " " $2 != of { if (n) print of, line[int((n + 1) / 2)]; of = $1 " " $2; n = 0 }
      { line[++n] = $3 }
      END { if (n) print of, line[int((n + 1) / 2)] }'
}

# A short message on this host, in us: that of the quickest run.  Only the baseline
# has many, and its requests follow each other, where these come out of the blue.
short_message() {
  awk '$1 == "message" && $2 == 64 && (!n++ || $3 < least) { least = $3 }
    END { printf "%.3f", least / 1000 }' "$work/probe.node"
}

# What a region takes longer in FILE than on a node, in us and MB/s, but for
# OVERHEAD us at each end.
region_cost() { # FILE OVERHEAD
  awk -v o="$2" 'NR == FNR { if ($1 == "send") s[$2] = $3; next }
    $1 == "send" { t[$2] = $3 - s[$2] }
    END {
      l = t[64] / 1000 - 2 * o
      b = (t[1048576] - t[64]) / 1000
      printf "--latency %.1f --overhead %s --bandwidth %.0f", (l < 1 ? 1 : l), o, (b > 100 ? 1048576 / b : 10000)
    }' <(middle "$work/probe.node") <(middle "$1")
}

# What is measured of NAME takes the place of what DIR has of it.
put_cost() { # NAME OPTION...
  local old
  old=$(grep -v "^$1," "$out/costs.csv" 2>/dev/null || true)
  printf '%s\n' ${old:+"$old"} "$1,${*:2}" >"$out/costs.csv"
}

probe_node() { probe_often env LD_PRELOAD="$shim" "$mpirun" -n 2 >"$work/probe.node"; }

measure_costs() {
  say "what messages cost"
  probe_node
  probe_often env LD_PRELOAD="$shim" DRASYNC_NODE=rank "$mpirun" -bind-to core -n 2 >"$work/probe.one"
  [ -s "$work/probe.node" ] && [ -s "$work/probe.one" ] ||
    fail 1 "sim/probe does not run (see $out/runs.log)"
  put_cost local --local "$(short_message)"
  put_cost one "--per-node 1 --together $(region_cost "$work/probe.one" 5)"
}

# Between hosts, which are up: beside what is measured there, as these costs are the
# waiting for a core that others have, and that changes from minute to minute.
measure_hosts_cost() {
  # The first job after they came up is slower than others.
  probe "${two_hosts[@]}" >/dev/null
  [ -s "$work/probe.node" ] || probe_node
  probe_often "${two_hosts[@]}" >"$work/probe.hosts"
  [ ! -s "$work/probe.hosts" ] || put_cost hosts "$(region_cost "$work/probe.hosts" 1)"
  read_costs
}

read_costs() {
  # shellcheck disable=SC2207
  local_cost=($(sed -n 's/^local,//p' "$out/costs.csv"))
  # shellcheck disable=SC2207
  one_cost=($(sed -n 's/^one,//p' "$out/costs.csv"))
  # shellcheck disable=SC2207
  hosts_cost=($(sed -n 's/^hosts,//p' "$out/costs.csv"))
  [ ${#hosts_cost[@]} -gt 0 ] || hosts_cost=("${network_cost[@]}")
}

# Measured, or as DIR has it: "NAME,OPTIONS" lines.
costs() {
  [[ -z $measure || (-n $resume && -s $out/costs.csv) ]] || measure_costs
  [ -s "$out/costs.csv" ] || printf '%s\n' "local,--local 0.5" \
    "one,--per-node 1 --together --latency 60 --overhead 5 --bandwidth 2500" >"$out/costs.csv"
  read_costs
}

# What allocation costs a scheduler: with one worker, for with more processes
# than cores each request finds its caches cold.
requests() { # NAME
  request[$1]=$(awk '/^requests/ { printf "%.3f", ($2 ? $3 / $2 : 1000) / 1000 }' \
    "$(recorded baseline "$1" 1).1")
}
