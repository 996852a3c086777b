#!/bin/sh
# All runs of the model of the ownership protocol with an operation for each rank
# are in order, and a run of the code is a run of the model (scripts/campaign model
# tries more).
set -eu
top=${abs_top_srcdir:-.}
command -v spin >/dev/null || {
  echo "no spin (Debian: apt-get install spin)"
  exit 77
}
"$top/scripts/model" check
export SIMULATE="${abs_top_builddir:-.}/sim/simulate"
"$top/scripts/model" replay "$top/tests/model/parts.txt"
