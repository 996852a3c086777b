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

# The answer in the result line of a form's job, its only line.
answer_of() { # FORM RANKS
  assert_equal "${#lines[@]}" 1
  assert_output --regexp \
    "^${app}_$1 answer=[0-9a-f]{16} seconds=[0-9.]+ ranks=$2 "
  answer=${output#*answer=}
  answer=${answer%% *}
}

# form_answers ANSWER FORM RANKS
form_answers() {
  answer_of "$2" "$3"
  assert_equal "$answer" "$1"
}

# forms_agree ARGUMENTS...: on a node of 1 to 4 ranks.
forms_agree() {
  local n expected
  for n in 1 2 3 4; do
    run -0 mpi "$n" "$(form mpi)" "$@"
    answer_of mpi "$n"
    expected=$answer
    run -0 mpi "$n" "$(form native)" "$@"
    form_answers "$expected" native "$n"
  done
}

# forms_agree_on_hosts ARGUMENTS...: the native form on two hosts and the other
# on one, since plain MPI over TCP may stay in MPI_Finalize.
forms_agree_on_hosts() {
  local n expected
  [ ! -s "$BATS_FILE_TMPDIR/no-hosts" ] ||
    skip "$(cat "$BATS_FILE_TMPDIR/no-hosts")"
  for n in 2 4; do
    run -0 mpi "$n" "$(form mpi)" "$@"
    answer_of mpi "$n"
    expected=$answer
    run -0 hosts_run "$n" "$(form native)" "$@"
    form_answers "$expected" native "$n"
  done
}

# by_hand_on_hosts ARGUMENTS...: the form on MPI, for programs that do something
# else between hosts.  Its line is there before MPI_Finalize, where the job may
# stay: it is not waited for, and goes with the hosts.
by_hand_on_hosts() {
  local n expected
  [ ! -s "$BATS_FILE_TMPDIR/no-hosts" ] ||
    skip "$(cat "$BATS_FILE_TMPDIR/no-hosts")"
  for n in 2 4; do
    run -0 mpi "$n" "$(form native)" "$@"
    answer_of native "$n"
    expected=$answer
    output=
    read -r output < <(hosts_run "$n" "$(form mpi)" "$@" 2>/dev/null) || true
    lines=("$output")
    form_answers "$expected" mpi "$n"
  done
}

# refused MESSAGE ARGUMENTS...: by both forms, in one line.
refused() {
  local name
  for name in mpi native; do
    run -2 mpi 2 "$(form "$name")" "${@:2}"
    assert_output "${app}_$name: $1 (see --help)"
  done
}
