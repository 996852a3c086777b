# For the Bats files of the DART front that have tests on two hosts: `load common`
# first, then `load dart_hosts`.  The file's hosts are there from its first test on.

load dart
load hosts

setup_file() {
  hosts_up
}

teardown_file() {
  hosts_down
}
