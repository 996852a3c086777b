EXTRA_DIST += scripts/check
