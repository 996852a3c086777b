#!/bin/sh
# Records that are replayed take the time that can be worked out by hand.
set -eu
simulate=${abs_top_builddir:-.}/sim/simulate
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# record NAME RANK RANKS: the lines on stdin
record() {
  { echo "drasync-record 1 rank $2 of $3 node 0"; cat; } >"$1.$2"
}

# is FIELD WANTED OPTIONS...: of the line for `replay OPTIONS`, within 1 %
is() {
  field=$1 wanted=$2
  shift 2
  got=$("$simulate" replay "$@" | cut -d, -f"$field")
  awk -v a="$got" -v b="$wanted" \
    'BEGIN { d = a - b; exit !(d * d <= b * b / 10000) }' ||
    { echo "replay $*: field $field is $got, not $wanted"; exit 1; }
}

# 0 computes 1 ms, sends 17 MB and computes 4 ms; 1 computes 2 ms with them and
# sends them back.
record copy 0 2 <<'LINES'
N 0 0 2 0
S 1000000 0 2 1 17000000
R 4000000 0 2 1 17000000
E 0 0 0
LINES
record copy 1 2 <<'LINES'
R 0 0 2 0 17000000
S 2000000 0 2 0 17000000
E 0 0 0
LINES
is 6 0.005 copy
is 7 0.0035 copy
# Between nodes each way takes 10 ms.
is 6 0.0231 copy --per-node 1 --bandwidth 1700
is 6 0.0131 copy --per-node 1 --bandwidth 3400
is 11 34000000 copy --per-node 1
# On one core all work is done one after the other.
is 6 0.007 copy --cores 1
# A scheduler that takes 1 ms: to make a region, and for the send; then packing.
is 6 0.0070 copy --baseline 1 --serve 1000 --call 1 --pack 1000000
is 5 2 copy --baseline 2

# What is between marks is what counts; a name, and a hold that moves.
record native 0 2 <<'LINES'
N 0 0 4096 0
a 4096 1 17000000 0
P 0 0 77
L 0 0 4096
M 0 0 1 1000
b 5000000 0
M 0 0 0 6001000
E 9000000 0 0
LINES
record native 1 2 <<'LINES'
U 0 0 77
A 0 0 4096 2
M 0 0 1 1000
L 1000000 0 4096
b 0 0
E 0 0 0
LINES
is 6 0.005 native
is 12 0.006 native
is 11 0.0 native
# REQUEST and TRANSFER, and the data, and then 1 ms, before 1 is at the
# barrier.
is 6 0.0111 native --per-node 1 --bandwidth 1700
bytes=$("$simulate" replay native --per-node 1 | cut -d, -f11)
[ "$bytes" -gt 17000000 ]

# What is no record is refused, with its line.
record broken 0 1 <<'LINES'
S 1 2 3 1 5
E 0 0 0
LINES
if "$simulate" replay broken 2>error; then exit 1; fi
grep -q 'broken.0:2: not a record' error
record broken 0 1 <<'LINES'
B 0 0
LINES
if "$simulate" replay broken 2>error; then exit 1; fi
record deadlock 0 2 <<'LINES'
R 0 0 2 1 8
E 0 0 0
LINES
record deadlock 1 2 <<'LINES'
E 0 0 0
LINES
if "$simulate" replay deadlock 2>error; then exit 1; fi
grep -q '1 of 2 ranks wait for ever' error
if "$simulate" replay nothing 2>error; then exit 1; fi
if "$simulate" replay copy --bandwidth 2>error; then exit 1; fi
