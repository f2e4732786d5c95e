# markdown.awk: makes a manual page of section 5 from a page of docs/. Variables: name, what (one line). The page's
# headings become subsections, and its tables lists.

function flush_paragraph() {
  if (paragraph == "") return
  if (needs_gap) print ".Pp"
  print_text(inline(paragraph))
  paragraph = ""
  needs_gap = 1
}
function end_list() {
  flush_item()
  if (list) { print ".El"; needs_gap = 1 }
  list = ""
}
function flush_item() {
  if (item != "") print_text(inline(item))
  item = ""
}
function end_indented() {
  if (indented) { end_lines(); needs_gap = 1 }
  indented = blank_lines = 0
}
function begin_list(kind) {
  flush_paragraph()
  if (list == kind) return
  end_list()
  print ".Bl -" kind
  list = kind
}
# Links become their texts, and bold text becomes bold as code does.
function plain(text,    shown) {
  while (match(text, /\[[^][]*\]\([^()]*\)/)) {
    shown = substr(text, RSTART + 1, index(substr(text, RSTART), "](") - 2)
    text = substr(text, 1, RSTART - 1) shown substr(text, RSTART + RLENGTH)
  }
  gsub(/\*\*/, "`", text)
  return text
}
# Split a row of a table. A bar within backquotes, or behind a backslash, is part of its cell.
function split_row(row, cells,    i, letter, count, in_code, cell) {
  for (i = 2; i <= length(row); i++) {
    letter = substr(row, i, 1)
    if (letter == "`") in_code = !in_code
    if (letter == "\\" && substr(row, i + 1, 1) == "|") { letter = "|"; i++ }
    else if (letter == "|" && !in_code) {
      gsub(/^ +| +$/, "", cell)
      cells[++count] = cell
      cell = ""
      continue
    }
    cell = cell letter
  }
  return count
}
function table_row(    cells, count, i, body) {
  count = split_row(plain($0), cells)
  if (!in_table) {
    flush_paragraph()
    end_list()
    in_table = 1
    print ".Bl -tag -width Ds"
    for (i = 1; i <= count; i++) headings[i] = cells[i]
    return
  }
  if ($0 ~ /^\|[-: |]*\|$/) return
  print ".It " quoted(inline(cells[1]))
  body = ""
  for (i = 2; i <= count; i++)
    if (cells[i] != "") body = body (body == "" ? "" : "; ") (count > 2 && headings[i] != "" ? headings[i] ": " : "") cells[i]
  print_text(inline(body))
}
function end_table() {
  if (in_table) { print ".El"; needs_gap = 1 }
  in_table = 0
}

NR == 1 { print_head(name, 5, what); print ".Sh DESCRIPTION"; next }
/^```/ {
  flush_paragraph()
  end_list()
  if (fenced) { end_lines(); needs_gap = 1 } else begin_lines()
  fenced = !fenced
  next
}
fenced { print_code($0); next }
/^\|/ { table_row(); next }
{ end_table() }
/^    / && paragraph == "" && !list {
  if (!indented) begin_lines()
  for (; blank_lines > 0; blank_lines--) print ""
  indented = 1
  print_code(substr($0, 5))
  next
}
/^$/ { flush_paragraph(); flush_item(); if (indented) blank_lines++; after_blank = 1; next }
{ end_indented() }
/^#/ {
  end_list()
  print ".Ss " quoted(inline(plain(substr($0, length($1) + 2))))
  needs_gap = after_blank = 0
  next
}
/^- / { begin_list("bullet"); flush_item(); print ".It"; item = plain(substr($0, 3)); after_blank = 0; next }
/^[0-9]+\. / { begin_list("enum"); flush_item(); print ".It"; sub(/^[0-9]+\. /, ""); item = plain($0); after_blank = 0; next }
list && /^ / { sub(/^ +/, ""); item = item " " plain($0); next }
list && !after_blank { item = item " " plain($0); next }
{ end_list(); paragraph = paragraph (paragraph == "" ? "" : " ") plain($0); after_blank = 0 }
END {
  flush_paragraph()
  end_list()
  end_table()
  end_indented()
  print ".Sh SEE ALSO\n.Xr halotune 1 ,\n.Xr " other " 5"
}
