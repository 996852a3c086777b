#!/bin/sh
# Each rule of the protocol is broken on purpose, and the checker that watches
# it must say so.
set -eu
simulate=$abs_top_builddir/sim/simulate
failures=0

# caught FAULT TEXT [FROM [TO]]: some seed with this fault is found, for this
# reason; others may be found for another first
caught() {
    from=${3:-1}
    while out=$("$simulate" seeds "$from" "${4:-3000}" "$1" || :); do
        case $out in
        *"# shortest found: $2"*)
            echo "fault $1 is caught: $2"
            return
            ;;
        "seed "*)
            from=${out%%:*}
            from=$((${from#seed } + 1))
            ;;
        *) break ;;
        esac
    done
    echo "fault $1 is not caught by: $2"
    failures=$((failures + 1))
}

# caught_script FAULT TEXT: standard input, a script, finds it
caught_script() {
    file=sim_faults.$$.txt
    { cat; echo "fault $1"; } >"$file.0"
    grep -v '^[0-9]' "$file.0" >"$file"
    grep '^[0-9]' "$file.0" >>"$file"
    out=$("$simulate" script "$file" || :)
    rm -f "$file" "$file.0"
    case $out in
    *"$2"*) echo "fault $1 is caught: $2" ;;
    *)
        echo "fault $1 is not caught by: $2: $out"
        failures=$((failures + 1))
        ;;
    esac
}

caught_script 1 "exclusion: " <<END
ranks 2
think 1
0.0 create 1
0.1 acquire 1 write
0.1 acquire 1 write
END
caught 1 "completeness: "
caught 2 "freshness: " 4
caught 3 "pins: "
caught 4 "consistency: "
caught 5 "owner: "
caught 6 "pages: "
caught 7 "starvation: "
caught 8 "end: "
caught 9 "delete: " 1 20000
caught 10 "pins: #"
caught 10 "freshness: "
caught 11 "consistency: "
caught 12 "consistency: "
caught 13 "delete: " 1 20000
caught 14 "end: "
caught 15 "exclusion: "
caught 16 "gifts: "
caught 17 "end: node"
caught 18 "ahead: a writer waits"
caught 19 "consistency: "
caught 20 "consistency: "
caught 21 "consistency: "
caught 22 "ahead: a request"
caught 23 "ahead: node"
caught 24 "ahead: node"
caught_script 25 "delete of #1 failed with DRASYNC_EBUSY" <<END
seed 6
nodes 2
delay 200
think 100
0.0 create 1
0.0 release 1
1.0 ahead 1 read
0.0 read 1
0.0 read 1
0.0 read 1
0.0 read 1
0.0 read 1
0.0 read 1
0.0 delete 1
END

caught 26 "ahead: node"
caught 27 "ahead: node"
caught 28 "freshness: "
caught 29 "newer: rank"
caught 30 "newer: what rank"
caught_script 31 "pages: " \
    <"$abs_top_srcdir/tests/scenarios/freed_late.script"
caught 32 "delete: " 901700 920000

# caught_references FAULT TEXT: the same, of managed regions
caught_references() {
    case $("$simulate" references 1 3000 "$1" || :) in
    *"# shortest found: $2"*) echo "fault $1 of references is caught: $2" ;;
    *)
        echo "fault $1 of references is not caught by: $2"
        failures=$((failures + 1))
        ;;
    esac
}
caught_references 1 "left: "
caught_references 2 "ends: "
caught_references 3 "ends: "
caught_references 4 "ends: "
caught_references 5 "left: "
caught_references 6 "ends: "
caught_references 7 "counts: "
caught_references 8 "ends: "
caught_references 9 "ends: "
exit $((failures > 0))
