# Registrations that units of the DART front take back one by one.

load common
load dart_hosts

@test "units take registrations back one by one" {
  units_on_a_node dart_unequal
}

@test "units take registrations back one by one, each unit being a node" {
  units_as_nodes dart_unequal
}

@test "units take registrations back one by one, on two hosts" {
  units_on_hosts dart_unequal
}
