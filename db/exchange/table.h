/* table.h: the tables of the schema as data, so that export, import and merge are one loop over columns each. The
 * columns are read from the database itself; only facts that SQL does not tell are written down here. */
#ifndef DB_EXCHANGE_TABLE_H
#define DB_EXCHANGE_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/fail.h"
#include "base/text/text.h"

/* A table stands behind those that it refers to. The table `origin` is missing, because each database has its own. */
#define TABLE_LIST(X)           \
  X(DEVICE, "device")           \
  X(STENCIL, "stencil")         \
  X(TEXT, "stencil_text")       \
  X(TEMPLATE, "template")       \
  X(PROBLEM, "problem")         \
  X(VARIANT, "variant")         \
  X(RUN, "run")                 \
  X(MEASUREMENT, "measurement") \
  X(FINALIST, "finalist")       \
  X(BEST, "best")               \
  X(PREDICTION, "prediction")
#define TABLE_AS_ENUMERATOR(name, text) TABLE_##name,
enum table_name { TABLE_LIST(TABLE_AS_ENUMERATOR) TABLE_COUNT };
#undef TABLE_AS_ENUMERATOR
extern const char *const table_names[TABLE_COUNT];

enum column_kind {
  COLUMN_INTEGER,
  COLUMN_REAL,
  COLUMN_TEXT,
  COLUMN_JSON,    /* a text that holds JSON */
  COLUMN_SAMPLES, /* 32-bit floats */
  COLUMN_BYTES,
};

struct column {
  char name[32];
  enum column_kind kind;
  int refers_to;      /* the table whose id it holds; -1: none */
  bool is_key;        /* it is part of the key, by which two rows are the same */
  bool is_compared;   /* two rows with the same key are in conflict if they differ here */
  bool must_be_given; /* NULL is not allowed, and there is no default */
};

/* Columns in the schema's order, without id. */
enum { MAX_COLUMNS = 48 };
struct table {
  const char *name;
  bool has_id;
  int column_count;
  struct column columns[MAX_COLUMNS];
};

struct tables {
  struct table list[TABLE_COUNT];
};

/* Read the tables of a database of this version. The struct has about 60 KB, so keep it off small stacks. */
halotune_status tables_read(sqlite3 *connection, struct tables *out);

/* The position of a column by its name; -1 if the table has no such column. */
int table_column(const struct table *table, const char *name);

/* Fail because a row refers to a row that does not exist. Returns HALOTUNE_DB. */
halotune_status table_refer_fail(const struct table *table, const struct column *column);

/* SQL over all columns, for which ask text_ok(sql):
 *   select: id (0 without one), then the columns, of all rows
 *   insert: the same places, id left to SQLite where it is bound to NULL
 *   find: the id (rowid) and the columns of the row with this key; places are numbered as those of insert */
void table_select(const struct table *table, struct text *sql);
void table_insert(const struct table *table, struct text *sql);
void table_find(const struct table *table, struct text *sql);

#endif
