# Sourced by scripts/bench for --apps: applications in two forms that share
# their numerical code, PROGRAM_native on DRASync (or another form, for those that
# name one) and PROGRAM_mpi by hand, are run in turns on a node and between hosts.
#
# A form prints one line, "PROGRAM_FORM answer=HEX16 seconds=S ..."; or, where it
# has more than these two forms, "PROGRAM ... hash=HEX16 ... seconds=S ...".

# NAME|FOLDER/PROGRAM|arguments, of which data/FILE is in the source tree|more
# arguments with --tiny|form on DRASync, if not native
apps=(
  "kv_single|kv/kv|--single|--tiny"
  "kv_single_skew|kv/kv|--single --skew 0.99|--tiny"
  "kv_single_run|kv/kv|--single|--tiny|run"
  "kv_single_skew_run|kv/kv|--single --skew 0.99|--tiny|run"
  "kv_batch|kv/kv|--batch 4096|--tiny"
  "kv_batch_skew|kv/kv|--batch 4096 --skew 0.99|--tiny"
  "kv_batch_run|kv/kv|--batch 4096|--tiny|run"
  "pipeline|pipeline/pipeline||--tiny"
  "cg|cg/cg||--tiny"
  "graph_pagerank|graph/graph|--roots 0|--tiny"
  "graph_bfs|graph/graph|--iterations 0|--tiny"
  "octree|octree/octree||--tiny"
  "steal|steal/steal||--tiny"
  "delaunay|delaunay/delaunay|data/cities.csv|"
  "barnes_hut|barnes_hut/barnes_hut|data/solar-system.csv|--steps 1"
  "barnes_hut_sphere|barnes_hut/barnes_hut|--plummer 20000|--plummer 1000 --steps 1"
)

# RANKSxHOSTS
app_ways=(2x1 2x2 4x4)

app_names() { printf '%s\n' "${apps[@]%%|*}"; }

app_of() { # NAME
  local app
  for app in "${apps[@]}"; do
    [ "${app%%|*}" != "$1" ] || {
      echo "$app"
      return
    }
  done
  return 1
}

list_apps() {
  local app name program arguments tiny ours
  for app in "${apps[@]}"; do
    IFS='|' read -r name program arguments tiny ours <<<"$app"
    echo "$name: programs/${program}_${ours:-native} and _mpi${arguments:+ $arguments}"
  done
}

# app_program PROGRAM FORM: the real program, not libtool's script.
app_program() {
  local program=$build/programs/$1_$2
  local real=${program%/*}/.libs/${program##*/}
  if [ -x "$real" ]; then echo "$real"; else echo "$program"; fi
}

# Lines of a form's own files, without comments and empty ones.
app_lines() { # PROGRAM FORM
  perl -0777 -pe 's{/\*.*?\*/}{}gs; s{//.*}{}g' \
    "$top/programs/${1%/*}"/*_"$2"*.[ch] | grep -c '[^[:space:]]'
}

# The job's end, with its status.  A plain MPI job between hosts may stay in
# MPI_Finalize for ever (MPICH 4.0.2 over TCP): its result is there, so it is
# ended then, and what mpirun says to that tells nothing.
app_end() { # PID HOSTS FORM
  local i
  [ "$2" -gt 1 ] && [ "$3" = mpi ] || {
    wait "$1"
    return
  }
  for ((i = 0; i < 30; i++)); do
    kill -0 "$1" 2>/dev/null || break
    sleep 0.1
  done
  kill "$1" 2>/dev/null || true
  wait "$1" || true
}

# app_run NAME FORM HOSTS COMMAND...: "FORM ANSWER SECONDS" of one job.
app_run() {
  local name=$1 form=$2 hosts=$3 from pid line='' answer='' seconds='' status=0
  shift 3
  exec {from}< <(exec timeout -k 5 "$limit_seconds" "$@" </dev/null 2>"$errors")
  pid=$!
  while [ -z "$seconds" ] && read -r line <&"$from"; do
    [[ $line =~ _$form\ answer=([0-9a-f]{16})\ seconds=([0-9.]+)\  ||
      $line =~ \ hash=([0-9a-f]{16})\ .*seconds=([0-9.]+)\  ]] || continue
    answer=${BASH_REMATCH[1]} seconds=${BASH_REMATCH[2]}
  done
  if [ -n "$seconds" ]; then
    app_end "$pid" "$hosts" "$form" || status=$?
  else
    wait "$pid" || status=$?
  fi
  exec {from}<&-
  [ -n "$seconds" ] && [ "$status" = 0 ] || cat "$errors" >&2
  [ "$status" != 124 ] || fail 1 "$name: no result after $limit_seconds s: $*"
  [ "$status" = 0 ] || fail 1 "$name: failed with status $status: $*"
  [ -n "$seconds" ] || fail 1 "$name: no result line: $*"
  echo "$form $answer $seconds"
}

# app_row NAME WAY LINES_NATIVE LINES_MPI FORM: what app_run said, on stdin, as one
# line; status 1 if answers differ.
app_row() {
  sort -g -k 3 | awk -v name="$1" -v way="$2" -v native="$3" -v mpi="$4" \
    -v form="$5" '
    function quantile(of, part,  at, low, high) {
      at = part * (n[of] - 1) + 1
      low = int(at)
      high = low < n[of] ? low + 1 : low
      return t[of, low] + (t[of, high] - t[of, low]) * (at - low)
    }
    function iqr(of) { return quantile(of, 0.75) - quantile(of, 0.25) }
    {
      if (answer == "") answer = $2
      else if (answer != $2) differ = $2
      t[$1, ++n[$1]] = $3 * 1000
    }
    END {
      if (differ != "") {
        print "answers differ: " answer ", " differ
        exit 1
      }
      ours = quantile(form, 0.5)
      theirs = quantile("mpi", 0.5)
      printf "%s %s ratio=%.3g ours=%.4g theirs=%.4g unit=ms runs=%d " \
        "ours_iqr=%.3g theirs_iqr=%.3g lines_native=%d lines_mpi=%d\n", name,
        way, (ours > 0 ? theirs / ours : 0), ours, theirs, n["mpi"],
        iqr(form), iqr("mpi"), native, mpi
    }'
}

# run_app_way NAME WAY: its line, or one that says why there is none.
run_app_way() {
  local name program arguments tiny ours way=$2 ranks=${2%x*} hosts=${2#*x} reason
  local form forms run count=5 line said='' command=() more=()
  IFS='|' read -r name program arguments tiny ours <<<"$(app_of "$1")"
  ours=${ours:-native}
  read -ra command <<<"${MPIRUN:-mpirun}"
  if [ "$hosts" -gt 1 ]; then
    reason=$(no_hosts)
    [ -z "$reason" ] || {
      echo "$name $way skipped: $reason"
      return
    }
    hosts_make "$hosts"
    command=("$top/scripts/cluster" run)
  fi
  [ -z "$tiny_sizes" ] || {
    arguments+=" $tiny"
    count=1
  }
  read -ra more <<<"$arguments"
  more=("${more[@]/#data\//$top/data/}")
  for ((run = 0; run < ${runs:-$count}; run++)); do
    # Neither form is always the first.
    if ((run % 2)); then forms="mpi $ours"; else forms="$ours mpi"; fi
    for form in $forms; do
      line=$(app_run "$name $way" "$form" "$hosts" "${command[@]}" -n "$ranks" \
        "$(app_program "$program" "$form")" "${more[@]}") || exit 1
      said+=$line$'\n'
    done
  done
  hosts_end
  line=$(printf %s "$said" | app_row "$name" "$way" \
    "$(app_lines "$program" "$ours")" "$(app_lines "$program" mpi)" "$ours") ||
    fail 1 "$name $way: $line"
  echo "$line"
}

# A way that fails says so on stderr, and the others are run.
run_app() { # NAME
  local way status=0
  for way in "${app_ways[@]}"; do
    (run_app_way "$1" "$way") || status=1
  done
  return $status
}
