/* schema.c: the files of SQL as texts, and the tables and columns that they define. The assembler puts the files into
 * the program; their paths begin at the root of the tree. */
#include "db/store/schema.h"

#include <string.h>
#include <strings.h>

__asm__(".pushsection .rodata\n"
        ".globl schema_sql\n"
        ".hidden schema_sql\n"
        "schema_sql: .incbin \"db/schema.sql\"\n"
        ".byte 0\n"
        ".globl schema_4_sql\n"
        ".hidden schema_4_sql\n"
        "schema_4_sql: .incbin \"db/schema_4.sql\"\n"
        ".byte 0\n"
        ".popsection\n");

static const char word_letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";

/* The text behind the next "create table"; NULL if there is none. */
static const char *next_table(const char *at) {
  static const char begin[] = "\ncreate table ";
  at = strstr(at, begin);
  return at ? at + strlen(begin) : NULL;
}

static void copy_word(const char *at, char word[SCHEMA_WORD_BYTES]) {
  const size_t all = strspn(at, word_letters), length = all < SCHEMA_WORD_BYTES ? all : SCHEMA_WORD_BYTES - 1;
  memcpy(word, at, length);
  word[length] = '\0';
}

bool schema_table(int number, char name[SCHEMA_WORD_BYTES]) {
  const char *at = next_table(schema_sql);
  for (int i = 0; at && i < number; i++) at = next_table(at);
  if (at) copy_word(at, name);
  return at != NULL;
}

/* The cheap comparison is first: opening a database compares each column with many words. */
static bool is_word(const char *at, const char *word, size_t length) {
  return strncasecmp(at, word, length) == 0 && strspn(at, word_letters) == length;
}

static const char *find_table(const char *sql, const char *name, size_t length) {
  const char *at = next_table(sql);
  while (at && !is_word(at, name, length)) at = next_table(at);
  return at;
}

bool schema_has_table(const char *name, size_t length) { return find_table(schema_sql, name, length) != NULL; }

struct schema_columns schema_columns(const char *table) {
  const size_t length = strlen(table);
  return (struct schema_columns){find_table(schema_sql, table, length), find_table(schema_4_sql, table, length)};
}

/* Each column has a line of its own, which begins with two blanks, its name and its type.
 *   table  where the table's name stands; may be NULL */
static bool find_type(const char *table, const char *column, char type[SCHEMA_WORD_BYTES]) {
  const size_t length = strlen(column);
  for (const char *at = table ? strchr(table, '\n') : NULL; at && at[1] != ')'; at = strchr(at + 1, '\n')) {
    const char *name = at + 1 + strspn(at + 1, " ");
    if (!is_word(name, column, length)) continue;
    name += length;
    copy_word(name + strspn(name, " "), type);
    return *type != '\0';
  }
  return false;
}

bool schema_column_type(const struct schema_columns *columns, const char *column, char type[SCHEMA_WORD_BYTES]) {
  return find_type(columns->now, column, type) || find_type(columns->in_version_4, column, type);
}
