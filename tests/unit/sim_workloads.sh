#!/bin/sh
# What operations cost must not grow with the ranks where it need not: messages
# for each, and those that the manager sees.
set -eu
simulate=${abs_top_builddir:-.}/sim/simulate
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# field NUMBER NAME RANKS: of the workload's line; it runs once
field() {
  [ -s "$dir/$2.$3" ] ||
    "$simulate" workload "$2" "$3" --per-node 4 >"$dir/$2.$3"
  cut -d, -f"$1" "$dir/$2.$3"
}

# no_more WHAT NUMBER NAME: that field is at most a tenth more at 1,024 ranks
# than at 64.
no_more() {
  few=$(field "$2" "$3" 64)
  many=$(field "$2" "$3" 1024)
  echo "$3: $1: $few with 64 ranks, $many with 1024"
  awk -v a="$few" -v b="$many" 'BEGIN { exit !(b <= a * 1.1 + 0.001) }'
}

for name in storm storm-chunks ring ring-chunks hot; do
  no_more "messages" 5 "$name"
  no_more "at the manager" 10 "$name"
done

# What waits for one region stands in a line: each costs as many messages and
# bytes, and a handover as much time, at 1,024 nodes as at 64, the first time
# and later.  Fields 5, 6: of an operation; 4, 9: operations, and all the time.
line() {
  "$simulate" workload hot "$1" --per-node 1 --rounds "$2" |
    awk -F, '{ print $5, $6, $9 / $4 }'
}
for rounds in 1 4; do
  few=$(line 64 $rounds)
  many=$(line 1024 $rounds)
  echo "hot, $rounds rounds: messages, bytes, us: $few; with 1024 nodes: $many"
  echo "$few $many" |
    awk '{ exit !($4 <= $1 * 1.1 && $5 <= $2 * 1.1 && $6 <= $3 * 1.1) }'
done

# Readers of one region are a tree from 18 nodes on: two or three messages more,
# and time that grows with its depth.
readers() {
  "$simulate" workload hot-read "$1" --per-node 1 |
    awk -F, '{ print $5, $7, $13 / $3 }'
}
few=$(readers 16)
many=$(readers 4096)
echo "hot-read: messages, us, at the busiest: $few; with 4096 nodes: $many"
echo "$few $many" |
  awk '{ exit !($4 <= $1 + 2.5 && $5 <= $2 * 8 && $6 <= $3 / 8) }'

# Again and again, with a WRITE between; and what it is without a tree.
again() {
  "$simulate" workload hot-again 512 --per-node 1 "$@" | cut -d, -f7
}
with=$(again)
without=$(again --fanout 65536)
echo "hot-again, 512 nodes: $with us, without a tree $without"
awk -v a="$with" -v b="$without" 'BEGIN { exit !(a * 4 <= b) }'

# All wait for one region that is written anew: the data goes by the tree.
anew() {
  "$simulate" workload newer 512 --per-node 1 --bytes 65536 "$@" | cut -d, -f7
}
with=$(anew)
without=$(anew --fanout 65536)
echo "newer, 512 nodes: $with us, without a tree $without"
awk -v a="$with" -v b="$without" 'BEGIN { exit !(a * 4 <= b) }'

no_more "time" 7 storm
no_more "time" 7 storm-chunks
no_more "time" 7 ring
no_more "time" 7 ring-chunks

# Who looks for a region that it has never met asks up a tree of nodes, once.
few=$(field 5 gather 64)
many=$(field 5 gather 1024)
echo "gather: $few messages with 64 ranks, $many with 1024"
awk -v a="$few" -v b="$many" 'BEGIN { exit !(b <= a + 2) }'
no_more "at the manager" 10 gather

# A tree: what grows is its depth (the first levels are on one node).
few=$(field 9 gather 64)
many=$(field 9 gather 1024)
echo "gather: $few us with 64 ranks, $many with 1024"
awk -v a="$few" -v b="$many" 'BEGIN { exit !(b <= a * 3) }'

# The same twice.
[ "$("$simulate" workload hot 256)" = "$("$simulate" workload hot 256)" ]

# What is wrong is said.
if "$simulate" workload nonsense 16 2>/dev/null; then exit 1; fi
if "$simulate" workload ring 17 2>/dev/null; then exit 1; fi
