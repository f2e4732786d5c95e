# header.awk: makes halotune.h(3) from include/halotune.h. A comment in the first column and the declarations right below
# it become one part. In a comment, two blanks behind a name make it an item of a list.

function function_name(declaration) {
  return match(declaration, /halotune_[a-z_]+\(/) ? substr(declaration, RSTART, RLENGTH - 1) : ""
}
# Split "HALOTUNE_API type name(arguments);" into macros of the synopsis.
function print_prototype(declaration,    name, type, arguments, count, i, list) {
  name = function_name(declaration)
  type = substr(declaration, 1, index(declaration, name "(") - 1)
  sub(/^HALOTUNE_API /, "", type)
  gsub(/^ +| +$/, "", type)
  arguments = substr(declaration, index(declaration, name "(") + length(name) + 1)
  sub(/\);.*/, "", arguments)
  print ".Ft " quoted(type)
  print ".Fo " name
  count = split(arguments, list, /, */)
  for (i = 1; i <= count; i++) print ".Fa " quoted(list[i])
  print ".Fc"
}

function flush_text() {
  if (text == "") return
  print_text(inline(text))
  text = ""
}
function end_items() {
  flush_text()
  if (in_items) print ".El"
  if (in_items) gap = 1
  in_items = 0
}
function begin_items() {
  flush_text()
  if (!in_items) print ".Bl -tag -width Ds -compact"
  in_items = 1
}
function add(line) {
  gsub(/^ +/, "", line)
  text = text (text == "" ? "" : " ") line
}
# "  name  meaning", or the same below "Returns HALOTUNE_OK". A line that is indented further goes on with the item.
function print_comment(lines, count, title,    i, line, indent, item_indent) {
  gap = 0
  for (i = 1; i <= count; i++) {
    line = lines[i]
    match(line, /^ */)
    indent = RLENGTH
    if (line == "") { end_items(); gap = 1; continue }
    if (in_items && indent > item_indent) {
      # a numbered part of an item, and what follows such parts, begin a line
      if (line ~ /^ *[0-9]\. / || (last_indent > indent && last_indent > item_indent)) { flush_text(); print ".br" }
      last_indent = indent
      add(line)
      continue
    }
    last_indent = 0
    if (indent >= 2 && (line ~ /^ +[A-Za-z_.]+  / || indent == 8 || line ~ /^ +- / || line ~ /^ +halotune_/)) {
      begin_items()
      item_indent = indent
      gsub(/^ +/, "", line)
      if (line ~ /^- /) { print ".It \\(bu"; add(substr(line, 3)) }
      else if (match(line, /  +/)) { print ".It " quoted(inline(substr(line, 1, RSTART - 1))); add(substr(line, RSTART + RLENGTH)) }
      else print ".It " quoted(inline(line))
      continue
    }
    end_items()
    if (line ~ /^(Returns|Threads:)/ && i > 1) { flush_text(); gap = 1 }
    if (gap) { flush_text(); print ".Pp"; gap = 0 }
    add(line)
    if (line ~ /^Returns HALOTUNE_OK$/) flush_text()
  }
  end_items()
}

# A line of the header, first within a comment, then within the declarations below it.
/^\/\*/ { in_comment = 1; comment_count = 0; declaration_count = 0 }
in_comment {
  line = $0
  ends = line ~ /\*\/$/
  sub(/^\/\* ?/, "", line)
  sub(/^ \* ?/, "", line)
  sub(/ *\*\/$/, "", line)
  comment[++comment_count] = line
  if (ends) in_comment = 0
  next
}
/^$/ || /^#(ifndef|ifdef|if|else|endif|include|undef|define HALOTUNE_H$)/ { end_part(); next }
/^extern "C"|^}$/ { next }
comment_count > 0 { declaration[++declaration_count] = $0 }
END { end_part(); write_page() }

# Keep a part: what its comment and its declarations are.
function end_part(    i, p) {
  # only the first comment, which is about the whole header, stands alone
  if (declaration_count == 0 && part_count > 0) comment_count = 0
  if (comment_count == 0) return
  p = ++part_count
  comments[p] = comment_count
  for (i = 1; i <= comment_count; i++) kept[p, "c", i] = comment[i]
  declarations[p] = declaration_count
  for (i = 1; i <= declaration_count; i++) kept[p, "d", i] = declaration[i]
  comment_count = declaration_count = 0
}

function title_of(p,    i, line) {
  for (i = 1; i <= declarations[p]; i++) {
    line = kept[p, "d", i]
    if (line ~ /^HALOTUNE_API/) return function_name(line)
    if (line ~ /^typedef.*;$/ || line ~ /^} halotune_/) {
      if (match(line, /halotune_[a-z_]+\(/)) return substr(line, RSTART, RLENGTH - 1)
      sub(/;$/, "", line)
      sub(/.* /, "", line)
      return line
    }
  }
  line = kept[p, "d", 1]
  return match(line, /(HALOTUNE|CU)[A-Za-z_]+/) ? substr(line, RSTART, RLENGTH) : "halotune.h"
}

function write_page(    p, i, lines, title, prototype) {
  print_head("halotune.h", 3, "tuned stencil kernels, looked up and launched")
  print ".Sh SYNOPSIS\n.In halotune.h"
  for (p = 1; p <= part_count; p++)
    for (i = 1; i <= declarations[p]; i++) {
      if (kept[p, "d", i] !~ /^HALOTUNE_API/) continue
      for (prototype = kept[p, "d", i]; prototype !~ /;/; ) { add_line = kept[p, "d", ++i]; sub(/^ +/, "", add_line); prototype = prototype " " add_line }
      print_prototype(prototype)
    }
  print ".Sh DESCRIPTION"
  for (p = 1; p <= part_count; p++) {
    for (i = 1; i <= comments[p]; i++) lines[i] = kept[p, "c", i]
    title = title_of(p)
    if (p == 1) sub(/^halotune\.h: /, "This is ", lines[1])
    else print ".Ss " title
    print_comment(lines, comments[p], title)
    if (declarations[p] == 0 || kept[p, "d", 1] ~ /^HALOTUNE_API/) continue
    begin_lines()
    in_prototype = 0
    for (i = 1; i <= declarations[p]; i++) {
      if (kept[p, "d", i] ~ /^HALOTUNE_API/) in_prototype = 1
      if (!in_prototype) print_code(kept[p, "d", i])
      if (kept[p, "d", i] ~ /;$/) in_prototype = 0
    }
    end_lines()
  }
  print ".Sh SEE ALSO\n.Xr halotune 1 ,\n.Xr halotune-stencil 5"
}
