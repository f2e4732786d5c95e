# slice.sh: tests source it to take samples. `sliced N` prints one in N of the lines of its stdin. A line's own text
# decides, so a new line moves no other into the sample or out of it, and a sample that passed stays passed. `sliced N K`,
# K from 1 to N - 1, prints another sample; the N samples have no line in common.
#
# `sliced_kinds N PATTERN` prints the same sample, and one line of each kind that the sample lacks. The part of a line
# that the pattern matches is its kind; a line without a match has none. A new line changes nothing for other kinds.
kind_of_defect='^[a-z_]+'               # a row of tests/data/mutations.txt: its template
kind_of_case='^tests/cli/[a-z0-9]+_'    # a case of the command line: mostly its command
kind_of_call=' cu[A-Za-z0-9_]+'         # a failure of the driver: its call

sliced() { # N [K]
  slice_lines "$1" "${2:-0}" ''
}
sliced_kinds() { # N PATTERN
  slice_lines "$1" 0 "$2"
}
slice_lines() { # N K PATTERN
  LC_ALL=C awk -v slice="$1" -v which="$2" -v pattern="$3" '
    BEGIN {for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i}
    {
      hash = 0
      for (i = 1; i <= length($0); i++) hash = (31*hash + code[substr($0, i, 1)])%1000003
      lines[NR] = $0
      chosen[NR] = hash%slice == which
      if (pattern == "" || !match($0, pattern)) next
      kind = substr($0, RSTART, RLENGTH)
      if (chosen[NR]) has[kind] = 1
      if (!(kind in most) || hash > most[kind]) {
        most[kind] = hash
        stands_for[kind] = NR
      }
    }
    END {
      for (kind in stands_for) if (!(kind in has)) chosen[stands_for[kind]] = 1
      for (i = 1; i <= NR; i++) if (chosen[i]) print lines[i]
    }'
}
