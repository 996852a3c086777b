#!/bin/sh
# Where the tests of interleavings cannot be built: say why.
echo "the code under test is compiled with -fsanitize=thread, which this" \
  "compiler does not know, or which cannot be had beside the sanitizers of" \
  "this build (${DRASYNC_SANITIZERS:-none})"
exit 77
