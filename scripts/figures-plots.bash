# shellcheck shell=bash disable=SC2154
# The plots of scripts/figures, which sources this and sets out, work, problems,
# systems, on_hosts and plot_log.  They need only the CSVs in out.
#
# Measured is solid; simulated is dashed, and the legend says so.  A system has
# one colour, which nothing else has.

title_of() { # SYSTEM
  case $1 in
  drasync) echo "DRASync" ;;
  drasync-one) echo "DRASync one" ;;
  baseline-one) echo "Myrmics-MPI one" ;;
  baseline-mult) echo "Myrmics-MPI mult" ;;
  esac
}

colour_of() { # SYSTEM: people with any sight of colours tell these apart
  case $1 in
  drasync) echo "#0072b2" ;;
  drasync-one) echo "#56b4e9" ;;
  baseline-one) echo "#d55e00" ;;
  baseline-mult) echo "#e69f00" ;;
  esac
}

# The cores that it was measured with, and that the replay beside it had: of the
# machine's facts in a summary that is there, for --draw may run elsewhere.
cores_measured() {
  local of
  of=$(sed -n '1,5s/^- .*, \([0-9][0-9]*\) cores,.*/\1/p' "$out/summary.md" 2>/dev/null || true)
  if [ -n "$draw" ]; then echo "${of:-the same}"; else echo "$cores"; fi
}

# draw_plot FILE SIZE: gnuplot's commands on stdin, as .svg and .png
draw_plot() {
  local commands terminal
  commands=$(cat)
  for terminal in "svg size $2 dynamic background rgb 'white'" "pngcairo size $2"; do
    gnuplot <<PLOT 2>>"$plot_log" || fail 1 "gnuplot failed (see $plot_log)"
set terminal $terminal font ',11'
set output '$1.$([[ $terminal = svg* ]] && echo svg || echo png)'
$commands
PLOT
  done
}

# Bars of what was measured, each with the replay beside it: x, seconds, replayed,
# what the x axis says, and how far off the replay is.
validation_bars() { # PROBLEM HOSTS SYSTEM START
  awk -F, -v p="$1" -v n="$2" -v s="$3" -v x="$4" '
    $1 == p && $3 == s && (n == 1 ? $2 == 1 : $2 > 1) {
      printf "%.1f %s %s \"%s\" %+.0f%%\n", x++, $6, $7, (n == 1 ? $4 : $4 " on " $2), $8
    }' "$out/validation.csv"
}

plot_validation() { # PROBLEM HOSTS: gnuplot's commands, or nothing
  local system x=0 bars='' file colour with most
  with=$(cores_measured)
  for system in $systems; do
    file=$work/v.$system colour="lc rgb '$(colour_of "$system")' notitle"
    validation_bars "$1" "$2" "$system" "$x" >"$file"
    [ -s "$file" ] || continue
    x=$(awk '{ x = $1 } END { print x + 1.4 }' "$file")
    bars+="${bars:+, }'$file' using (\$1-0.2):2:(0.36) with boxes fs solid 0.9 noborder $colour"
    bars+=", '$file' using (\$1+0.2):3:(0.36) with boxes fs solid 0.15 noborder $colour"
    bars+=", '$file' using (\$1+0.2):3:(0.36) with boxes fs empty lw 1.5 dt 2 $colour"
    bars+=", '$file' using 1:(0):xtic(4) with dots lc rgb 'white' notitle"
    bars+=", '$file' using 1:(\$2>\$3?\$2:\$3):5 with labels offset 0,0.6 font ',8' notitle"
  done
  [ -n "$bars" ] || return 0
  most=$(cat "$work"/v.* | awk '{ a = $2 > $3 ? $2 : $3 } a > m { m = a } END { print m * 1.45 }')
  cat <<PLOT
set title 'On $with cores: measured, and the replay with them'
set xlabel '$([ "$2" = 1 ] && echo workers || echo "workers on hosts of one machine")'
set ylabel 'seconds'
set xtics nomirror font ',9'
set key top left reverse Left font ',10'
set grid y
set xrange [-0.7:$x-0.7]
set yrange [0:$most]
plot $bars, NaN with boxes fs solid 0.9 noborder lc rgb 'gray40' title 'measured', \
  NaN with boxes fs empty lc rgb 'gray40' lw 1.5 dt 2 \
  title 'replay with $with cores (simulated), and its error'
PLOT
}

# rows PROBLEM HOSTS SYSTEM COLUMN...: of figures.csv, simulated
rows() {
  awk -F, -v p="$1" -v h="$2" -v s="$3" -v c="${*:4}" '
    $1 == p && $2 == h && $3 == s && $5 == "simulated" {
      n = split(c, k, " ")
      for (i = 1; i <= n; i++) printf "%s%s", $k[i], i < n ? " " : "\n"
    }' "$out/figures.csv"
}

plot_speedup() { # PROBLEM HOSTS MOST: with a core for each worker
  local system file lines=''
  for system in $systems; do
    file=$work/s.$system
    rows "$1" "$2" "$system" 4 7 >"$file"
    [ ! -s "$file" ] || lines+=", '$file' using 1:2 with linespoints lw 2 dt 2 pt 6 ps 0.5 \
lc rgb '$(colour_of "$system")' title '$(title_of "$system") (simulated)'"
  done
  cat <<PLOT
set title 'A core for each worker: simulated'
set logscale xy 2
set xlabel 'workers'
set ylabel 'speed-up over Myrmics-MPI one, 1 worker'
set key left top reverse Left font ',10'
set grid
set xrange [0.9:$3*1.1]
set xtics font ',9'
set format xy '%g'
plot x with lines dt 3 lw 1.5 lc rgb 'gray40' title 'linear'$lines
PLOT
}

# Where the time goes: workers of a system side by side, each a stack.
plot_parts() { # PROBLEM HOSTS
  local system file x=0 bars='' labels='' colour most middle box
  for system in $systems; do
    file=$work/b.$system colour=$(colour_of "$system")
    rows "$1" "$2" "$system" 4 8 9 10 |
      awk -v x="$x" '{ print x++, $1, $2, $2 + $3, $2 + $3 + $4 }' >"$file"
    [ -s "$file" ] || continue
    middle=$(awk -v x="$x" '{ l = $1 } END { print (x + l) / 2 }' "$file")
    labels+="set label '$(title_of "$system")' at first $middle, graph 0 center offset 0,-2 "
    labels+="textcolor rgb '$colour'"$'\n'
    x=$(awk '{ x = $1 } END { print x + 2 }' "$file")
    colour="lc rgb '$colour' notitle" box="'$file' using 1:(0):(\$1-0.4):(\$1+0.4)"
    bars+="${bars:+, }$box:(0):3:xtic(2) with boxxyerror fs solid 0.9 noborder $colour"
    bars+=", $box:3:4 with boxxyerror fs solid 0.5 noborder $colour"
    bars+=", $box:4:5 with boxxyerror fs solid 0.15 noborder $colour"
    bars+=", $box:(0):5 with boxxyerror fs empty dt 2 $colour"
  done
  most=$(cat "$work"/b.* | awk '$5 > m { m = $5 } END { print m * 1.2 }')
  cat <<PLOT
set title 'Where the time goes with a core for each worker: simulated'
unset logscale
unset xlabel
set ylabel 'seconds, mean of the workers'
set key right top horizontal maxrows 1 reverse Left font ',10'
set grid y
set xtics nomirror font ',9'
set xrange [-0.8:$x-1.2]
set yrange [0:$most]
set bmargin 4
$labels
plot $bars, \
  NaN with boxes fs solid 0.9 border lt -1 dt 2 lc rgb 'gray40' title 'computation (simulated)', \
  NaN with boxes fs solid 0.5 border lt -1 dt 2 lc rgb 'gray40' title 'communication (simulated)', \
  NaN with boxes fs solid 0.15 border lt -1 dt 2 lc rgb 'gray40' title 'idle (simulated)'
PLOT
}

# What was measured with its replay, the speed-up with a core for each worker, and
# below them where the time goes.
plot() { # PROBLEM TITLE HOSTS
  local file=$out/$1 title=$2 n=$3 most validation left=0
  [ "$n" = 1 ] || file+=_hosts title+=", $n hosts"
  most=$(awk -F, -v p="$1" -v h="$n" '$1 == p && $2 == h && $4 > m { m = $4 } END { print m }' \
    "$out/figures.csv")
  [ -n "$most" ] || return 0
  validation=$(plot_validation "$1" "$n")
  [ -z "$validation" ] || left=0.5
  draw_plot "$file" 1000,820 <<PLOT
set multiplot title "$title" font ',14'
${validation:+set origin 0,0.45
set size 0.5,0.5
$validation
reset}
set origin $left,0.45
set size 1-$left,0.5
$(plot_speedup "$1" "$n" "$most")
reset
set origin 0,0
set size 1,0.45
$(plot_parts "$1" "$n")
unset multiplot
PLOT
}

# What was measured on one host, and nothing else: speed-up over the baseline with
# one worker, a panel for each problem.
plot_measured() {
  local problem name title system file panels='' lines key='' n=0 with most style
  with=$(cores_measured)
  for problem in "${problems[@]}"; do
    IFS='|' read -r name title _ <<<"$problem"
    lines=''
    for system in $systems; do
      file=$work/m.$name.$system
      awk -F, -v p="$name" -v s="$system" '
        $1 != p || $2 != 1 { next }
        $3 == "baseline-one" && $4 == 1 { alone = $6 }
        $3 == s { workers[++n] = $4; seconds[n] = $6 }
        END { for (i = 1; i <= n && alone; i++) print workers[i], alone / seconds[i] }
      ' "$out/validation.csv" >"$file"
      [ -s "$file" ] || continue
      style="with linespoints lw 2 pt 7 ps 0.9 lc rgb '$(colour_of "$system")'"
      lines+=", '$file' using 1:2 $style notitle"
      [[ $key = *"'$(title_of "$system") (measured)'"* ]] ||
        key+=", NaN $style title '$(title_of "$system") (measured)'"
    done
    [ -n "$lines" ] || continue
    n=$((n + 1))
    panels+="set title '$title' font ',11'"$'\n'
    panels+="plot 1 with lines lc rgb 'gray70' notitle$lines"$'\n'
  done
  [ "$n" -gt 0 ] || return 0
  most=$(cat "$work"/m.* | awk '$1 > w { w = $1 } $2 > s { s = $2 }
    END { printf "set xrange [0.85:%g]\nset yrange [0:%g]", w * 1.18, s * 1.1 }')
  draw_plot "$out/measured" 1000,620 <<PLOT
set multiplot layout 2,$(((n + 2) / 2)) title \
  "Speed-up over Myrmics-MPI one with 1 worker, measured on $with cores (more workers share them)" font ',13'
set logscale x 2
$most
set format xy '%g'
set xlabel 'workers'
set grid
$panels
unset title
unset border
unset tics
unset grid
unset xlabel
set key center center reverse Left spacing 1.5
plot$(printf '%s' "${key#,}"), NaN with lines lc rgb 'gray70' title '1: Myrmics-MPI one, 1 worker'
unset multiplot
PLOT
}

# Of the workloads, which are DRASync's alone, those with the same beginning have
# the same colour, which is none of a system's.
workload_style() { # NAME
  case $1 in
  storm*) echo "lc rgb '#000000'" ;;
  ring*) echo "lc rgb '#009e73'" ;;
  gather) echo "lc rgb '#8c6d31'" ;;
  hot-read) echo "lc rgb '#cc79a7'" ;;
  hot-again) echo "lc rgb '#7b4fa0'" ;;
  hot) echo "lc rgb '#a50026'" ;;
  esac
  case $1 in
  *-chunks) echo "pt 4" ;;
  *) echo "pt 7" ;;
  esac
}

plot_workloads() {
  local name what column unit lines file
  for what in "time_per_operation 7 microseconds" "messages_per_operation 5 messages" \
    "manager_messages_per_operation 10 messages"; do
    read -r what column unit <<<"$what"
    lines=''
    for name in storm storm-chunks ring ring-chunks gather hot-read hot-again hot; do
      file=$work/w.$name
      awk -F, -v n="$name" -v c="$column" '$1 == n { print $2, $c }' "$out/workloads.csv" >"$file"
      lines+="${lines:+, }'$file' using 1:2 with linespoints lw 2 dt 2 ps 0.7 \
$(workload_style "$name" | paste -sd ' ') title '$name (simulated)'"
    done
    draw_plot "$out/workloads_$what" 860,450 <<PLOT
set title "${what//_/ } (simulated, 16 ranks a node)"
set logscale x 4
set logscale y
set xlabel 'ranks'
set ylabel '$unit'
set key outside right reverse Left
set grid
plot $lines
PLOT
  done
}

# Ratios to hand-written MPI of what `scripts/bench --apps` printed.
plot_apps() {
  awk '$2 == "2x1" || $2 == "2x2" { sub(/ratio=/, "", $3); of[$1, $2] = $3
      if (!seen[$1]++) names[++n] = $1 }
    END { for (i = 1; i <= n; i++) print names[i], of[names[i], "2x1"], of[names[i], "2x2"] }
  ' "$out/apps.txt" >"$work/apps"
  draw_plot "$out/apps" 1100,440 <<PLOT
set title 'Two ranks, measured: time of hand-written MPI / time of DRASync'
set logscale y
set yrange [0.04:1.6]
set ytics (0.05, 0.1, 0.2, 0.5, 1)
set ylabel 'higher is better'
set xtics nomirror rotate by -35 noenhanced font ',10'
set key outside top center horizontal reverse Left
set rmargin 8
set grid y
set style fill solid 0.9 noborder
set boxwidth 0.38
plot 1 with lines lw 1.5 lc rgb 'gray40' title 'MPI', \
  '$work/apps' using (\$0-0.2):2:xtic(1) with boxes lc rgb '$(colour_of drasync)' \
    title 'on a node', \
  '' using (\$0+0.2):3 with boxes fs solid 0.45 noborder lc rgb '$(colour_of drasync)' \
    title 'between two hosts', \
  '' using (\$0-0.2):2:(sprintf('%.2g', \$2)) with labels offset 0,0.6 font ',8' notitle, \
  '' using (\$0+0.2):3:(sprintf('%.2g', \$3)) with labels offset 0,0.6 font ',8' notitle
PLOT
}

plots() {
  local problem name title
  for problem in "${problems[@]}"; do
    IFS='|' read -r name title _ <<<"$problem"
    plot "$name" "$title" 1
    [[ " $on_hosts " != *" $name "* ]] || plot "$name" "$title" 4
  done
  plot_measured
  [ ! -e "$out/workloads.csv" ] || plot_workloads
  [ ! -e "$out/apps.txt" ] || plot_apps
}
