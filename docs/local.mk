EXTRA_DIST += docs/architecture.md docs/protocol.md
