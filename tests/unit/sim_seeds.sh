#!/bin/sh
# A fixed set of seeds, and one run with 4,096 nodes.
set -eu
"$abs_top_builddir/sim/simulate" seeds 1 4000
"$abs_top_builddir/sim/simulate" references 1 4000
# In these something was found once, and they are too long for a script.
for seed in 246 5400 151032 221906 396511 1006202 \
    1521590 1595955 2169620 50006047 50131251; do
    "$abs_top_builddir/sim/simulate" seeds $seed $seed
done
"$abs_top_builddir/sim/simulate" nodes 4096 1
