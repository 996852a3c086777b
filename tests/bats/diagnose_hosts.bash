# For Bats files about jobs of `stuck` that hang, some on two hosts: `load common`
# first, then `load diagnose_hosts`.

load hosts
load diagnose

setup_file() {
  export program=$abs_top_builddir/tests/programs/stuck
  hosts_up
}

teardown_file() {
  hosts_down
}

setup() {
  export over=$BATS_TEST_TMPDIR/over DRASYNC_STALL_S=1
}
