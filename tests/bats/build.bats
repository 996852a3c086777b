#!/usr/bin/env bats

load common

@test "the build made the libraries" {
  assert [ -f "$libs/libdrasync.so" ]
  assert [ -f "$shim" ]
  assert [ -f "$libs/libmyrmics.so" ]
}
