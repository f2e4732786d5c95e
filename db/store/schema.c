/* schema.c: the files of SQL as texts, and the tables and columns that they define. The assembler puts the files into
 * the program; their paths begin at the root of the tree. */
#include "db/store/schema.h"

#include <stdio.h>
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

bool schema_table(int number, char name[SCHEMA_WORD_BYTES]) {
  const char *at = next_table(schema_sql);
  for (int i = 0; at && i < number; i++) at = next_table(at);
  if (at) snprintf(name, SCHEMA_WORD_BYTES, "%.*s", (int)strspn(at, word_letters), at);
  return at != NULL;
}

/* The cheap comparison is first: opening a database compares each column with many words. */
static bool is_word(const char *at, const char *word, size_t length) {
  return strncasecmp(at, word, length) == 0 && strspn(at, word_letters) == length;
}

bool schema_has_table(const char *name, size_t length) {
  for (const char *at = next_table(schema_sql); at; at = next_table(at)) {
    if (is_word(at, name, length)) return true;
  }
  return false;
}

/* Each column has a line of its own, which begins with two blanks, its name and its type. */
static bool find_type(const char *sql, const char *table, const char *column, char type[SCHEMA_WORD_BYTES]) {
  for (const char *at = next_table(sql); at; at = next_table(at)) {
    if (!is_word(at, table, strlen(table))) continue;
    for (at = strchr(at, '\n'); at && at[1] != ')'; at = strchr(at + 1, '\n')) {
      const char *name = at + 1 + strspn(at + 1, " ");
      if (!is_word(name, column, strlen(column))) continue;
      name += strlen(column);
      name += strspn(name, " ");
      snprintf(type, SCHEMA_WORD_BYTES, "%.*s", (int)strspn(name, word_letters), name);
      return *type != '\0';
    }
    return false;
  }
  return false;
}

bool schema_column_type(const char *table, const char *column, char type[SCHEMA_WORD_BYTES]) {
  return find_type(schema_sql, table, column, type) || find_type(schema_4_sql, table, column, type);
}
