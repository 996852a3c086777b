#!/bin/sh
# A fixed set of seeds, and one run with 4,096 nodes.
set -eu
"$abs_top_builddir/sim/simulate" seeds 1 4000
"$abs_top_builddir/sim/simulate" nodes 4096 1
