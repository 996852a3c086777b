#!/bin/sh
# The scenarios print what their files say, and nothing is found in the scripts,
# in which something was found once.
set -eu
status=0
count=0
for scenario in "$abs_top_srcdir"/tests/scenarios/*.txt; do
    count=$((count + 1))
    name=$(basename "$scenario" .txt)
    grep -vE '^(#|[a-z-]+ [0-9]+$|$)' "$scenario" >"scenario.$$.want"
    if ! "$abs_top_builddir/sim/simulate" scenario "$scenario" \
        >"scenario.$$.got"; then
        echo "$name: something was found"
        status=1
    fi
    diff -u "scenario.$$.want" "scenario.$$.got" || {
        echo "$name: other messages than expected"
        status=1
    }
done
for script in "$abs_top_srcdir"/tests/scenarios/*.script; do
    count=$((count + 1))
    "$abs_top_builddir/sim/simulate" script "$script" || status=1
done
rm -f "scenario.$$.want" "scenario.$$.got"
[ "$count" -gt 0 ] || status=1
echo "$count scenarios and scripts"
exit $status
