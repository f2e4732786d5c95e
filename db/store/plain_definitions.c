/* plain_definitions.c: reads the few words of SQL that definitions are made of. Each function skips what its name says,
 * or returns false. */
#include "db/store/plain_definitions.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/memory/array.h"
#include "db/store/schema.h"

static const char word_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

/* Skip blanks and comments. */
static void skip_blanks(const char **at) {
  for (;;) {
    *at += strspn(*at, " \t\n\r\f");
    if (strncmp(*at, "--", 2) != 0) return;
    *at += strcspn(*at, "\n");
  }
}

/* Skip a word in any case, or a sign. */
static bool take_word(const char **at, const char *wanted) {
  const size_t length = strlen(wanted);
  skip_blanks(at);
  if (strncasecmp(*at, wanted, length) != 0) return false;
  if (strchr(word_letters, wanted[0]) && strspn(*at, word_letters) != length) return false;
  *at += length;
  return true;
}

/* Skip a name. `alter table` puts names into quotes. */
static bool take_name(const char **at) {
  skip_blanks(at);
  const bool is_quoted = **at == '"';
  const char *name = *at + is_quoted;
  const size_t length = strspn(name, word_letters);
  if (length == 0 || strchr("0123456789", *name) || (is_quoted && name[length] != '"')) return false;
  *at = name + length + is_quoted;
  return true;
}

/* Skip the name of an index. In quotes it may be anything, because no statement of Halotune contains it. */
static bool take_any_name(const char **at) {
  skip_blanks(at);
  if (**at != '"' && **at != '`' && **at != '[') return take_name(at);
  const char *end = strchr(*at + 1, **at == '[' ? ']' : **at);
  if (!end) return false;
  *at = end + 1;
  return true;
}

/* Skip a column of an index. The collations are SQLite's own. */
static bool take_indexed(const char **at) {
  if (!take_name(at)) return false;
  if (take_word(at, "collate") && !take_word(at, "nocase") && !take_word(at, "binary") && !take_word(at, "rtrim"))
    return false;
  if (!take_word(at, "asc")) (void)take_word(at, "desc");
  return true;
}

static bool take_literal(const char **at) {
  skip_blanks(at);
  const size_t digits = strspn(*at, "0123456789.");
  if (**at != '\'') return *at += digits, digits > 0;
  const char *end = strchr(*at + 1, '\'');
  if (!end) return false;
  *at = end + 1;
  return true;
}

/* Skip a list in parentheses: what `item` skips, with commas between. */
static bool take_list(const char **at, bool (*item)(const char **at)) {
  if (!take_word(at, "(")) return false;
  do {
    if (!item(at)) return false;
  } while (take_word(at, ","));
  return take_word(at, ")");
}

static bool take_condition(const char **at) {
  if (!take_name(at)) return false;
  if (take_word(at, "in")) return take_list(at, take_literal);
  if (take_word(at, ">=")) return take_literal(at);
  while (take_word(at, "and")) {
    if (!take_name(at)) return false;
  }
  return true;
}

/* Skip one constraint behind the name and the type of a column.
 *   is_there  receives whether there was a constraint */
static bool take_constraint(const char **at, bool *is_there) {
  *is_there = true;
  if (take_word(at, "not")) return take_word(at, "null");
  if (take_word(at, "primary")) return take_word(at, "key");
  if (take_word(at, "unique")) return true;
  if (take_word(at, "default")) return take_literal(at);
  if (take_word(at, "check")) return take_word(at, "(") && take_condition(at) && take_word(at, ")");
  if (take_word(at, "references")) return take_name(at) && take_list(at, take_name);
  *is_there = false;
  return true;
}

/* Skip a column, or a key of a table. */
static bool take_column(const char **at) {
  bool is_there = true;
  if (take_word(at, "unique")) return take_list(at, take_name);
  if (take_word(at, "primary")) return take_word(at, "key") && take_list(at, take_name);
  if (!take_name(at)) return false;
  (void)(take_word(at, "integer") || take_word(at, "int") || take_word(at, "real") || take_word(at, "text") ||
         take_word(at, "blob") || take_word(at, "any") || take_word(at, "numeric") || take_word(at, "boolean") ||
         take_word(at, "date") || take_word(at, "datetime"));
  while (is_there) {
    if (!take_constraint(at, &is_there)) return false;
  }
  return true;
}

/* Skip a column of a table of Halotune. If a column has one of these names, SQLite reads the column where a statement
 * means the number of the row. */
static bool take_own_column(const char **at) {
  static const char *const row_numbers[] = {"rowid", "oid", "_rowid_"};
  skip_blanks(at);
  for (size_t i = 0; i < COUNT(row_numbers); i++) {
    const char *name = *at + (**at == '"');
    if (take_word(&name, row_numbers[i])) return false;
  }
  return take_column(at);
}

bool definition_is_plain(const char *sql) {
  const char *at = sql;
  if (!take_word(&at, "create")) return false;
  if (take_word(&at, "table")) {
    skip_blanks(&at);
    const char *name = at + (*at == '"');
    const bool is_ours = schema_has_table(name, strspn(name, word_letters));
    if (!take_name(&at) || !take_list(&at, is_ours ? take_own_column : take_column)) return false;
    if (!take_word(&at, "strict") && is_ours) return false;
  } else {
    (void)take_word(&at, "unique");
    if (!take_word(&at, "index") || !take_any_name(&at) || !take_word(&at, "on")) return false;
    if (!take_name(&at) || !take_list(&at, take_indexed)) return false;
    if (take_word(&at, "where") && !take_condition(&at)) return false;
  }
  skip_blanks(&at);
  return *at == '\0';
}
