# shellcheck shell=bash disable=SC2154
# The plots of scripts/figures, which sources this and sets out, work, problems,
# systems, on_hosts and plot_log.  They need only the CSVs in out.

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
    gnuplot <<PLOT 2>>"$plot_log" || fail 1 "gnuplot failed (see $plot_log)"
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
      gnuplot <<PLOT 2>>"$plot_log" || fail 1 "gnuplot failed (see $plot_log)"
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

plots() {
  local problem name title
  for problem in "${problems[@]}"; do
    IFS='|' read -r name title _ <<<"$problem"
    plot "$name" "$title" 1
    [[ " $on_hosts " != *" $name "* ]] || plot "$name" "$title" 4
  done
  [ ! -e "$out/workloads.csv" ] || plot_workloads
}
