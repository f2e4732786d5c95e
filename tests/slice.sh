# slice.sh: tests source it to take samples. `sliced N` prints one in N of the lines of its stdin. A line's own text
# decides, so a new line moves no other into the sample or out of it, and a sample that passed stays passed. `sliced N K`,
# K from 1 to N - 1, prints another sample; the N samples have no line in common.
sliced() { # N [K]
  LC_ALL=C awk -v slice="$1" -v which="${2:-0}" '
    BEGIN {for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i}
    {
      hash = 0
      for (i = 1; i <= length($0); i++) hash = (31*hash + code[substr($0, i, 1)])%1000003
      if (hash%slice == which) print
    }'
}
