EXTRA_DIST += scripts/setup.bash scripts/quickstart scripts/check \
	scripts/check-sanitizers scripts/cluster
