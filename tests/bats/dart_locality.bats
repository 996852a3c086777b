# Where units run: trees of locality domains.

load common
load dart_hosts

@test "units of a host are in its domain, each in a core" {
  units_on_a_node dart_locality
}

@test "nodes of their own do not change what hardware there is" {
  units_as_nodes dart_locality
}

@test "hosts of different names are different nodes" {
  units_on_hosts dart_locality hosts 2
}
