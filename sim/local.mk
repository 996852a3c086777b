EXTRA_DIST += sim/faults.h
