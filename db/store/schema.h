/* schema.h: db/schema.sql and db/schema_4.sql as texts inside the program, and the numbers that mark a file as made
 * from schema.sql. */
#ifndef DB_STORE_SCHEMA_H
#define DB_STORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

enum {
  SCHEMA_VERSION = 10,                /* user_version of the files that this program writes */
  SCHEMA_TABLES_VERSION = 9,          /* the first version with the tables of today: only names differ since */
  SCHEMA_APPLICATION_ID = 0x48414c4f, /* application_id of these files: "HALO" */
  SCHEMA_UNTRUSTED_ID = 0x48414c55,   /* application_id of files with untrusted imports: "HALU" */
};

extern const char schema_sql[];

/* The tables of version 4, into which documents of version 1 are read. */
extern const char schema_4_sql[];

enum { SCHEMA_WORD_BYTES = 32 };

/* Get the name of a table of schema_sql, by its number from 0. Older versions had no other tables. Returns false if
 * there is no such table. */
bool schema_table(int number, char name[SCHEMA_WORD_BYTES]);

/* Whether schema_sql has a table of this name. Upper and lower case are the same. */
bool schema_has_table(const char *name, size_t length);

/* Where the columns of a table are defined: in schema_sql, and in schema_4_sql. NULL where there is no such table. */
struct schema_columns {
  const char *now, *in_version_4;
};

struct schema_columns schema_columns(const char *table);

/* The type that a table's column has, in every version that has the column. Returns false for an unknown column. */
bool schema_column_type(const struct schema_columns *columns, const char *column, char type[SCHEMA_WORD_BYTES]);

#endif
