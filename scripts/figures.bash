# shellcheck shell=bash disable=SC2154
# The workloads and tables of scripts/figures, which sources this and sets out,
# mode, problems, systems and the rest.

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

# Paragraphs of 100 columns.
wrap() { fold -s -w 100 | sed 's/ *$//'; }

summary() {
  local problem name title program arguments figure
  echo "# The paper's evaluation, again"
  echo
  facts
  echo
  echo "Seconds, simulated by replay of records; in brackets measured on this machine" \
    "(more workers than its $cores cores share them). Speed-up in the plots is over the" \
    "baseline with one worker and one scheduler. Dashed lines and outlines are simulated, solid" \
    "ones measured; a system has the same colour in all plots." | wrap
  [ ! -e "$out/measured.svg" ] || printf '\n![Speed-up, all of it measured](measured.svg)\n'
  for problem in "${problems[@]}"; do
    IFS='|' read -r name title program arguments _ _ figure <<<"$problem"
    [ -s "$parts/$name.figures" ] || continue
    printf '\n## %s (Fig. %s)\n\n' "$title" "$figure"
    printf '`%s_myrmics %s`; %s\n\n' "$program" "$arguments" "$(cat "$parts/$name.made")" | wrap
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
      "what messages cost here (costs.csv). Busy is how many processes compute, or spin while they wait." |
      wrap
    printf '\n- With no more busy processes than cores, more than 15 %% off: %s.\n' "$(off '<=')"
    printf -- '- With more of them: %s.\n\n' "$(off '>')"
    table <"$out/validation.csv"
  else
    echo "Nothing was measured in this run (--no-measure): every time is simulated."
  fi
  printf '\n## What was recorded\n\n'
  echo "Computing outside of calls, of all workers together, over that of one worker alone:" \
    "DRASync, baseline. Above 1 is what each worker does again (sharing out, joining), and" \
    "caches that are cold because workers take turns on $cores cores." | wrap
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
