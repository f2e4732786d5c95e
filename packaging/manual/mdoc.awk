# mdoc.awk: functions that write manual pages in mdoc. markdown.awk and header.awk use them.

# Escape a text for mdoc. A word between backquotes becomes bold.
function inline(text,    out, part, parts, count, i) {
  gsub(/\\/, "\\e", text)
  count = split(text, parts, "`")
  out = parts[1]
  for (i = 2; i <= count; i++) out = out (i % 2 == 0 ? "\\fB" : "\\fR") parts[i]
  return out (count % 2 == 0 ? "\\fR" : "")
}

# Print a line of text, which must not look like a macro.
function print_line(line) {
  if (line ~ /^['.]/) line = "\\&" line
  print line
}

# Print a text in lines of at most 78 letters. A sentence begins a line.
function print_text(text,    words, count, i, line) {
  count = split(text, words, " ")
  for (i = 1; i <= count; i++) {
    if (line != "" && length(line) + 1 + length(words[i]) > 78) { print_line(line); line = "" }
    line = line == "" ? words[i] : line " " words[i]
    if (words[i] ~ /[.?!]([)]|\\fR)*$/ && words[i] !~ /^[0-9]\.$/) { print_line(line); line = "" }
  }
  if (line != "") print_line(line)
}

# A text as one argument of a macro.
function quoted(text) {
  gsub(/"/, "\\(dq", text)
  return "\"" text "\""
}

function print_head(name, section, what) {
  printf ".Dd $Mdocdate$\n.Dt %s %s\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n", toupper(name), section, name, what
}

# Lines of a program, as they are. They follow a paragraph.
function begin_lines() { print ".Bd -literal -offset indent" }
function end_lines() { print ".Ed" }
function print_code(line) {
  gsub(/\\/, "\\e", line)
  print_line(line)
}
