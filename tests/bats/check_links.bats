# Checked mode, DRASYNC_CHECK=links: what is said of each mistake is the text in
# tests/reports (check.bats says how to write those anew).

load common
load hosts
load check

setup() {
  export DRASYNC_CHECK=links
}

# ends MISTAKE: that ends a job of two ranks, with this report, whatever a node is.
ends() {
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    run mpi 2 "$programs/check_links" "$1"
    assert_failure
    is_reported "links_$1"
  done
}

# passes PROGRAM: nothing is said of that.
passes() {
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    run -0 mpi 2 "$programs/check_links" "$1"
    assert_output over
  done
}

# The same on two hosts, a rank each.
ends_on_hosts() {
  run hosts_run 2 "$programs/check_links" "$1"
  assert_failure
  is_reported "links_$1"
}

passes_on_hosts() {
  run -0 hosts_run 2 "$programs/check_links" "$1"
  assert_output over
}

@test "a pointer without a link is found when its region is released" {
  ends none
  ends handle
}

@test "and when it is given to a rank, or lies in a subregion" {
  ends give
  ends below
}

@test "and where the link was taken away again, but not the pointer" {
  ends unlinked
  passes cleared
}

@test "one pointer among many that have links is found" {
  ends many
}

@test "between hosts, too" {
  needs_hosts
  ends_on_hosts none
  ends_on_hosts give
  passes_on_hosts right
  passes_on_hosts there
}

@test "a program that links, or has weak handles, is told nothing" {
  passes right
  passes weak
}

@test "a link that another node made is known" {
  passes there
}

@test "regions that are not managed have no links, and need none" {
  passes plain_from
  passes plain_to
}

@test "a hold that ends while another one for WRITE goes on is too early" {
  passes nested
}

@test "with DRASYNC_CHECK_ACTION=continue a link is told of once" {
  export DRASYNC_CHECK_ACTION=continue
  run -0 mpi 2 "$programs/check_links" again
  assert_line over
  [ "$(grep -c "has no link to" <<<"$output")" = 1 ]
}

@test "pointers into more regions than are looked at are said to be so many" {
  run -0 mpi 2 "$programs/check_links" many_right
  assert_line over
  assert_line --partial "has addresses of more than 1024 other regions"
  refute_line --partial "has no link to"
}

@test "it is not looked at if that is not said" {
  for DRASYNC_CHECK in objects all; do
    export DRASYNC_CHECK
    run -0 mpi 2 "$programs/check_links" none
    assert_output over
  done
}

@test "beside all other checks it finds the same" {
  DRASYNC_CHECK=access,objects,pointers,deadlock,links
  passes right
  passes there
  ends none
}
