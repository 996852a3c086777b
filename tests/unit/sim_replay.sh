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
# Two workers of a node are sent the same, kept, then another; so the node gets
# 34 MB, and those two sends of its own node none.
record kept 0 4 <<'LINES'
N 0 0 2 0
S 0 0 2 1 17000000 1
S 0 0 2 2 17000000 2
S 0 0 2 3 17000000 2
S 0 0 2 2 17000000 1
E 0 0 0
LINES
printf '%s\n' 'R 0 0 2 0 17000000' 'E 0 0 0' | record kept 1 4
printf '%s\n' 'R 0 0 2 0 17000000' 'R 0 0 2 0 17000000' 'E 0 0 0' |
  record kept 2 4
printf '%s\n' 'R 0 0 2 0 17000000' 'E 0 0 0' | record kept 3 4
is 11 34000000 kept --per-node 2
is 11 68000000 kept --per-node 1
# On one core all work is done one after the other.
is 6 0.007 copy --cores 1
# Of the baseline a scheduler has served: requests 1 ms each, queries 2 ms.
# Worker 0 asks for memory and sends, which takes it 3 ms; 1 asks meanwhile.
scheduler() { # NAME RANK
  printf 'drasync-record 1 scheduler 0 of 1\nrequests 2 2000000\nqueries 1 2000000\n' >"$1.$2"
}
record baseline 0 2 <<'LINES'
Q 0 0 0 48 0
Q 0 0 0 48 1
S 0 3000000 2 1 1000
E 0 0 0
LINES
record baseline 1 2 <<'LINES'
Q 0 0 0 48 0
R 0 1000000 2 0 1000
E 0 0 0
LINES
scheduler baseline 2
is 6 0.007 baseline --local 0
is 5 1 baseline
# With a scheduler for each no request waits for that of the other.
is 6 0.006 baseline --local 0 --schedulers 2
is 6 0.0035 baseline --local 0 --schedulers 2 --request 250 --query 250
rm baseline.2
if "$simulate" replay baseline 2>error; then exit 1; fi
grep -q 'baseline.2: No such file' error

# A progress thread that handles a message takes time from ranks if there is no
# core for it: 10 ms for the bytes at each end, while both ranks compute.
record share 1 2 <<'LINES'
b 40000000 0
R 0 0 2 0 17000000
E 0 0 0
LINES
record share 0 2 <<'LINES'
S 0 0 2 1 17000000
b 40000000 0
E 0 0 0
LINES
is 6 0.040 share --per-node 1 --bandwidth 1700
is 6 0.050 share --per-node 1 --bandwidth 1700 --cores 2

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

# An address is used again, and no line tells how ranks learnt of its regions.
# 0 makes the first after 1 ms; 1, which asked for it before it knew which it is,
# reads it for 2 ms; 2 deletes it, makes the second and has that for 4 ms.
record again 0 3 <<'LINES'
N 1000000 0 4096.5 0
L 0 0 4096.5
b 0 0
E 0 0 0
LINES
record again 1 3 <<'LINES'
A 0 0 4096 1
L 2000000 0 4096.5
b 0 0
E 0 0 0
LINES
record again 2 3 <<'LINES'
A 0 0 4096.5 2
D 0 0 4096.5
N 0 0 4096.9 0
a 4096 1 17000000 0
L 4000000 0 4096.9
b 0 0
E 0 0 0
LINES
is 6 0.007 again
is 6 0.00712 again --per-node 1
# What one rank took last ends first: WRITE is still there to be asked for.
record nested 0 1 <<'LINES'
N 0 0 4096.5 0
A 0 0 4096.5 1
L 0 0 4096.5
A 0 0 4096.5 2
L 1000000 0 4096.5
L 0 0 4096.5
E 0 0 0
LINES
is 6 0.001 nested
# An acquire for what is newer waits until that is written, after 5 ms.
record newer 0 2 <<'LINES'
N 0 0 4096.5 0
L 0 0 4096.5 1
A 5000000 0 4096.5 2
L 0 0 4096.5 2
b 0 0
E 0 0 0
LINES
record newer 1 2 <<'LINES'
A 0 0 4096.5 1 1 2
L 2000000 0 4096.5 2
b 0 0
E 0 0 0
LINES
is 6 0.007 newer
is 6 0.00703 newer --per-node 1
# Who got two versions one after the other waits for no third where both are there
# at once.
record late 0 2 <<'LINES'
N 0 0 4096.5 0
L 0 0 4096.5 1
A 0 0 4096.5 2
L 0 0 4096.5 2
A 0 0 4096.5 2
L 0 0 4096.5 3
b 0 0
E 0 0 0
LINES
record late 1 2 <<'LINES'
A 5000000 0 4096.5 1 1 2
L 0 0 4096.5 2
A 0 0 4096.5 1 2 3
L 0 0 4096.5 3
b 0 0
E 0 0 0
LINES
is 6 0.005 late
is 6 0.00502 late --per-node 1

# 17 MB, 10 ms, that 0 writes in each of ten iterations, and 1 READs 20 ms later:
# from the third time on they have come by then.
iterations() { # LINES: ten times, and the end
  for i in 1 2 3 4 5 6 7 8 9 10; do printf '%s\n' "$@"; done
  echo 'E 0 0 0'
}
{
  printf '%s\n' 'N 0 0 4096.5 0' 'a 4096 1 17000000 0' 'L 0 0 4096.5'
  iterations 'A 0 0 4096.5 2' 'L 0 0 4096.5' 'b 0 0' 'b 20000000 0'
} | record ahead 0 2
iterations 'b 0 0' 'A 20000000 0 4096.5 1' 'L 0 0 4096.5' 'b 0 0' |
  record ahead 1 2
is 6 0.3 ahead --per-node 1 --ahead off
is 6 0.22 ahead --per-node 1
is 6 0.22 ahead --per-node 1 --ahead auto
# Or if it says so.
{
  printf '%s\n' 'N 0 0 4096.5 0' 'a 4096 1 17000000 0' 'L 0 0 4096.5' \
    'b 0 0' 'b 20000000 0' 'E 0 0 0'
} | record hint 0 2
printf '%s\n' 'b 0 0' 'H 0 0 4096.5 1' 'A 20000000 0 4096.5 1' \
  'L 0 0 4096.5' 'b 0 0' 'E 0 0 0' | record hint 1 2
is 6 0.02 hint --per-node 1
is 6 0.03 hint --per-node 1 --ahead off
# Without incarnations a region is there only after its line.
for rank in 0 1 2; do
  sed 's/\.[0-9]*//' again.$rank >older.$rank
done
if "$simulate" replay older 2>error; then exit 1; fi
grep -q 'uses region 4096, which is not there at that time' error

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
for line in 'N 0 0 4096. 0' 'N 0 0.5 4096 0' 'B.5 0 0' 'P 0 0 77.5' \
  'A 0 0 4096 1 2' 'A 0 0 4096 1 2 3 4' 'L 0 0 4096 1 2' 'H 0 0 4096 3'; do
  printf '%s\nE 0 0 0\n' "$line" | record broken 0 1
  if "$simulate" replay broken 2>error; then exit 1; fi
  grep -q 'broken.0:2: not a record' error
done
if "$simulate" replay nothing 2>error; then exit 1; fi
if "$simulate" replay copy --bandwidth 2>error; then exit 1; fi
