# shellcheck shell=bash disable=SC2154
# Plots and tables of scripts/figures, which sources this and sets out, mode,
# problems, systems and the rest.

# The workloads of the simulator, 16 ranks a node.
workloads() {
  local name ranks head=--head most=65536
  [ "$mode" != tiny ] || most=256
  for name in storm storm-chunks ring ring-chunks gather hot-read hot-again hot; do
    for ((ranks = 16; ranks <= most; ranks *= 4)); do
      # With one node there is no manager to ask.
      [[ $name == *-chunks && $ranks = 16 ]] && continue
      "$simulate" workload "$name" "$ranks" $head 2>>"$out/runs.log" || true
      head=
    done
  done
}

title_of() { # SYSTEM
  case $1 in
  drasync) echo "DRASync" ;;
  drasync-one) echo "DRASync one" ;;
  baseline-one) echo "Myrmics-MPI one" ;;
  baseline-mult) echo "Myrmics-MPI mult" ;;
  esac
}

# rows PROBLEM HOSTS SYSTEM SOURCE COLUMN...: of figures.csv
rows() {
  awk -F, -v p="$1" -v h="$2" -v s="$3" -v o="$4" -v c="${*:5}" '
    $1 == p && $2 == h && $3 == s && $5 == o {
      n = split(c, k, " ")
      for (i = 1; i <= n; i++) printf "%s%s", $k[i], i < n ? " " : "\n"
    }' "$out/figures.csv"
}

# Speed-up over the baseline with one worker: lines are simulated, points
# measured.  Below it where the time goes.
plot() { # PROBLEM TITLE HOSTS
  local name=$1 title=$2 n=$3 system i=0 lines='' bars='' file=$out/$1 most
  [ "$n" = 1 ] || file+=_hosts title+=", $n hosts"
  most=$(awk -F, -v p="$name" -v h="$n" '$1 == p && $2 == h && $4 > m { m = $4 } END { print m }' \
    "$out/figures.csv")
  [ -n "$most" ] || return 0
  for system in $systems; do
    i=$((i + 1))
    rows "$name" "$n" "$system" simulated 4 7 >"$work/s$i"
    rows "$name" "$n" "$system" measured 4 7 >"$work/m$i"
    rows "$name" "$n" "$system" measured-off 4 7 >"$work/o$i"
    rows "$name" "$n" "$system" simulated 4 8 9 10 |
      awk -v t="$(title_of "$system")" '{ print "\"" t " " $1 "\"", $2, $3, $4 }' >>"$work/b"
    echo >>"$work/b"
    [ ! -s "$work/s$i" ] ||
      lines+="${lines:+, }'$work/s$i' using 1:2 with lines lw 2 lc $i title '$(title_of "$system")'"
    [ ! -s "$work/m$i" ] ||
      lines+=", '$work/m$i' using 1:2 with points pt 7 ps 1.2 lc $i notitle"
    [ ! -s "$work/o$i" ] ||
      lines+=", '$work/o$i' using 1:2 with points pt 6 ps 1.2 lc $i notitle"
  done
  lines+=", 1/0 with points pt 7 lc 'black' title 'measured; replay within 15 %'"
  lines+=", 1/0 with points pt 6 lc 'black' title 'measured; replay further off'"
  bars="'$work/b' using 2:xtic(1) title 'computation', '' using 3 title 'communication', '' using 4 title 'idle'"
  local terminal
  for terminal in "svg size 900,800 dynamic background rgb 'white'" "pngcairo size 900,800"; do
    gnuplot <<PLOT 2>>"$out/runs.log" || fail 1 "gnuplot failed (see $out/runs.log)"
set terminal $terminal font ',11'
set output '$file.$([[ $terminal = svg* ]] && echo svg || echo png)'
set multiplot layout 2,1 title "$title"
set logscale xy 2
set xlabel 'workers'
set ylabel 'speed-up'
set key left top
set grid
set xrange [0.9:$most*1.1]
plot x with lines dt 2 lc 'grey' title 'linear', $lines
unset logscale
set style data histogram
set style histogram rowstacked
set style fill solid 0.8
set boxwidth 0.8
set xtics rotate by -60 font ',8'
set xrange [*:*]
set key right top
unset xlabel
set ylabel 'seconds, mean of the workers (simulated)'
set logscale y
unset logscale y
plot $bars
unset multiplot
PLOT
  done
  rm -f "$work/b"
}

plot_workloads() {
  local name i=0 what column lines terminal
  for what in "time_per_operation 7 microseconds" "messages_per_operation 5 messages" \
    "manager_messages_per_operation 10 messages"; do
    read -r what column unit <<<"$what"
    lines=''
    i=0
    for name in storm storm-chunks ring ring-chunks gather hot-read hot-again hot; do
      i=$((i + 1))
      awk -F, -v n="$name" -v c="$column" '$1 == n { print $2, $c }' "$out/workloads.csv" >"$work/w$i"
      lines+="${lines:+, }'$work/w$i' using 1:2 with linespoints lw 2 title '$name'"
    done
    for terminal in "svg size 800,450 dynamic background rgb 'white'" "pngcairo size 800,450"; do
      gnuplot <<PLOT 2>>"$out/runs.log" || fail 1 "gnuplot failed (see $out/runs.log)"
set terminal $terminal font ',11'
set output '$out/workloads_$what.$([[ $terminal = svg* ]] && echo svg || echo png)'
set title "${what//_/ } (simulated, 16 ranks a node)"
set logscale x 4
set logscale y
set xlabel 'ranks'
set ylabel '$unit'
set key outside right
set grid
plot $lines
PLOT
    done
  done
}

# With what the numbers of a problem were made.
made() {
  echo "commit $(git -C "$top" describe --always --dirty 2>/dev/null || echo unknown)," \
    "$(date -u '+%Y-%m-%d %H:%M'), limit $limit s$([ -n "$measure" ] || echo ", not measured")"
}

facts() {
  echo "- $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $cores cores," \
    "$(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo), $(uname -sr)"
  echo "- $("$mpirun" --version 2>/dev/null | sed -n 's/^ *Version: */MPICH /p' | head -n 1)," \
    "scripts/figures$([ "$mode" = full ] || echo " --$mode")"
}

# A CSV as a Markdown table.
table() {
  awk -F, '{ n = NF; gsub(",", " | "); print "| " $0 " |" }
    NR == 1 { line = "|"; for (i = 1; i <= n; i++) line = line " --- |"; print line }'
}

# Systems as columns, workers as rows: seconds.
seconds_table() { # PROBLEM HOSTS
  awk -F, -v p="$1" -v h="$2" -v all="$systems" '
    $1 == p && $2 == h { t[$3, $4, $5] = $6; w[$4] = 1 }
    END {
      n = split(all, s, " ")
      line = "| workers |"; rule = "| --- |"
      for (i = 1; i <= n; i++) { line = line " " s[i] " |"; rule = rule " --- |" }
      print line "\n" rule
      for (k = 1; k <= 1024; k *= 2) {
        if (!(k in w)) continue
        line = "| " k " |"
        for (i = 1; i <= n; i++) {
          a = t[s[i], k, "simulated"]; b = t[s[i], k, "measured"] t[s[i], k, "measured-off"]
          line = line " " (a == "" ? "-" : sprintf("%.3f", a)) \
            (b == "" ? "" : sprintf(" (%.3f)", b)) " |"
        }
        print line
      }
    }' "$out/figures.csv"
}

# What the workers of a record computed, all together, over what one does alone.
computing_table() {
  awk -F, -v all="$(printf '%s ' "${problems[@]%%|*}")" '
    $2 == 1 && $5 == "simulated" && $3 ~ /^(drasync|baseline-one)$/ && $8 != "" {
      t[$1, $3, $4] = $8 * $4
      w[$4] = has[$1] = 1
    }
    END {
      n = split(all, name, " ")
      line = "| workers |"; rule = "| --- |"
      for (i = 1; i <= n; i++)
        if (name[i] in has) { line = line " " name[i] " |"; rule = rule " --- |" }
      print line "\n" rule
      for (k = 2; k <= 1024; k *= 2) {
        if (!(k in w)) continue
        line = "| " k " |"
        for (i = 1; i <= n; i++)
          if (name[i] in has)
            line = line " " ratio(name[i], "drasync", k) ", " ratio(name[i], "baseline-one", k) " |"
        print line
      }
    }
    function ratio(p, s, k) {
      return t[p, s, k] == "" || !t[p, s, 1] ? "-" : sprintf("%.2f", t[p, s, k] / t[p, s, 1])
    }' "$out/figures.csv"
}

# How many of how many rows are off, with as many busy processes as COMPARISON
# says against the cores.
off() { # COMPARISON
  awk -F, -v c="$cores" -v less="$([ "$1" = '<=' ] && echo 1 || echo 0)" '
    NR > 1 && ($5 <= c) == less { n++; if ($8 > 15 || $8 < -15) o++ }
    END { print o + 0 " of " n + 0 }' "$out/validation.csv"
}

summary() {
  local problem name title program arguments figure
  echo "# The paper's evaluation, again"
  echo
  facts
  echo
  echo "Seconds, simulated by replay of records; in brackets measured on this machine" \
    "(more workers than its $cores cores share them). Speed-up in the plots is over the" \
    "baseline with one worker and one scheduler; points are measured, lines simulated;" \
    "hollow points are more than 15 % away from what the replay says."
  for problem in "${problems[@]}"; do
    IFS='|' read -r name title program arguments _ _ figure <<<"$problem"
    [ -s "$parts/$name.figures" ] || continue
    printf '\n## %s (Fig. %s)\n\n' "$title" "$figure"
    printf '`%s_myrmics %s`; %s\n\n' "$program" "$arguments" "$(cat "$parts/$name.made")"
    seconds_table "$name" 1
    printf '\n![%s](%s.svg)\n' "$title" "$name"
    [ -e "$out/${name}_hosts.svg" ] || continue
    printf '\nFour hosts:\n\n'
    seconds_table "$name" 4
    printf '\n![%s, four hosts](%s_hosts.svg)\n' "$title" "$name"
  done
  printf '\n## How good the replay is\n\n'
  if [ "$(wc -l <"$out/validation.csv")" -gt 1 ]; then
    echo "Measured without recording; and the records of another run, replayed with $cores cores and" \
      "what messages cost here (costs.csv). Busy is how many processes compute, or spin while they wait."
    printf '\n- With no more busy processes than cores, more than 15 %% off: %s.\n' "$(off '<=')"
    printf -- '- With more of them: %s.\n\n' "$(off '>')"
    table <"$out/validation.csv"
  else
    echo "Nothing was measured in this run (--no-measure): every time is simulated."
  fi
  printf '\n## What was recorded\n\n'
  echo "Computing outside of calls, of all workers together, over that of one worker alone:" \
    "DRASync, baseline. Above 1 is what each worker does again (sharing out, joining), and" \
    "caches that are cold because workers take turns on $cores cores."
  echo
  computing_table
  printf '\n## What messages cost here\n\n'
  sed 's/^\([a-z]*\),\(.*\)/- \1: `\2`/' "$out/costs.csv"
  printf '\n## Workloads at scale (simulated)\n\n'
  cut -d, -f1-3,5-7,9-11 "$out/workloads.csv" | table
  printf '\n'
  for name in time messages manager_messages; do
    printf '![%s](workloads_%s_per_operation.svg)\n' "$name" "$name"
  done
}
