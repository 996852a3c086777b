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
    { cat; echo "faults $1"; } >"$file.0"
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
caught 4 "pins: "
caught 8 "consistency: "
caught 16 "owner: "
caught 32 "pages: "
caught 64 "starvation: "
caught 128 "end: "
caught 256 "delete: " 1 20000
caught 512 "pins: #"
caught 512 "freshness: "
caught 1024 "consistency: "
caught 2048 "consistency: "
caught 4096 "delete: " 1 20000
caught 8192 "end: "
caught 16384 "exclusion: "
caught 32768 "gifts: "
caught 65536 "end: node"
caught 131072 "ahead: a writer waits"
caught 262144 "consistency: "
caught 524288 "consistency: "
caught 1048576 "consistency: "
caught 2097152 "ahead: a request"
caught 4194304 "ahead: node"
caught 8388608 "ahead: node"
caught_script 16777216 "delete of #1 failed with DRASYNC_EBUSY" <<END
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

caught 33554432 "ahead: node"
caught 67108864 "ahead: node"
caught 134217728 "freshness: "
caught 268435456 "newer: rank"
caught 536870912 "newer: what rank"
caught_script 1073741824 "pages: " \
    <"$abs_top_srcdir/tests/scenarios/freed_late.script"
caught 2147483648 "delete: " 901700 920000

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
caught_references 4 "ends: "
caught_references 8 "ends: "
caught_references 16 "left: "
caught_references 32 "ends: "
caught_references 64 "counts: "
caught_references 128 "ends: "
caught_references 256 "ends: "
exit $((failures > 0))
