#!/bin/sh
# All runs of the model of the ownership protocol with an operation for each rank
# are in order.
set -eu
top=${abs_top_srcdir:-.}
command -v spin >/dev/null || {
  echo "no spin (Debian: apt-get install spin)"
  exit 77
}
"$top/scripts/model" check
