# For the Bats files of applications in two forms: `load common` first, set
# `app`, the name of the application and its folder, then `load app`.  The
# file's hosts are there from its first test on.

load hosts

setup_file() {
  hosts_up
}

teardown_file() {
  hosts_down
}

# The real program of a form, not libtool's script.
form() { # FORM
  local program=$abs_top_builddir/programs/$app/${app}_$1
  local real=${program%/*}/.libs/${program##*/}
  if [ -x "$real" ]; then echo "$real"; else echo "$program"; fi
}

# What forms_agree tries.
rank_counts="1 2 3 4"

# What the result line of a form's job is, with the answer in parentheses.  A
# file whose programs print another one has its own.
result_line() { # FORM RANKS
  echo "^${app}_$1 answer=([0-9a-f]{16}) seconds=[0-9.]+ ranks=$2 "
}

# The answer in the result line of a form's job, its only line.
answer_of() { # FORM RANKS
  local expected
  expected=$(result_line "$1" "$2")
  assert_equal "${#lines[@]}" 1
  assert_output --regexp "$expected"
  [[ $output =~ $expected ]]
  answer=${BASH_REMATCH[1]}
}

# form_answers ANSWER FORM RANKS
form_answers() {
  answer_of "$2" "$3"
  assert_equal "$answer" "$1"
}

# expect_answer_of FORM RANKS ARGUMENTS...: what others are compared with, in
# `expected`; the job runs once a file.
expect_answer_of() {
  local form=$1 ranks=$2 node=${DRASYNC_NODE:-} known
  [ "$form" = native ] || node= # the other knows none of ours
  known=$BATS_FILE_TMPDIR/$(printf '%s\n' "$node" "${MPIR_CVAR_NOLOCAL:-}" \
    "$@" | md5sum | cut -d " " -f 1)
  shift 2
  if [ ! -s "$known" ]; then
    run -0 mpi "$ranks" "$(form "$form")" "$@"
    answer_of "$form" "$ranks"
    echo "$answer" >"$known"
  fi
  expected=$(cat "$known")
}

# forms_agree ARGUMENTS...: with 1 to 4 ranks.  One alone is a node anyway.
forms_agree() {
  local n expected
  for n in $rank_counts; do
    [ "$n,${DRASYNC_NODE:-}" != 1,rank ] || continue
    expect_answer_of mpi "$n" "$@"
    run -0 mpi "$n" "$(form native)" "$@"
    form_answers "$expected" native "$n"
  done
}

# forms_agree_on_hosts ARGUMENTS...: the native form on two hosts and the other
# on one, since plain MPI over TCP may stay in MPI_Finalize.
forms_agree_on_hosts() {
  local n expected
  needs_hosts
  for n in 2 4; do
    expect_answer_of mpi "$n" "$@"
    run -0 hosts_run "$n" "$(form native)" "$@"
    form_answers "$expected" native "$n"
  done
}

# by_hand_on_hosts ARGUMENTS...: the form on MPI, for programs that do something
# else between hosts.  Its line is there before MPI_Finalize, where the job may
# stay: it is not waited for, and goes with the hosts.
by_hand_on_hosts() {
  local n expected
  needs_hosts
  for n in 2 4; do
    expect_answer_of native "$n" "$@"
    output=
    read -r output < <(hosts_run "$n" "$(form mpi)" "$@" 2>/dev/null) || true
    lines=("$output")
    form_answers "$expected" mpi "$n"
  done
}

# refused MESSAGE ARGUMENTS...: by both forms, in one line.  Where ranks end at
# once MPICH's mpirun now and then writes to a proxy that has ended, and dies of
# SIGPIPE (141), also with programs that are MPI's alone: then once more.
refused() {
  local name i
  for name in mpi native; do
    for i in 1 2 3; do
      run mpi 2 "$(form "$name")" "${@:2}"
      [ "$status" -eq 141 ] || break
    done
    assert_equal "$status" 2
    assert_output "${app}_$name: $1 (see --help)"
  done
}
