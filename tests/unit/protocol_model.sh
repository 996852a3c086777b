#!/bin/sh
# All runs of the model of the ownership protocol with an operation for each rank
# are in order, and runs of the code are runs of the model.
set -eu
top=${abs_top_srcdir:-.}
command -v spin >/dev/null || {
  echo "no spin (Debian: apt-get install spin)"
  exit 77
}
"$top/scripts/model" check
SIMULATE=${abs_top_builddir:-.}/sim/simulate "$top/scripts/model" replay \
  "$top"/tests/model/*.txt
