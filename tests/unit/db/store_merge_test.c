/* store_merge_test.c: databases are exported, imported, merged, checked and reduced. */
#include <fcntl.h>

#include "base/files/replace.h"
#include "db/exchange/content.h"
#include "db/exchange/export.h"
#include "db/exchange/forget.h"
#include "db/exchange/import.h"
#include "db/exchange/merge.h"
#include "db/exchange/table.h"
#include "db/exchange/untrusted_files.h"
#include "db/store/check.h"
#include "db/store/columns.h"
#include "db/store/query.h"
#include "tests/unit/stores.h"

static const struct choice everything = {.stencil = NULL};

struct fixture {
  struct store *store;
  struct bench_case c;
};

static void sql(struct store *store, const char *text) { CHECK_OK(query_script(store_connection(store), text)); }

/* A database in memory with two problems. The first problem has two runs. */
static void begin_fixture(struct fixture *f) {
  CHECK_OK(store_open_memory(&f->store));
  case_load(&f->c);
  case_put(&f->c, f->store, 512);
  case_tune(&f->c, f->store, 1, 3, 0.30);
  case_tune(&f->c, f->store, 2, 2, 0.29);
  case_put(&f->c, f->store, 513);
  case_tune(&f->c, f->store, 10, 1, 0.5);
  /* so that runs do not begin in the same millisecond */
  sql(f->store, "update run set started = '2026-11-21T12:00:0' || id || '.000Z'");
}

static void end_fixture(struct fixture *f) {
  store_close(f->store);
  case_free(&f->c);
}

static char *exported(struct store *store, bool cubins) {
  struct text text = {0};
  CHECK_OK(store_export(store, &everything, cubins, &text));
  CHECK(text_ok(&text), "memory");
  return text.bytes;
}

static void import_text(const char *text, struct store **out) {
  CHECK_OK(import_parse(text, strlen(text), "doc.json", out));
}

static void keep_text(void *context, const char *text) {
  char *kept = context;
  if (!*kept) snprintf(kept, 512, "%s", text);
}

static long check_store(struct store *store, char first[512]) {
  long found = -1;
  first[0] = '\0';
  CHECK_OK(store_check(store, keep_text, first, &found));
  return found;
}

static void check_whole(struct store *store) {
  char first[512];
  CHECK_EQ(0, check_store(store, first), "%s", first);
}

/* Options of a merge from "other.db". */
static const struct merge_options from_other = {.origin = {"imported", "other.db", "", "", ""}};

/* Rows that came from there, as SQL about a row of `best`. */
#define FROM_OTHER "(select name from origin where origin.id = origin_id) = 'other.db'"

static void merge_store(struct store *to, struct store *from, struct merge_counts *counts) {
  const struct merge_options options = from_other;
  CHECK_OK(store_merge(to, from, &options, counts));
}

/* Make one store a copy of another one, with its ids. */
static void copy_pages(struct store *to, struct store *from) {
  sqlite3_backup *backup = sqlite3_backup_init(store_connection(to), "main", store_connection(from), "main");
  CHECK(backup && sqlite3_backup_step(backup, -1) == SQLITE_DONE, "backup");
  sqlite3_backup_finish(backup);
}

TEST(every_table_is_described) {
  struct store *store;
  static struct tables tables;
  char kinds[16] = "";
  CHECK_OK(store_open_memory(&store));
  CHECK_OK(tables_read(store_connection(store), &tables));
  int64_t known = number_of(store, "select count(*) from sqlite_master where type = 'table' and name not like 'sqlite%'"
                                   " and name <> 'origin'");
  CHECK_EQ(TABLE_COUNT, known, "a table of the schema is not in TABLE_LIST, or the other way round");
  for (int i = 0; i < TABLE_COUNT; i++) {
    int keys = 0;
    const struct table *table = &tables.list[i];
    CHECK(table->column_count > 0, "%s", table->name);
    for (int k = 0; k < table->column_count; k++) {
      const struct column *column = &table->columns[k];
      const char *suffix = strstr(column->name, "_id");
      bool refers = suffix && suffix[3] == '\0' && strcmp(column->name, "origin_id") != 0;
      keys += column->is_key;
      CHECK_EQ(refers, column->refers_to >= 0, "%s.%s", table->name, column->name);
      kinds[column->kind] = 'x';
    }
    CHECK(keys > 0, "%s has a key", table->name);
  }
  for (int i = 0; i <= COLUMN_BYTES; i++) CHECK_EQ('x', kinds[i], "kind %d", i);
  store_close(store);
}

/* Columns that db/store/columns.h does not list: ids, and columns that are computed when a row is stored. */
static const struct {
  const char *table, *columns;
} listed[] = {
    {"measurement", " id, run_id, variant_id" MEASUREMENT_COLUMNS(COLUMN_NAME) ", "},
    {"finalist", " run_id" FINALIST_COLUMNS(COLUMN_NAME) ", "},
    {"best", " id, is_current, date, launch, coefficients, cubin, text_id, origin_id" BEST_COLUMNS(COLUMN_NAME) ", "},
};

TEST(every_column_is_listed) {
  struct store *store;
  char query[4096];
  CHECK_OK(store_open_memory(&store));
  for (size_t i = 0; i < COUNT(listed); i++) {
    snprintf(query, sizeof query,
             "select count(*) from pragma_table_info('%s') where instr('%s', ' ' || name || ',') = 0", listed[i].table,
             listed[i].columns);
    CHECK_EQ(0, number_of(store, query), "schema.sql has a column of %s that columns.h lacks", listed[i].table);
    snprintf(query, sizeof query,
             "select (length('%s') - length(replace('%s', ',', ''))) - count(*) from pragma_table_info('%s')",
             listed[i].columns, listed[i].columns, listed[i].table);
    CHECK_EQ(0, number_of(store, query), "columns.h has a column of %s that schema.sql lacks", listed[i].table);
  }
  store_close(store);
}

TEST(a_document_is_read_as_it_was_written) {
  for (int cubins = 0; cubins < 2; cubins++) {
    struct fixture f;
    struct store *copy;
    begin_fixture(&f);
    char *first = exported(f.store, cubins), *second;
    import_text(first, &copy);
    second = exported(copy, cubins);
    CHECK_TEXT(first, second, "with%s cubins", cubins ? "" : "out");
    CHECK_EQ(cubins ? 11 : 0, number_of(copy, "select max(length(cubin)) from best"), "cubins");
    CHECK_EQ(3, number_of(copy, "select count(*) from best where length(source) > 10"), "sources");
    check_whole(copy);
    store_close(copy);
    free(second);
    free(first);
    end_fixture(&f);
  }
}

/* Ids differ from file to file, so documents must not contain them. */
TEST(equal_rows_give_equal_documents) {
  struct fixture f;
  struct store *copy;
  begin_fixture(&f);
  char *first = exported(f.store, true), *second;
  import_text(first, &copy);
  sql(f.store, "delete from finalist where run_id = 1; delete from best where run_id = 1; delete from measurement "
               "where run_id = 1;"
               "delete from run where id = 1");
  sql(copy, "delete from finalist where run_id = 1; delete from best where run_id = 1; delete from measurement where "
            "run_id = 1;"
            "delete from run where id = 1; vacuum");
  free(first);
  first = exported(f.store, true);
  second = exported(copy, true);
  CHECK_TEXT(first, second, "rows removed");
  CHECK(strstr(first, "\"run\": [\n{\"id\":1,"), "counted from 1");
  free(second);
  free(first);
  store_close(copy);
  end_fixture(&f);
}

TEST(a_choice_leaves_the_rest_out) {
  static const struct {
    struct choice choice;
    int64_t problems, runs, bests, variants;
  } rows[] = {
      {{.stencil = NULL}, 2, 3, 3, 4},
      {{.stencil = "star7", .has_grid = true, .grid = {{513, 256, 128}}}, 1, 1, 1, 1},
      {{.stencil = "star7", .has_dtype = true, .dtype = DTYPE_F64}, 0, 0, 0, 0},
      {{.stencil = "copy"}, 0, 0, 0, 0},
      {{.device = "NVIDIA H200"}, 2, 3, 3, 4},
      {{.device = "GPU-01234567-89ab-cdef-0123-456789abcdef"}, 2, 3, 3, 4},
      {{.device = "NVIDIA A100"}, 0, 0, 0, 0},
      {{.before = "2020-01-01"}, 2, 0, 0, 0},
      {{.before = "2999-01-01"}, 2, 3, 3, 4},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct store *copy;
    struct text text = {0};
    begin_fixture(&f);
    CHECK_OK(store_export(f.store, &rows[i].choice, false, &text));
    import_text(text_string(&text), &copy);
    CHECK_EQ(rows[i].problems, number_of(copy, "select count(*) from problem"), "row %zu", i);
    CHECK_EQ(rows[i].runs, number_of(copy, "select count(*) from run"), "row %zu", i);
    CHECK_EQ(rows[i].bests, number_of(copy, "select count(*) from best"), "row %zu", i);
    CHECK_EQ(rows[i].variants, number_of(copy, "select count(*) from variant"), "row %zu", i);
    check_whole(copy);
    store_close(copy);
    text_free(&text);
    end_fixture(&f);
  }
}

/* The document with `from` replaced by `to`. */
static char *replace_part(const char *document, const char *from, const char *to) {
  struct text text = {0};
  const char *at = strstr(document, from);
  CHECK(at, "the document has '%s'", from);
  if (!at) return NULL;
  text_add(&text, document, (size_t)(at - document));
  text_add(&text, to, strlen(to));
  at += strlen(from);
  text_add(&text, at, strlen(at));
  return text.bytes;
}

TEST(a_bad_document_is_refused_with_its_place) {
  static const struct {
    const char *from, *to, *message;
  } rows[] = {
      {"{\"format\"", "\"format\"", "doc.json:1:"},
      {"halotune database", "something else", "neither a tuning database"},
      {"\"version\": 2,", "\"version\": 3,", "versions 1 to 2"},
      {"\"version\": 2,", "\"version\": \"2\",", "versions 1 to 2"},
      {"\"tables\": {", "\"tables\": [], \"x\": {", "'tables' is missing"},
      {"\"tables\": {", "\"x\": 1, \"tables\": {", "no member 'x'"},
      {"\"tables\": {", "\"signer\": \"x\", \"tables\": {", "signature is not at its end"},
      {"\"problem\": [", "\"problems\": [", "no table 'problems'"},
      {"\"problem\": [", "\"problem\": 7, \"x\": [", "no table 'x'"},
      {"\"dtype\":\"f32\"", "\"dtype\":\"f16\"", "problem, row 1"},
      {"\"dtype\":\"f32\"", "\"dtype\":7", "problem, row 1: the value of 'dtype' has the wrong type"},
      {"\"dtype\":\"f32\",", "", "problem, row 1: 'dtype' is missing"},
      {"\"dtype\":\"f32\"", "\"dtype\":\"f32\",\"more\":1", "'more' is not allowed here"},
      {"\"dtype\":\"f32\"", "\"dtype\":\"f32\",\"\\u001b[31m\":1", "'?[31m' is not allowed here"},
      {"\"problem_id\":1", "\"problem_id\":77", "run, row 1: FOREIGN KEY"},
      {"\"samples\":[0.33,", "\"samples\":[\"x\",", "measurement, row 1: 'samples'"},
      {"\"is_current\":0", "\"is_current\":1", "best, row 2: UNIQUE"},
      {"\"is_current\":0", "\"is_current\":0,\"is_trusted\":1", "'is_trusted' is not allowed here"},
      {"\"is_current\":0", "\"is_current\":0,\"origin_id\":1", "'origin_id' is not allowed here"},
      {"\"is_current\":0", "\"is_current\":0,\"origin\":\"tuned\"", "'origin' is not allowed here"},
      {"\"cubin\":\"", "\"cubin\":\"*", "'cubin' is not base64"},
  };
  struct fixture f;
  begin_fixture(&f);
  char *document = exported(f.store, true);
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct store *out;
    char *bad = replace_part(document, rows[i].from, rows[i].to);
    CHECK_EQ(HALOTUNE_PARSE, import_parse(bad, strlen(bad), "doc.json", &out), "row %zu: %s", i, rows[i].to);
    CHECK(!out && strstr(fail_text(), rows[i].message), "row %zu: %s", i, fail_text());
    free(bad);
  }
  free(document);
  end_fixture(&f);
}

TEST(a_document_in_t4) {
  struct fixture f;
  struct text text = {0};
  struct choice one = {.stencil = "star7", .has_grid = true, .grid = {{513, 256, 128}}}, none = {.stencil = "copy"};
  begin_fixture(&f);
  CHECK_EQ(HALOTUNE_ARGUMENT, store_export_t4(f.store, &everything, &text), "several problems");
  CHECK(strstr(fail_text(), "star7,f32,512x256x128"), "%s", fail_text());
  text_free(&text);
  CHECK_EQ(HALOTUNE_NOT_FOUND, store_export_t4(f.store, &none, &text), "no problem");
  text_free(&text);
  CHECK_OK(store_export_t4(f.store, &one, &text));
  static const char *const parts[] = {"\"schema_version\": \"1.0.0\"",
                                      "\"grid\": [513, 256, 128]",
                                      "\"invalidity\": \"correct\"",
                                      "\"correctness\": 1",
                                      "\"configuration\": {\"template\": \"zmarch\",\"",
                                      "\"runtimes\": [0.33, 0.325, 0.3241]",
                                      "\"objectives\": [\"time\"]",
                                      "{\"name\": \"time\", \"value\": 0.325, \"unit\": \"ms\"}",
                                      "\"compilation\": 88.5"};
  for (size_t i = 0; i < COUNT(parts); i++) CHECK(strstr(text_string(&text), parts[i]), "%s", parts[i]);
  text_free(&text);
  sql(f.store, "update variant set parameters = ' { } '");
  CHECK_OK(store_export_t4(f.store, &one, &text));
  CHECK(strstr(text_string(&text), "{\"template\": \"zmarch\"}, "), "%s", text_string(&text));
  text_free(&text);
  sql(f.store, "update variant set parameters = '{}, \"times\": {}}, {\"more\":{}'"); /* would add a result */
  CHECK_EQ(HALOTUNE_DB, store_export_t4(f.store, &one, &text), "%s", text_string(&text));
  CHECK(strstr(fail_text(), "'parameters' is no JSON"), "%s", fail_text());
  text_free(&text);
  end_fixture(&f);
}

/* Characters that reverse the order of others, and those of terminals, are escapes in every column. */
TEST(hidden_characters_are_exported_as_escapes) {
  static const struct {
    const char *stored, *want;
  } rows[] = {
      {"{\"halo_load\":\"a\xE2\x80\xAE\xC2\x9B\"}", "\"halo_load\":\"a\\u202E\\u009B\"}"},
      {"{ \"a\xE2\x80\xAE\": 0.1, \"b\": [1.5] }", "\"a\\u202E\":0.1,\"b\":[1.5]}"},
  };
  struct choice one = {.stencil = "star7", .has_grid = true, .grid = {{513, 256, 128}}};
  struct fixture f;
  begin_fixture(&f);
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0}, change = {0};
    text_printf(&change, "update variant set parameters = '%s'", rows[i].stored);
    sql(f.store, text_string(&change));
    CHECK_OK(store_export(f.store, &one, false, &text));
    CHECK(strstr(text_string(&text), rows[i].want), "row %zu: %s", i, text_string(&text));
    text_free(&text);
    CHECK_OK(store_export_t4(f.store, &one, &text));
    CHECK(strstr(text_string(&text), rows[i].want), "row %zu: %s", i, text_string(&text));
    text_free(&text);
    text_free(&change);
  }
  end_fixture(&f);
}

/* A choice of problems that differ in nothing but their mode. */
TEST(a_document_in_t4_takes_the_mode_that_is_chosen) {
  static const char here[] = "star7,f32,512x256x128 on NVIDIA H200, ";
  static const struct {
    const char *change; /* of one of the two problems */
    struct choice choice;
    const char *part; /* of the document, or of the message */
    int results;
  } rows[] = {
      {"steps = 4", {.stencil = "star7"}, "stream, steady, 4 steps", 0},
      {"steps = 4", {.steps = 4}, "\"steps\": 4, \"reproducible\": false", 1},
      {"steps = 4", {.steps = 1}, "\"steps\": 1, \"reproducible\": false", 5},
      {"launch = 'graph'", {.stencil = "star7"}, "graph, steady, 1 step", 0},
      {"launch = 'graph'", {.launch = "graph"}, "\"launch\": \"graph\"", 1},
      {"launch = 'graph'", {.launch = "stream"}, "\"launch\": \"stream\"", 5},
      {"cache = 'cold'", {.cache = "cold"}, "\"cache\": \"cold\"", 1},
      {"is_reproducible = 1", {.stencil = "star7"}, "\"reproducible\": false", 5},
      {"is_reproducible = 1", {.is_reproducible = true}, "\"reproducible\": true", 1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct text text = {0};
    begin_fixture(&f);
    char *change = sqlite3_mprintf("update problem set nx = 512, %s where nx = 513", rows[i].change);
    sql(f.store, change);
    sqlite3_free(change);
    const halotune_status status = store_export_t4(f.store, &rows[i].choice, &text);
    const char *said = status == HALOTUNE_OK ? text_string(&text) : fail_text();
    CHECK(strstr(said, rows[i].part), "row %zu: %s", i, said);
    CHECK_EQ(rows[i].results > 0 ? HALOTUNE_OK : HALOTUNE_ARGUMENT, status, "row %zu: %s", i, said);
    int results = 0;
    for (const char *at = said; (at = strstr(at, "\"timestamp\"")); at++) results++;
    CHECK_EQ(rows[i].results, results, "row %zu: %s", i, said);
    CHECK(status == HALOTUNE_OK || strstr(said, here), "row %zu: %s", i, said);
    text_free(&text);
    end_fixture(&f);
  }
}

TEST(a_merge_takes_everything_once) {
  struct fixture f;
  struct store *to;
  struct merge_counts counts;
  begin_fixture(&f);
  CHECK_OK(store_open_memory(&to));
  for (int i = 0; i < 2; i++) {
    merge_store(to, f.store, &counts);
    CHECK_EQ(i == 0 ? 3 : 0, counts.runs, "time %d", i);
    CHECK_EQ(i == 0 ? 6 : 0, counts.measurements, "time %d", i);
    CHECK_EQ(i == 0 ? 3 : 0, counts.bests, "time %d", i);
    CHECK_EQ(0, counts.taken + counts.kept, "time %d", i);
  }
  CHECK_EQ(2, number_of(to, "select count(*) from best where is_current and " FROM_OTHER), "bests");
  CHECK_EQ(1, number_of(to, "select count(*) from best where is_current and time_ms = 0.29"), "the current one");
  check_whole(to);
  char *first, *second;
  first = exported(f.store, true);
  second = exported(to, true);
  CHECK_TEXT(first, second, "the same rows");
  free(first);
  free(second);
  store_close(to);
  end_fixture(&f);
}

/* Each table says where its rows come from. Earlier rows keep their origin. */
TEST(rows_say_where_they_come_from) {
  static const char *const tables[] = {"device",  "stencil", "stencil_text", "template",
                                       "problem", "variant", "run",          "best"};
  struct fixture f;
  struct store *to;
  struct bench_case c;
  begin_fixture(&f);
  CHECK_OK(store_open_memory(&to));
  case_load(&c);
  case_put(&c, to, 512);
  merge_store(to, f.store, NULL);
  for (size_t i = 0; i < COUNT(tables); i++) {
    char query[192];
    snprintf(query, sizeof query, "select count(*) from %s where origin_id not in (select id from origin)", tables[i]);
    CHECK_EQ(0, number_of(to, query), "%s", tables[i]);
  }
  CHECK_EQ(3, number_of(to, "select count(*) from best where " FROM_OTHER), "bests");
  CHECK_EQ(3, number_of(to, "select count(*) from run where " FROM_OTHER), "runs");
  CHECK_EQ(0, number_of(to, "select count(*) from stencil where " FROM_OTHER), "that was here before");
  CHECK_EQ(1, number_of(to, "select count(*) from origin where kind = 'measured' and name like '%@%'"), "this user");
  case_free(&c);
  store_close(to);
  end_fixture(&f);
}

/* The same key with other content is named and refused, and nothing of the file is taken. */
TEST(a_row_in_conflict_is_refused) {
  static const struct {
    const char *sql, *message;
  } rows[] = {
      {"update device set is_emulation = 1", "of device (uuid 'GPU-01234567-89ab-cdef-0123-456789abcdef')"},
      {"update device set is_emulation = 1", "another 'is_emulation'"},
      {"update device set l2_bytes = 7", "another 'l2_bytes'"},
      {"update stencil_text set text = 'other'", "another 'text'"},
      {"update run set driver = '7' where id = 1", "another 'driver'"},
      {"update run set ended = '2020-01-01T00:00:00.000Z' where id = 1", "another 'ended'"},
      {"update measurement set median_ms = 0.001 where id = 1", "another 'median_ms'"},
      {"update finalist set rank = 7 where run_id = 1", "another 'rank'"},
      {"update best set time_ms = 0.001 where id = 1", "another 'time_ms'"},
      {"update best set launch = replace(launch, '32', '64') where id = 1", "another 'launch'"},
      {"update best set coefficients = '[1]' where id = 1", "another 'coefficients'"},
      {"update best set source = 'other' where id = 1", "another 'source'"},
      {"update best set cubin = x'00' where id = 1", "another 'cubin'"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct merge_options options = from_other;
    struct fixture f;
    struct store *to;
    begin_fixture(&f);
    CHECK_OK(store_open_memory(&to));
    merge_store(to, f.store, NULL);
    case_put(&f.c, f.store, 514);
    case_tune(&f.c, f.store, 20, 1, 0.5);
    sql(f.store, rows[i].sql);
    CHECK_EQ(HALOTUNE_DB, store_merge(to, f.store, &options, NULL), "%s", rows[i].sql);
    CHECK(strstr(fail_text(), rows[i].message) && strstr(fail_text(), "other.db"), "%s: %s", rows[i].sql, fail_text());
    CHECK_EQ(!strstr(rows[i].sql, "stencil_text"), strstr(fail_text(), "'halotune db forget --") != NULL,
             "%s: a remedy", rows[i].sql);
    CHECK_EQ(2, number_of(to, "select count(*) from problem"), "%s: nothing is taken", rows[i].sql);
    check_whole(to);
    store_close(to);
    end_fixture(&f);
  }
}

/* Machine code may be left out, and comes later. */
TEST(machine_code_is_taken_where_it_is_wanted) {
  struct fixture f;
  struct store *to, *copy;
  struct merge_options options = from_other;
  begin_fixture(&f);
  CHECK_OK(store_open_memory(&to));
  char *document = exported(f.store, false);
  import_text(document, &copy);
  merge_store(to, copy, NULL);
  CHECK_EQ(0, number_of(to, "select max(length(cubin)) from best"), "the document has none");
  options.without_code = true;
  CHECK_OK(store_merge(to, f.store, &options, NULL));
  CHECK_EQ(0, number_of(to, "select max(length(cubin)) from best"), "it is not wanted");
  merge_store(to, f.store, NULL);
  CHECK_EQ(11, number_of(to, "select min(length(cubin)) from best"), "it is wanted");
  merge_store(to, copy, NULL);
  CHECK_EQ(11, number_of(to, "select min(length(cubin)) from best"), "and stays");
  store_close(copy);
  free(document);
  store_close(to);
  end_fixture(&f);
}

struct conflicts {
  int count;
  struct merge_conflict last;
};

static void keep_conflict(void *context, const struct merge_conflict *conflict) {
  struct conflicts *conflicts = context;
  conflicts->count++;
  conflicts->last = *conflict;
}

/* Our winner is variant 1: 0.30 ms on 2026-01-01 with driver 1, on another host. */
TEST(conflicts_are_decided_by_quality) {
  static const struct {
    const char *what, *theirs;
    uint64_t variant;
    bool is_taken;
  } rows[] = {
      {"faster", "time_ms = 0.2, date = '2025-02-01T00:00:00.000Z'", 2, true},
      {"newer, slower", "time_ms = 0.4, date = '2026-02-01T00:00:00.000Z'", 2, false},
      {"the same variant, newer, slower", "time_ms = 0.4, date = '2026-02-01T00:00:00.000Z'", 1, false},
      {"the same variant, older, faster", "time_ms = 0.2, date = '2025-02-01T00:00:00.000Z'", 1, false},
      {"the same variant with another driver, older, faster",
       "time_ms = 0.2, date = '2025-02-01T00:00:00.000Z', driver = '2'", 1, false},
      {"another variant with another driver, newer, faster",
       "time_ms = 0.2, date = '2026-02-01T00:00:00.000Z', driver = '2'", 2, true},
      {"the same variant with another driver, newer, slower",
       "time_ms = 0.4, date = '2026-02-01T00:00:00.000Z', driver = '2'", 1, false},
      {"as fast, newer", "date = '2026-02-01T00:00:00.000Z'", 2, false},
      {"as fast, older", "date = '2025-02-01T00:00:00.000Z'", 2, false},
      {"faster, of a partial run", "time_ms = 0.2, date = '2025-02-01T00:00:00.000Z'; update run set state = 'partial'",
       2, false},
      {"the same variant, newer, of a partial run",
       "time_ms = 0.4, date = '2026-02-01T00:00:00.000Z'; update run set state = 'partial'", 1, false},
      {"of a partial run with another driver, faster", "time_ms = 0.2, driver = '2'; update run set state = 'partial'",
       2, true},
      {"for its energy, newer",
       "time_ms = 0.2, date = '2026-02-01T00:00:00.000Z', objective = 'energy', energy_mj = 90", 2, false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct store *to, *from;
    struct bench_case c;
    struct conflicts conflicts = {0};
    struct merge_counts counts;
    struct merge_options options = from_other;
    char change[512];
    options.conflict = keep_conflict;
    options.context = &conflicts;
    case_load(&c);
    CHECK_OK(store_open_memory(&to));
    CHECK_OK(store_open_memory(&from));
    case_put(&c, to, 512);
    case_tune(&c, to, 1, 1, 0.30);
    case_put(&c, from, 512);
    case_tune(&c, from, rows[i].variant, 1, 0.30);
    sql(to,
        "update best set date = '2026-01-01T00:00:00.000Z', driver = '1'; update run set started = '2026-01-01T00:00:00.000Z', host = 'ours'");
    snprintf(change, sizeof change,
             "update best set driver = '1'; update best set %s; update best set low_ms = time_ms, high_ms = time_ms",
             rows[i].theirs);
    sql(from, change);
    const int steps = (int)i % 4 + 1;
    snprintf(change, sizeof change, "update problem set steps = %d", steps);
    sql(to, change);
    sql(from, change);
    CHECK_OK(store_merge(to, from, &options, &counts));
    CHECK_EQ(1, conflicts.count, "%s", rows[i].what);
    CHECK_EQ(steps, conflicts.last.steps, "%s", rows[i].what);
    CHECK_EQ(rows[i].is_taken, conflicts.last.is_taken, "%s", rows[i].what);
    CHECK_EQ(rows[i].is_taken, counts.taken, "%s", rows[i].what);
    CHECK_EQ(rows[i].is_taken, number_of(to, "select " FROM_OTHER " from best where is_current"), "%s", rows[i].what);
    CHECK_EQ(2, number_of(to, "select count(*) from best"), "%s: both are kept", rows[i].what);
    CHECK_EQ(1, number_of(to, "select count(*) from problem"), "%s: one problem", rows[i].what);
    sql(to, "update problem set steps = 1"); /* as the launches make */
    check_whole(to);
    store_close(from);
    store_close(to);
    case_free(&c);
  }
}

/* Winners for one objective or for two. Of two, that of this user's newest winner counts, whatever host and date a
 * document claims. */
TEST(the_objective_decides_between_winners) {
  static const struct {
    const char *what, *ours, *theirs, *host;
    bool is_taken;
  } rows[] = {
      {"less energy, slower", "objective = 'energy', energy_mj = 100",
       "objective = 'energy', energy_mj = 90, time_ms = 0.4", "theirs", true},
      {"more energy, faster", "objective = 'energy', energy_mj = 100",
       "objective = 'energy', energy_mj = 110, time_ms = 0.2", "theirs", false},
      {"less of the product", "objective = 'edp', energy_mj = 100", "objective = 'edp', energy_mj = 70, time_ms = 0.4",
       "theirs", true},
      {"by time, of another host", "objective = 'energy', energy_mj = 100", "time_ms = 0.2", "theirs", false},
      {"by energy, of this host, later", "time_ms = 0.3", "objective = 'energy', energy_mj = 90, time_ms = 0.2", "ours",
       false},
      {"by time, of this host, later", "objective = 'energy', energy_mj = 90", "time_ms = 0.2", "ours", false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct store *to, *from;
    struct bench_case c;
    struct merge_counts counts;
    char change[256];
    case_load(&c);
    CHECK_OK(store_open_memory(&to));
    CHECK_OK(store_open_memory(&from));
    case_put(&c, to, 512);
    case_tune(&c, to, 1, 1, 0.30);
    case_put(&c, from, 512);
    case_tune(&c, from, 2, 1, 0.30);
    snprintf(
        change, sizeof change,
        "update best set date = '2026-01-01T00:00:00.000Z', %s; update best set low_ms = time_ms, high_ms = time_ms;"
        " update run set host = 'ours', started = '2026-01-01T00:00:00.000Z'",
        rows[i].ours);
    sql(to, change);
    snprintf(
        change, sizeof change,
        "update best set date = '2026-02-01T00:00:00.000Z', %s; update best set low_ms = time_ms, high_ms = time_ms;"
        " update run set host = '%s'",
        rows[i].theirs, rows[i].host);
    sql(from, change);
    CHECK_OK(store_merge(to, from, &from_other, &counts));
    CHECK_EQ(rows[i].is_taken, counts.taken, "%s", rows[i].what);
    CHECK_OK(store_merge(to, from, &from_other, &counts));
    CHECK_EQ(rows[i].is_taken, number_of(to, "select " FROM_OTHER " from best where is_current"), "%s, again",
             rows[i].what);
    store_close(from);
    store_close(to);
    case_free(&c);
  }
}

TEST(reproducible_winners_stand_beside_others) {
  struct store *to, *from;
  struct bench_case c;
  struct conflicts conflicts = {0};
  const struct merge_options options = {.origin = from_other.origin, .conflict = keep_conflict, .context = &conflicts};
  case_load(&c);
  CHECK_OK(store_open_memory(&to));
  CHECK_OK(store_open_memory(&from));
  case_put(&c, to, 512);
  case_tune(&c, to, 1, 1, 0.30);
  case_put(&c, from, 512);
  case_tune(&c, from, 2, 1, 0.20);
  sql(from, "update problem set is_reproducible = 1");
  CHECK_OK(store_merge(to, from, &options, NULL));
  CHECK_EQ(0, conflicts.count, "they are no rivals");
  CHECK_EQ(2, number_of(to, "select count(*) from best where is_current"), "both are served");
  CHECK_EQ(1, number_of(to, "select sum(is_reproducible) from problem"), "one of two problems");
  check_whole(to);
  store_close(from);
  store_close(to);
  case_free(&c);
}

/* Store a verdict on a variant, in a new run that began on this date. */
static void put_verdict(struct fixture *f, uint64_t variant, enum outcome outcome, const char *date) {
  int64_t run = case_run(&f->c, f->store, "580.1");
  struct variant_key key = case_variant(&f->c, variant);
  struct measurement measurement = case_measurement(1);
  char text[128];
  measurement.outcome = outcome;
  measurement.at_s = 60;
  CHECK_OK(store_measurement(f->store, run, &key, &measurement, NULL));
  snprintf(text, sizeof text, "update run set started = '%s' where id = %lld", date, (long long)run);
  sql(f->store, text);
}

/* A database with a winner of 1 January 2026. */
static void begin_with_winner(struct fixture *f) {
  CHECK_OK(store_open_memory(&f->store));
  case_load(&f->c);
  case_put(&f->c, f->store, 512);
  case_tune(&f->c, f->store, 1, 1, 0.3);
  sql(f->store, "update run set started = '2026-01-01T00:00:00.000Z', ended = '2026-01-01T01:00:00.000Z';"
                "update best set date = '2026-01-01T01:00:00.000Z'");
}

/* One database serves a winner that it or another database knows to be wrong. */
TEST(what_is_known_to_be_wrong_is_not_served_after_a_merge) {
  enum { OURS = 1, THEIRS = 2 };
  static const struct {
    const char *what;
    int judge; /* who verified the variant again, possibly twice */
    enum outcome outcomes[2];
    const char *dates[2];
    bool ours_is_empty, theirs_is_other_mode;
    int64_t want, retired, refuted; /* current bests; counts of the merge */
  } rows[] = {
      {"nobody knows anything", 0, {0}, {NULL}, false, false, 1, 0, 0},
      {"they know it of ours", THEIRS, {OUTCOME_WRONG}, {"2026-01-02T00:00:00.000Z"}, false, false, 0, 1, 0},
      {"of another mode", THEIRS, {OUTCOME_OUT_OF_BOUNDS}, {"2026-01-02T00:00:00.000Z"}, false, true, 0, 1, 0},
      {"we know it of theirs", OURS, {OUTCOME_WRONG}, {"2026-01-02T00:00:00.000Z"}, false, false, 0, 0, 1},
      {"on the same day, before", THEIRS, {OUTCOME_WRONG}, {"2026-01-01T00:58:59.999Z"}, false, false, 1, 0, 0},
      {"on the same day, after", THEIRS, {OUTCOME_WRONG}, {"2026-01-01T00:59:00.001Z"}, false, false, 0, 1, 0},
      {"a crash is no verdict", THEIRS, {OUTCOME_CRASHED}, {"2026-01-02T00:00:00.000Z"}, false, false, 1, 0, 0},
      {"right again",
       THEIRS,
       {OUTCOME_WRONG, OUTCOME_SCREENED},
       {"2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z"},
       false,
       false,
       1,
       0,
       0},
      {"wrong again",
       THEIRS,
       {OUTCOME_MEASURED, OUTCOME_WRONG},
       {"2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z"},
       false,
       false,
       0,
       1,
       0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture ours, theirs;
    struct merge_counts counts;
    begin_with_winner(&ours);
    begin_with_winner(&theirs);
    if (rows[i].theirs_is_other_mode) sql(theirs.store, "update problem set launch = 'graph'");
    for (int k = 0; k < 2 && rows[i].dates[k]; k++) {
      put_verdict(rows[i].judge == OURS ? &ours : &theirs, 1, rows[i].outcomes[k], rows[i].dates[k]);
    }
    merge_store(ours.store, theirs.store, &counts);
    CHECK_EQ(rows[i].want, number_of(ours.store, "select count(*) from best where is_current"), "%s", rows[i].what);
    CHECK_EQ(rows[i].retired, counts.retired, "%s: retired", rows[i].what);
    CHECK_EQ(rows[i].refuted, counts.refuted, "%s: refuted", rows[i].what);
    check_whole(ours.store);
    end_fixture(&theirs);
    end_fixture(&ours);
  }
}

/* An export from before a variant was found to be wrong does not bring it back. */
TEST(an_old_export_brings_back_nothing_wrong) {
  struct fixture f;
  struct store *old;
  begin_with_winner(&f);
  char *document = exported(f.store, true);
  put_verdict(&f, 1, OUTCOME_WRONG, "2026-01-02T00:00:00.000Z");
  CHECK_EQ(0, number_of(f.store, "select count(*) from best where is_current"), "retired");
  import_text(document, &old);
  merge_store(f.store, old, NULL);
  CHECK_EQ(0, number_of(f.store, "select count(*) from best where is_current"), "and stays so");
  put_verdict(&f, 1, OUTCOME_MEASURED, "2026-01-03T00:00:00.000Z");
  merge_store(f.store, old, NULL);
  CHECK_EQ(1, number_of(f.store, "select count(*) from best where is_current"), "until it is found to be right");
  store_close(old);
  free(document);
  end_fixture(&f);
}

/* A signer's newer row of the same variant, without source or code, becomes current. It gets those of the row that it
 * replaces, if this user or the same signer gave them. */
TEST(a_newer_row_without_code_keeps_the_code) {
  static const char by_alice[] = "update origin set kind = 'imported', signer = 'alice', signer_key = '07'";
  static const struct merge_options alice = {.origin = {"imported", "a.json", "alice", "07", ""}};
  static const struct {
    const char *what, *theirs, *ours;
    int64_t has_source, has_code;
  } rows[] = {
      {"neither source nor code", "update best set source = '', cubin = x''", by_alice, 1, 1},
      {"no code", "update best set cubin = x''", by_alice, 1, 1},
      {"this user's row, another driver",
       "update best set source = '', cubin = x'', driver = '999', time_ms = 0.1, low_ms = 0.1", "", 1, 1},
      {"another NVRTC", "update best set source = '', cubin = x'', nvrtc = '12.0', time_ms = 0.1, low_ms = 0.1",
       by_alice, 0, 0},
      {"another architecture", "update best set source = '', cubin = x'', arch = 'sm_80'", by_alice, 0, 0},
      {"an earlier row of others", "update best set source = '', cubin = x'', time_ms = 0.1, low_ms = 0.1",
       "update origin set kind = 'imported', signer = 'bob', signer_key = '08'", 0, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture ours, theirs;
    begin_with_winner(&ours);
    begin_with_winner(&theirs);
    sql(ours.store, rows[i].ours);
    sql(theirs.store, "update run set started = '2026-01-02T00:00:00.000Z', seed = 77;"
                      " update best set date = '2026-01-02T00:00:00.000Z'");
    sql(theirs.store, rows[i].theirs);
    CHECK_OK(store_merge(ours.store, theirs.store, &alice, NULL));
    CHECK_EQ(1, number_of(ours.store, "select date = '2026-01-02T00:00:00.000Z' from best where is_current"), "%s",
             rows[i].what);
    CHECK_EQ(rows[i].has_source, number_of(ours.store, "select source <> '' from best where is_current"), "%s: source",
             rows[i].what);
    CHECK_EQ(rows[i].has_code, number_of(ours.store, "select length(cubin) > 0 from best where is_current"),
             "%s: machine code", rows[i].what);
    check_whole(ours.store);
    end_fixture(&theirs);
    end_fixture(&ours);
  }
}

/* A date in the future, by a wrong clock or on purpose, makes no variant wrong for ever, and none right. */
TEST(a_verdict_from_the_future_counts_nothing) {
  struct fixture ours, theirs;
  begin_with_winner(&ours);
  begin_with_winner(&theirs);
  put_verdict(&theirs, 1, OUTCOME_WRONG, "9999-01-01T00:00:00.000Z");
  merge_store(ours.store, theirs.store, NULL);
  CHECK_EQ(1, number_of(ours.store, "select count(*) from best where is_current"), "ours stays");
  put_verdict(&ours, 1, OUTCOME_WRONG, "2026-01-02T00:00:00.000Z");
  put_verdict(&theirs, 1, OUTCOME_MEASURED, "9999-01-02T00:00:00.000Z");
  merge_store(ours.store, theirs.store, NULL);
  CHECK_EQ(0, number_of(ours.store, "select count(*) from best where is_current"), "and is wrong when it is wrong");
  end_fixture(&theirs);
  end_fixture(&ours);
}

/* A date that lies in the future when a document is imported decides nothing when it has passed: the row is not taken
 * before that. */
TEST(a_row_from_the_future_is_taken_later) {
  static const struct {
    const char *what, *future, *past;
    int64_t bests, runs, measurements, future_count;
  } rows[] = {
      {"a winner", "update best set date = '9999-01-01T00:00:00.000Z'",
       "update best set date = '2026-01-02T00:00:00.000Z'", 1, 2, 2, 1},
      {"a run", "update run set started = '9999-01-01T00:00:00.000Z'",
       "update run set started = '2026-01-02T00:00:00.000Z'", 1, 1, 1, 4},
      {"a measurement, by its time in the run",
       "update run set ended = null; update measurement set at_s = 99999999999", "update measurement set at_s = 1", 2,
       2, 1, 1},
      {"a run that ends in the future", "update run set ended = '9999-01-01T00:00:00.000Z'",
       "update run set ended = '2026-01-02T00:00:00.000Z'", 1, 1, 1, 4},
      /* as in a replay of a long recording */
      {"a measurement that is later than the end of its run", "update measurement set at_s = 99999999999", "", 2, 2, 2,
       0},
      {"a measurement of a run without end", "update measurement set at_s = 1e300", "update measurement set at_s = 1",
       2, 2, 2, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture ours, theirs;
    struct merge_counts counts;
    begin_with_winner(&ours);
    begin_with_winner(&theirs);
    sql(theirs.store, "update run set started = '2026-01-02T00:00:00.000Z', seed = 77;"
                      " update best set date = '2026-01-02T00:00:00.000Z'");
    sql(theirs.store, rows[i].future);
    merge_store(ours.store, theirs.store, &counts);
    CHECK_EQ(rows[i].bests, number_of(ours.store, "select count(*) from best"), "%s", rows[i].what);
    CHECK_EQ(rows[i].runs, number_of(ours.store, "select count(*) from run"), "%s", rows[i].what);
    CHECK_EQ(rows[i].measurements, number_of(ours.store, "select count(*) from measurement"), "%s", rows[i].what);
    CHECK_EQ(rows[i].future_count, counts.future, "%s", rows[i].what);
    check_whole(ours.store);
    if (counts.future > 0) {
      sql(theirs.store, rows[i].past);
      merge_store(ours.store, theirs.store, &counts);
      CHECK_EQ(2, number_of(ours.store, "select count(*) from best"), "%s: later", rows[i].what);
      CHECK_EQ(2, number_of(ours.store, "select count(*) from measurement"), "%s: later", rows[i].what);
      CHECK_EQ(0, counts.future, "%s: later", rows[i].what);
    }
    end_fixture(&theirs);
    end_fixture(&ours);
  }
}

enum { DATABASES = 4, ORDERS = 24 };

/* The best of one database. */
struct permuted {
  uint64_t variant;
  double time_ms;
  const char *date, *driver, *host;
  uint64_t wrong; /* a variant that this database found to be wrong in June; 0: none */
};

/* The first value of a query; "none" if there is none. The caller frees it. */
static char *text_of(struct store *store, const char *sql) {
  sqlite3_stmt *query = NULL;
  CHECK_OK(query_prepare(store_connection(store), sql, &query));
  char *text = strdup(sqlite3_step(query) == SQLITE_ROW ? column_text(query, 0) : "none");
  sqlite3_finalize(query);
  CHECK(text, "memory");
  return text;
}

/* The results of runs. Ids depend on the order of merging, so that they are replaced by the values that they refer
 * to. */
#define SQL_ROWS                                                                                                     \
  "with a_run as (select id, json_array(started, host, driver, state, outcomes) as run from run),"                   \
  " a_row(text) as (select run from a_run"                                                                           \
  "  union all select json_array('measurement', run, source_hash, outcome, number, median_ms, hex(samples))"         \
  "   from measurement m join a_run on a_run.id = m.run_id join variant v on v.id = m.variant_id"                    \
  "  union all select json_array('finalist', run, source_hash, rank, median_ms, is_default)"                         \
  "   from finalist f join a_run on a_run.id = f.run_id join variant v on v.id = f.variant_id"                       \
  "  union all select json_array('best', run, source_hash, b.date, time_ms, is_current, source, hex(cubin), o.name)" \
  "   from best b join a_run on a_run.id = b.run_id join variant v on v.id = b.variant_id"                           \
  "   join origin o on o.id = b.origin_id)"                                                                          \
  " select group_concat(text, char(10)) from (select text from a_row order by text)"

/* Merge the databases into an empty one, in the order with this number. Sources, which take long to generate again, are
 * checked in the first and the last order.
 *   winner  receives "variant 2, 0.3 ms, 2026-01-02T00:00:00Z"
 *   rows    receives what SQL_ROWS tells; the caller frees both */
static void permuted_merge(struct store *from[DATABASES], int order, char **winner, char **rows) {
  struct store *to;
  int left[DATABASES] = {0, 1, 2, 3}, rest = order;
  CHECK_OK(store_open_memory(&to));
  for (int count = DATABASES; count > 0; rest /= count--) {
    const int at = rest % count, database = left[at];
    memmove(&left[at], &left[at + 1], (size_t)(count - at - 1) * sizeof *left);
    merge_store(to, from[database], NULL);
  }
  *winner = text_of(to, "select v.source_hash || ', ' || b.time_ms || ' ms, ' || b.date from best b"
                        " join variant v on v.id = b.variant_id where b.is_current");
  *rows = text_of(to, SQL_ROWS);
  CHECK(number_of(to, "select count(*) from best where is_current") <= 1, "one is current");
  CHECK_EQ(0, number_of(to, "select count(*) from pragma_foreign_key_check"), "order %d: references", order);
  if (order == 0 || order == ORDERS - 1) check_whole(to);
  store_close(to);
}

static void permuted_store(const struct permuted *row, struct fixture *f) {
  char change[256];
  CHECK_OK(store_open_memory(&f->store));
  case_load(&f->c);
  case_put(&f->c, f->store, 512);
  case_tune(&f->c, f->store, row->variant, 1, row->time_ms);
  snprintf(
      change, sizeof change,
      "update run set started = '%sT00:00:00Z', driver = '%s', host = '%s'; update best set date = '%sT00:00:00Z', driver = '%s'",
      row->date, row->driver, row->host, row->date, row->driver);
  sql(f->store, change);
  if (row->wrong) put_verdict(f, row->wrong, OUTCOME_WRONG, "2026-06-01T00:00:00Z");
}

/* Every order of merging four databases gives the same rows, and the same winner. */
TEST(the_order_of_merges_does_not_matter) {
  static const struct {
    const char *what;
    struct permuted rows[DATABASES];
    double want_ms;
  } cases[] = {
      {"newer with one driver, and faster with another",
       {{1, 0.30, "2026-01-01", "1", "a", 0},
        {2, 0.34, "2026-01-02", "1", "b", 0},
        {3, 0.32, "2026-01-03", "2", "c", 0},
        {4, 0.36, "2026-01-04", "2", "d", 0}},
       0.30},
      {"one variant measured again and again",
       {{1, 0.30, "2026-01-01", "1", "a", 0},
        {1, 0.34, "2026-01-02", "1", "b", 0},
        {1, 0.31, "2026-01-03", "1", "c", 0},
        {2, 0.33, "2026-01-01", "1", "d", 0}},
       0.31},
      {"a host with a newer driver",
       {{1, 0.30, "2026-01-01", "1", "a", 0},
        {2, 0.34, "2026-01-02", "2", "a", 0},
        {3, 0.36, "2026-01-03", "3", "a", 0},
        {4, 0.35, "2025-01-01", "1", "b", 0}},
       0.35},
      {"the fastest is known to be wrong",
       {{1, 0.30, "2026-01-01", "1", "a", 0},
        {2, 0.34, "2026-01-02", "1", "b", 0},
        {3, 0.36, "2026-01-03", "1", "c", 1},
        {1, 0.29, "2026-01-04", "1", "d", 0}},
       0.34},
      {"what made another one history is known to be wrong",
       {{1, 0.30, "2026-01-01", "1", "a", 0},
        {2, 0.34, "2026-01-02", "2", "a", 0},
        {3, 0.32, "2026-01-03", "1", "c", 2},
        {4, 0.36, "2026-01-04", "2", "d", 0}},
       0.30},
      {"equal times",
       {{1, 0.30, "2026-01-01", "1", "a", 0},
        {2, 0.30, "2026-01-01", "1", "b", 0},
        {3, 0.30, "2026-01-01", "2", "c", 0},
        {4, 0.30, "2026-01-01", "2", "d", 0}},
       0.30},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct fixture f[DATABASES];
    struct store *from[DATABASES];
    char *winner[2], *rows[2], want[32]; /* results of the first order, and of the order that is compared with it */
    for (int k = 0; k < DATABASES; k++) {
      permuted_store(&cases[i].rows[k], &f[k]);
      from[k] = f[k].store;
    }
    permuted_merge(from, 0, &winner[0], &rows[0]);
    for (int order = 1; order < ORDERS; order++) {
      permuted_merge(from, order, &winner[1], &rows[1]);
      CHECK_TEXT(winner[0], winner[1], "%s, order %d", cases[i].what, order);
      CHECK_TEXT(rows[0], rows[1], "%s, order %d", cases[i].what, order);
      free(winner[1]);
      free(rows[1]);
    }
    snprintf(want, sizeof want, ", %g ms", cases[i].want_ms);
    CHECK(strstr(winner[0], want), "%s: %s", cases[i].what, winner[0]);
    CHECK(strstr(rows[0], "[\"best\"") && strstr(rows[0], "[\"finalist\""), "%s: %s", cases[i].what, rows[0]);
    free(winner[0]);
    free(rows[0]);
    for (int k = 0; k < DATABASES; k++) end_fixture(&f[k]);
  }
}

/* Two runs of one file that have one key are one run here. Their results of one variant are in conflict, by name. */
TEST(results_of_two_runs_of_one_key_are_compared) {
  const struct merge_options options = from_other;
  struct fixture f;
  struct store *to;
  begin_fixture(&f);
  CHECK_OK(store_open_memory(&to));
  sql(f.store,
      "update run set started = '2026-11-21T12:00:00.000Z', ended = '2026-11-21T12:00:09.000Z', outcomes = '{}',"
      " seed = 1 where id < 3");
  CHECK_EQ(HALOTUNE_DB, store_merge(to, f.store, &options, NULL), "two times of one variant");
  CHECK(strstr(fail_text(), "of measurement is in conflict"), "%s", fail_text());
  CHECK_EQ(0, number_of(to, "select count(*) from run"), "nothing was taken");
  sql(f.store, "delete from finalist where run_id = 2; delete from measurement where run_id = 2");
  merge_store(to, f.store, NULL);
  CHECK_EQ(2, number_of(to, "select count(*) from run"), "one run of two, and that of the other problem");
  store_close(to);
  end_fixture(&f);
}

/* An export writes only UTF-8. So its reader would find another source. */
TEST(a_source_is_utf_8_outside_comments) {
  static const struct {
    const char *what, *behind;
    long defects;
  } rows[] = {{"an ASCII source", "", 0}, {"a comment", "/* \xE4 */", 0}, {"a letter", "static int \xE4;", 1}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    char first[512] = "", hex[IDENTITY_HEX_BYTES], sql_text[256];
    struct fixture f;
    struct identity identity;
    sqlite3_stmt *query = NULL;
    begin_with_winner(&f);
    char *source = text_of(f.store, "select source from best where is_current"), *changed = NULL;
    CHECK(asprintf(&changed, "%s%s\n", source, rows[i].behind) > 0, "memory");
    CHECK_OK(source_hash(changed, &identity));
    identity_hex(identity, hex);
    snprintf(sql_text, sizeof sql_text,
             "update variant set source_hash = '%s' where id = (select variant_id from best where is_current)", hex);
    sql(f.store, sql_text);
    CHECK_OK(query_prepare(store_connection(f.store), "update best set source = ?1 where is_current", &query));
    sqlite3_bind_text(query, 1, changed, -1, SQLITE_STATIC);
    CHECK_OK(query_run(query, NULL));
    sqlite3_finalize(query);
    const long found = check_store(f.store, first);
    CHECK_EQ(rows[i].defects, found, "%s: %s", rows[i].what, first);
    CHECK(found == 0 || strstr(first, "its source is not UTF-8 outside comments"), "%s: %s", rows[i].what, first);
    free(changed);
    free(source);
    end_fixture(&f);
  }
}

/* A merge needs many pages in memory; afterwards the connection keeps as many as before. */
TEST(a_merge_leaves_the_cache_of_pages_as_it_was) {
  static const char bad[] = "pragma foreign_keys = off; update measurement set run_id = 999 where id = 4";
  const struct merge_options options = from_other;
  struct fixture f;
  struct store *to;
  begin_fixture(&f);
  CHECK_OK(store_open_memory(&to));
  sql(to, "pragma cache_size = 77");
  for (int is_bad = 0; is_bad <= 1; is_bad++) {
    if (is_bad) sql(f.store, bad);
    CHECK_EQ(is_bad ? HALOTUNE_DB : HALOTUNE_OK, store_merge(to, f.store, &options, NULL), "merge %d", is_bad);
    CHECK_EQ(77, number_of(to, "pragma cache_size"), "merge %d", is_bad);
  }
  store_close(to);
  end_fixture(&f);
}

/* The run was merged while it was still running, and is merged again after its end, from another document without a
 * signature. */
#define SET_TO_7(column, kind, member) ", " #column " = '7'"
#define IS_7(column, kind, member) " and " #column " = '7'"
TEST(a_run_that_has_ended_since_ends) {
  static const struct merge_options later = {.origin = {"imported", "later.json", "", "", "1"}};
  struct fixture f;
  struct store *to;
  begin_fixture(&f);
  CHECK_OK(store_open_memory(&to));
  sql(f.store, "update run set state = 'running', ended = null, copy_ms = null where id = 2");
  merge_store(to, f.store, NULL);
  CHECK_EQ(1, number_of(to, "select count(*) from run where state = 'running'"), "running");
  sql(f.store, "update measurement set attempts = 7, median_ms = 0.1 where run_id = 2");
  sql(f.store, "update run set state = 'complete', ended = '2026-01-01', outcomes = '{\"measured\":2}'" RUN_END_COLUMNS(
                   SET_TO_7) " where id = 2");
  CHECK_OK(store_merge(to, f.store, &later, NULL));
  CHECK_EQ(0, number_of(to, "select count(*) from run where state = 'running'"), "ended");
  CHECK_EQ(1,
           number_of(to, "select count(*) from run where ended = '2026-01-01' and outcomes like '%:2}'" RUN_END_COLUMNS(
                             IS_7)),
           "as it did");
  CHECK_EQ(2, number_of(to, "select count(*) from measurement where attempts = 7 and median_ms = 0.1"),
           "with the measurements that it has since");
  store_close(to);
  end_fixture(&f);
}

/* A later document of the same giver ends a run. It takes back no wrong verdict of the run, unless it says that the
 * variant is right. */
TEST(the_end_of_a_run_takes_back_no_verdict) {
  static const struct merge_options again = {.origin = {"imported", "again.json", "", "", "2"}};
  static const struct {
    const char *what, *change; /* of the document that ends the run */
    halotune_status status;
    int64_t want; /* current bests */
    bool is_running;
  } rows[] = {
      {"it is still wrong", "", HALOTUNE_OK, 0, false},
      {"the document leaves it out", "delete from measurement where run_id = 2", HALOTUNE_OK, 0, false},
      {"it did not compile", "update measurement set outcome = 'compile_failed' where run_id = 2", HALOTUNE_DB, 0,
       true},
      {"out of bounds", "update measurement set outcome = 'out_of_bounds' where run_id = 2", HALOTUNE_OK, 0, false},
      {"right", "update measurement set outcome = 'measured', at_s = 61 where run_id = 2", HALOTUNE_OK, 1, false},
      {"right before", "update measurement set outcome = 'measured', at_s = 59 where run_id = 2", HALOTUNE_DB, 0, true},
      {"wrong before", "update measurement set at_s = 0 where run_id = 2", HALOTUNE_DB, 0, true},
      {"the end lies before the verdict",
       "update run set ended = '2026-01-01T00:30:30.000Z' where id = 2; delete from"
       " measurement where run_id = 2",
       HALOTUNE_OK, 0, true},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct store *to;
    begin_with_winner(&f);
    put_verdict(&f, 1, OUTCOME_WRONG, "2026-01-01T00:30:00.000Z"); /* 60 s later */
    sql(f.store, "update best set date = '2026-01-01T00:30:45.000Z'");
    CHECK_OK(store_open_memory(&to));
    merge_store(to, f.store, NULL);
    CHECK_EQ(1, number_of(to, "select count(*) from run where state = 'running'"), "%s: running", rows[i].what);
    CHECK_EQ(0, number_of(to, "select count(*) from best where is_current"), "%s: wrong", rows[i].what);
    sql(f.store, "update run set state = 'complete', ended = '2026-01-01T00:40:00.000Z' where id = 2");
    sql(f.store, rows[i].change);
    CHECK_EQ(rows[i].status, store_merge(to, f.store, &again, NULL), "%s: %s", rows[i].what, fail_text());
    CHECK_EQ(rows[i].want, number_of(to, "select count(*) from best where is_current"), "%s: answers", rows[i].what);
    CHECK_EQ(rows[i].is_running, number_of(to, "select count(*) from run where state = 'running'"), "%s: its end",
             rows[i].what);
    store_close(to);
    end_fixture(&f);
  }
}

/* A run that goes on has taken a wrong verdict back. The document that ends the run does not make the wrong one hold
 * again. It can be imported again, and so can a later one of this run. */
TEST(the_end_of_a_run_brings_no_verdict_back) {
  static const struct merge_options again = {.origin = {"imported", "again.json", "", "", "2"}};
  static const struct {
    const char *wrong_date, *change;
    halotune_status status;
    bool is_running;
    int64_t foreign; /* results that are told as not taken */
  } rows[] = {
      {"2026-01-01T00:29:15.000Z", "", HALOTUNE_OK, false, 0},
      {"2026-01-01T00:29:15.000Z", "update measurement set at_s = 0 where run_id = 3", HALOTUNE_DB, true, 0},
      {"2026-01-01T00:29:15.000Z", "update measurement set outcome = 'crashed' where run_id = 3", HALOTUNE_OK, false,
       1},
      /* the measurement is later than the end: the time of the set-up counts for it */
      {"2026-01-01T00:29:15.000Z", "update run set ended = '2026-01-01T00:30:50.000Z' where id = 3", HALOTUNE_OK, false,
       0},
      {"2026-01-01T00:29:45.000Z", "update run set ended = '2026-01-01T00:30:30.000Z' where id = 3", HALOTUNE_OK, true,
       0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct store *to;
    struct merge_counts counts;
    begin_with_winner(&f);
    put_verdict(&f, 1, OUTCOME_WRONG, rows[i].wrong_date); /* 60 s later */
    put_verdict(&f, 1, OUTCOME_MEASURED, "2026-01-01T00:30:00.000Z");
    sql(f.store, "update best set date = '2026-01-01T00:10:00.000Z'; update run set state = 'complete', ended ="
                 " '2026-01-01T00:40:00.000Z' where id = 2");
    CHECK_OK(store_open_memory(&to));
    merge_store(to, f.store, NULL);
    CHECK_EQ(1, number_of(to, "select count(*) from run where state = 'running'"), "%s: running", rows[i].change);
    CHECK_EQ(1, number_of(to, "select count(*) from best where is_current"), "%s: right again", rows[i].change);
    sql(f.store, "update run set state = 'complete', ended = '2026-01-01T00:40:00.000Z' where id = 3");
    sql(f.store, rows[i].change);
    for (int time = 0; time < 2; time++) {
      CHECK_EQ(rows[i].status, store_merge(to, f.store, &again, &counts), "%s: %s", rows[i].change, fail_text());
      CHECK_EQ(1, number_of(to, "select count(*) from best where is_current"), "%s: still right", rows[i].change);
      CHECK_EQ(rows[i].is_running, number_of(to, "select count(*) from run where state = 'running'"), "%s: its end",
               rows[i].change);
      if (rows[i].status == HALOTUNE_OK) CHECK_EQ(rows[i].foreign, counts.foreign, "%s: told", rows[i].change);
    }
    store_close(to);
    end_fixture(&f);
  }
}

/* One row that cannot be merged comes after others that can. */
TEST(a_merge_is_all_or_nothing) {
  struct fixture f;
  struct store *to;
  const struct merge_options options = from_other;
  begin_fixture(&f);
  CHECK_OK(store_open_memory(&to));
  sql(f.store, "pragma foreign_keys = off; update measurement set run_id = 999 where id = 4");
  CHECK_EQ(HALOTUNE_DB, store_merge(to, f.store, &options, NULL), "a reference into nothing");
  CHECK_EQ(0, number_of(to, "select count(*) from device"), "nothing was taken");
  store_close(to);
  end_fixture(&f);
}

#define SQL_FIT(values) "insert into prediction (device_id, coefficient, value, origin_id) values " values

static void count_times(void *context, const struct content *content) {
  int *counts = context;
  if (strcmp(content->kind, "times") == 0) counts[content->is_known ? 1 : 0]++;
}

/* Another GPU of the model of GPU 1. */
#define SQL_OTHER_GPU                                                                                   \
  "create temp table d as select * from device where id = 1; update d set id = 99, uuid = 'GPU-other';" \
  " insert into device select * from d; drop table d; "

/* Coefficients of predicted times are shown before they are trusted, and those of two fits are never mixed. */
TEST(coefficients_of_times_are_shown_and_taken_as_a_whole) {
  static const struct {
    const char *ours;
    int fresh, known, rows;
    double wave;
  } rows[] = {
      {NULL, 1, 0, 2, 0.5},
      {SQL_FIT("(1, 'wave', 0.25, 1)"), 1, 0, 1, 0.25},
      {SQL_FIT("(1, 'wave', 0.5, 1), (1, 'cache', 0.125, 1)"), 0, 1, 2, 0.5},
      {SQL_OTHER_GPU SQL_FIT("(99, 'wave', 0.25, 1)"), 1, 0, 1, 0.25},
      {SQL_FIT("(1, 'cache=0.125 wave', 0.5, 1)"), 1, 0, 1, 0}, /* a name that reads like a number and the next name */
  };
  static const struct merge_options again = {.origin = {"imported", "again.db", "", "", ""}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture theirs;
    struct store *ours;
    int counts[2] = {0, 0};
    begin_fixture(&theirs);
    CHECK_OK(store_open_memory(&ours));
    merge_store(ours, theirs.store, NULL);
    sql(theirs.store, SQL_FIT("(1, 'cache', 0.125, 1), (1, 'wave', 0.5, 1)"));
    if (rows[i].ours) sql(ours, rows[i].ours);
    struct content_known *known;
    CHECK_OK(content_known_read(ours, &known));
    CHECK_OK(content_each(theirs.store, known, "imported ", count_times, counts));
    content_known_free(known);
    CHECK_EQ(rows[i].fresh, counts[0], "row %zu: new", i);
    CHECK_EQ(rows[i].known, counts[1], "row %zu: trusted already", i);
    CHECK_OK(store_merge(ours, theirs.store, &again, NULL));
    CHECK_EQ(rows[i].rows, number_of(ours, "select count(*) from prediction"), "row %zu", i);
    CHECK_EQ((int)(1000 * rows[i].wave),
             number_of(ours, "select cast(1000 * total(value) as integer) from prediction where coefficient = 'wave'"),
             "row %zu", i);
    store_close(ours);
    end_fixture(&theirs);
  }
}

/* A signer's newer fit replaces all of the older one. Fits of others stay. The older fit does not come back. */
TEST(a_newer_fit_of_the_same_signer_replaces_the_older_one) {
  static const char alice[] = "07", bob[] = "08";
  static const struct {
    const char *what, *key, *document, *fit;
    long rows, left, wave;
  } steps[] = {
      {"first", alice, "a", SQL_FIT("(1, 'wave', 0.5, 1), (1, 'cache', 0.125, 1)"), 2, 0, 500},
      {"another signer", bob, "b", SQL_FIT("(1, 'wave', 0.25, 1)"), 2, 1, 500},
      {"no signer", "", "c", SQL_FIT("(1, 'wave', 0.25, 1)"), 2, 1, 500},
      {"another signer, the same numbers", bob, "d", SQL_FIT("(1, 'wave', 0.5, 1), (1, 'cache', 0.125, 1)"), 2, 0, 500},
      {"newer", alice, "e", SQL_FIT("(1, 'wave', 0.75, 1), (1, 'step', 2, 1), (1, 'tile', 3, 1)"), 3, 0, 750},
      {"newer again", alice, "e", SQL_FIT("(1, 'wave', 0.75, 1), (1, 'step', 2, 1), (1, 'tile', 3, 1)"), 3, 0, 750},
      {"the older one again", alice, "a", SQL_FIT("(1, 'wave', 0.5, 1), (1, 'cache', 0.125, 1)"), 3, 2, 750},
      {"another signer, another GPU", bob, "f", SQL_OTHER_GPU SQL_FIT("(99, 'wave', 0.25, 1)"), 3, 1, 750},
      {"newest, two GPUs", alice, "g", SQL_FIT("(1, 'wave', 0.5, 1), (99, 'wave', 0.25, 1)"), 1, 1, 500},
      {"weights of static costs alone", bob, "h", SQL_FIT("(1, 'static_row', 0.5, 1), (1, 'static_fill', 1, 1)"), 3, 0,
       500},
      {"weights of another signer", alice, "i", SQL_FIT("(1, 'wave', 0.75, 1), (1, 'static_row', 0.25, 1)"), 3, 1, 750},
      {"newer weights", bob, "j", SQL_FIT("(1, 'static_row', 0.75, 1)"), 2, 0, 750},
  };
  struct fixture theirs;
  struct store *ours;
  begin_fixture(&theirs);
  CHECK_OK(store_open_memory(&ours));
  for (size_t i = 0; i < COUNT(steps); i++) {
    const struct merge_options options = {
        .origin = {"imported", "fit.json", *steps[i].key ? "name" : "", steps[i].key, steps[i].document}};
    struct merge_counts counts;
    sql(theirs.store, "delete from prediction");
    sql(theirs.store, steps[i].fit);
    CHECK_OK(store_merge(ours, theirs.store, &options, &counts));
    CHECK_EQ(steps[i].left, counts.left, "%s: not taken", steps[i].what);
    CHECK_EQ(steps[i].rows, number_of(ours, "select count(*) from prediction"), "%s: coefficients", steps[i].what);
    CHECK_EQ(steps[i].wave,
             number_of(ours, "select cast(1000 * value as integer) from prediction where coefficient = 'wave'"),
             "%s: value", steps[i].what);
  }
  store_close(ours);
  end_fixture(&theirs);
}

/* The identity of a database is that of the rows which were imported, wherever they lie: here in the log beside it. */
TEST(the_identity_is_that_of_what_is_imported) {
  const struct work work = work_begin();
  struct store *store;
  struct bench_case c;
  struct imported before, after;
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  case_load(&c);
  case_put(&c, store, 512);
  case_tune(&c, store, 1, 1, 0.5);
  CHECK_OK(query_script(store_connection(store), "pragma wal_checkpoint(truncate)"));
  CHECK_OK(import_open(work.path, &before));
  const struct hash file = hash_of_file(work.path);
  sql(store, "update device set clock_khz = 7");
  CHECK_OK(import_open(work.path, &after));
  const struct hash same_file = hash_of_file(work.path);
  CHECK(memcmp(&file, &same_file, sizeof file) == 0, "the change is in the log");
  CHECK(identity_compare(before.document, after.document) != 0, "other rows");
  store_close(before.store);
  sql(store, "update origin set name = 'other@host'");
  CHECK_OK(import_open(work.path, &before));
  CHECK(identity_compare(before.document, after.document) != 0, "another user says that the runs are his");
  store_close(before.store);
  sql(store, "update origin set kind = 'imported'");
  CHECK_OK(import_open(work.path, &before));
  CHECK(identity_compare(before.document, after.document) != 0, "nobody says so");
  store_close(before.store);
  store_close(after.store);
  store_close(store);
  case_free(&c);
  work_end(&work);
}

/* The sender gives a file an index with other rows than its table. The tables, and so the identity, are the same, but
 * SQLite may read rows from such an index. It counts nowhere, whether the file has it from the beginning or gets it
 * between two looks. */
TEST(an_index_that_lies_is_made_anew) {
  static const char *const changes[] = {
      "create index zx on best (low_ms)",
      "pragma writable_schema = on; update sqlite_master set sql = 'CREATE INDEX zx on best (time_ms)' where name = 'zx'",
      "update sqlite_master set name = name"};
  static const char lie[] = "update best set low_ms = low_ms / 2";
  const struct work work = work_begin();
  struct store *store;
  struct bench_case c;
  struct imported file;
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  case_load(&c);
  case_put(&c, store, 512);
  case_tune(&c, store, 1, 1, 0.5);
  sql(store, lie);
  store_close(store);
  CHECK_OK(import_open(work.path, &file));
  for (size_t i = 0; i < COUNT(changes); i++) {
    sqlite3 *connection = NULL;
    store_close(file.store);
    file.store = NULL;
    CHECK_EQ(SQLITE_OK, sqlite3_open(work.path, &connection), "%s", work.path);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    if (i < 2)
      CHECK_EQ(SQLITE_OK, sqlite3_exec(connection, changes[i], NULL, NULL, NULL), "%s", sqlite3_errmsg(connection));
    sqlite3_close(connection);
    bool is_checked = true;
    for (int again = i < 2; again < 2; again++) {
      if (again) CHECK_OK(import_open_again(work.path, &file, &is_checked));
      else CHECK_OK(import_open(work.path, &file));
      if (i > 0)
        CHECK_EQ(1, number_of(file.store, "select count(*) from best indexed by zx where time_ms = 0.5"), "change %zu",
                 i);
      CHECK_EQ(i == 2, is_checked, "change %zu", i);
      if (!again) store_close(file.store);
    }
  }
  store_close(file.store);
  case_free(&c);
  work_end(&work);
}

/* Another user cannot read files that are kept apart, whatever the umask is. */
TEST(what_is_kept_apart_is_the_owners_alone) {
  const struct work work = work_begin();
  const struct identity document = {{7}};
  struct fixture f;
  struct stat facts = {0};
  char path[128], *kept;
  bool is_new = false;
  begin_fixture(&f);
  snprintf(path, sizeof path, "%s/own.db", work.folder);
  /* what dead processes have left goes, and files of the user stay */
  const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
  char folder[160], others[2][288];
  snprintf(folder, sizeof folder, "%s.untrusted", path);
  CHECK_EQ(0, mkdir(folder, 0700), "%s", folder);
  snprintf(others[0], sizeof others[0], "%s/mail.db.backup", folder);
  snprintf(others[1], sizeof others[1], "%s/x-%064d.db.AAAAAA", folder, 0);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(file_replace_cached(others[i], "", 0));
    CHECK_EQ(0, utimensat(AT_FDCWD, others[i], old, 0), "%s", others[i]);
  }
  const mode_t before = umask(0);
  CHECK_OK(untrusted_keep(path, f.store, "x.json", &document, &kept, &is_new));
  umask(before);
  CHECK(access(others[0], F_OK) == 0 && access(others[1], F_OK) != 0, "%s", folder);
  CHECK(is_new && stat(kept, &facts) == 0, "%s", kept);
  CHECK_EQ(0600, facts.st_mode & 0777, "%s", kept);
  free(kept);
  end_fixture(&f);
  work_end(&work);
}

/* Lookups keep what they parse, which takes some twenty times as much memory as the texts. */
TEST(a_file_with_too_many_texts_is_refused) {
  static const struct {
    const char *change, *why; /* NULL: it is read */
  } cases[] = {
      {"", NULL},
      {"with recursive n(i) as (select 1 union all select i + 1 from n where i < 4096) insert into template (hash,"
       " common_hash, name, yaml, cuda, origin_id) select printf('%064x', i), '', 'many', '', '', 1 from n",
       "4097 templates; at most 4096 are read"},
      {"update template set cuda = cuda || printf('%70000000c', 'x')",
       "bytes in texts of templates; at most 16777216 are read"},
      {"update stencil_text set text = text || printf('%9000000c', 'x')",
       "bytes in texts of stencils; at most 2097152 are read; star7 has the longest"},
      {"with recursive n(i) as (select 1 union all select i + 1 from n where i < 16384) insert into stencil (hash, name,"
       " origin_id) select printf('%064x', i), 's' || i, 1 from n",
       "stencils; at most 16384 are read"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    const struct work work = work_begin();
    struct store *store;
    struct bench_case c;
    struct imported in;
    case_load(&c);
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    case_put(&c, store, 512);
    case_tune(&c, store, 1, 1, 0.3);
    sql(store, cases[i].change);
    store_close(store);
    CHECK_EQ(cases[i].why ? HALOTUNE_DB : HALOTUNE_OK, import_open(work.path, &in), "%s", cases[i].change);
    if (cases[i].why)
      CHECK(strstr(fail_text(), cases[i].why) && strstr(fail_text(), work.path), "%s: %s", cases[i].change,
            fail_text());
    else store_close(in.store);
    case_free(&c);
    work_end(&work);
  }
}

/* A template takes 136 KB when it is parsed, however short its text is. */
TEST(templates_that_take_too_much_memory_are_refused) {
  static const char add[] =
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) insert into template (hash,"
      " common_hash, name, yaml, cuda, origin_id) select printf('%%064x', i), printf('%%064x', i), 'test', 'name: test\nabout:"
      " for tests\nparameters: {p: {values: [1, 2], default: 1, about: one}}\nrules: []\nblock: [1, 1, 1]\ngrid: [1, 1, 1]\n"
      "shared_bytes: 0\n', 'update(taps, COEFFICIENT_VALUES, results);', 1 from n";
  static const int counts[] = {100, 4000};
  for (size_t i = 0; i < COUNT(counts); i++) {
    struct fixture f;
    char text[sizeof add + 16], first[512] = "";
    long found = 0;
    begin_fixture(&f);
    snprintf(text, sizeof text, add, counts[i]);
    sql(f.store, text);
    const halotune_status status = store_check(f.store, keep_text, first, &found);
    if (i == 0) CHECK(status == HALOTUNE_OK && strstr(first, "hash"), "%s: %s", first, fail_text());
    else CHECK(status == HALOTUNE_DB && strstr(fail_text(), "take more than 512 MiB of memory"), "%s", fail_text());
    end_fixture(&f);
  }
}

/* Import a database without trust. Returns whether it is new, and the path of the file that is kept. */
static bool keep_database(const char *path, const char *own, char **kept) {
  struct imported in;
  bool is_new = false;
  CHECK_OK(import_open(path, &in));
  CHECK_OK(untrusted_keep(own, in.store, "results.db", in.is_document ? &in.document : NULL, kept, &is_new));
  store_close(in.store);
  return is_new;
}

/* Two databases may have the same rows, and so one identity, but differ in what only SQLite uses. Each has a file of
 * its own, so that a hostile one does not take the place of another one. */
TEST(a_database_takes_no_place_of_one_with_the_same_rows) {
  static const char *const changes[] = {"", "analyze; update sqlite_stat1 set stat = '1 1 1 1 1 1'",
                                        "drop index best_by_text", "pragma user_version = 9",
                                        "update origin set date = '2026-01-01T00:00:00.000Z'"};
  for (int version = 4; version <= 9; version += 5) {
    const struct work work = work_begin();
    char own[128], *kept[COUNT(changes)], *again;
    struct store *store;
    struct bench_case c;
    struct imported first, in;
    snprintf(own, sizeof own, "%s/own.db", work.folder);
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    case_load(&c);
    case_put(&c, store, 512);
    case_tune(&c, store, 1, 1, 0.5);
    store_close(store);
    if (version < 9) make_older(work.path, version);
    CHECK_OK(import_open(work.path, &first));
    store_close(first.store);
    for (size_t i = 0; i < (version < 9 ? 2 : COUNT(changes)); i++) {
      sqlite3 *connection = NULL;
      CHECK_EQ(SQLITE_OK, sqlite3_open(work.path, &connection), "%s", work.path);
      CHECK_OK(query_script(connection, changes[i]));
      sqlite3_close(connection);
      const bool is_same = *changes[i] && strstr(changes[i], "user_version");
      CHECK_OK(import_open(work.path, &in));
      CHECK_EQ(0, identity_compare(first.document, in.document), "version %d, %s: the rows", version, changes[i]);
      store_close(in.store);
      CHECK_EQ(!is_same, keep_database(work.path, own, &kept[i]), "version %d, %s", version, changes[i]);
      CHECK(!keep_database(work.path, own, &again), "version %d, %s: as before", version, changes[i]);
      CHECK_TEXT(kept[i], again, "version %d, %s", version, changes[i]);
      free(again);
      free(kept[i]);
    }
    case_free(&c);
    work_end(&work);
  }
}

static int count_steps(void *context) {
  ++*(long *)context;
  return 0;
}

/* The steps of SQLite, in hundreds, in which a problem gets so many more runs, bests and verdicts about their variant
 * from another database. */
static long steps_of_merge(int count) {
  static const char more_sql[] =
      "create temp table n as with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) select i from n;"
      "create temp table runs as select r.*, n.i from run r, n where r.id = 1;"
      "update runs set id = 1000 + i, seed = 1000 + i; alter table runs drop column i; insert into run select * from runs;"
      "create temp table bests as select b.*, n.i from best b, n where b.is_current and b.problem_id = 1;"
      "update bests set id = 1000 + i, run_id = 1000 + i, is_current = 0, source = '', cubin = x'',"
      " date = printf('2025-01-%%02dT%%02d:%%02d:00.000Z', 1 + i / 1440, i / 60 %% 24, i %% 60);"
      "alter table bests drop column i; insert into best select * from bests;"
      "create temp table verdicts as select m.*, n.i from measurement m, n where m.run_id = 1 and m.variant_id ="
      " (select b.variant_id from best b where b.is_current and b.problem_id = 1);"
      "update verdicts set id = 1000 + i, run_id = 1000 + i, outcome = iif(i %% 2, 'wrong', 'measured');"
      "alter table verdicts drop column i; insert into measurement select * from verdicts";
  struct fixture f;
  struct store *to;
  long steps = 0;
  char script[2048];
  begin_fixture(&f);
  CHECK_OK(store_open_memory(&to));
  snprintf(script, sizeof script, more_sql, count);
  sql(f.store, script);
  sqlite3_progress_handler(store_connection(to), 100, count_steps, &steps);
  const struct merge_options options = {.origin = {"imported", "a.json", "", "", ""}};
  CHECK_OK(store_merge(to, f.store, &options, NULL));
  sqlite3_progress_handler(store_connection(to), 0, NULL, NULL);
  CHECK_EQ(count, number_of(to, "select count(*) from best where date < '2026'"), "they are all there");
  store_close(to);
  end_fixture(&f);
  return steps;
}

/* A document can bring many runs, bests and verdicts of one problem. None is compared with all others. */
TEST(a_merge_of_many_bests_of_one_problem_takes_steps_for_each) {
  const long few = steps_of_merge(250), many = steps_of_merge(2000);
  CHECK(many < 12 * few, "8 times as many rows take %ld hundred steps, and not some %ld", many, 8 * few);
}

static halotune_status count_visit(void *context, const char *file) {
  (void)file;
  ++*(int *)context;
  return HALOTUNE_OK;
}

/* Nothing that others may write is listed, and the detail has the remedy. */
TEST(what_others_may_write_is_not_listed) {
  static const struct {
    mode_t folder, file, other_file;
    double until_thread_ms;
    int visited;
    const char *told; /* NULL: nothing is left out */
  } cases[] = {
      {0700, 0600, 0644, INFINITY, 2, NULL},
      {0755, 0600, 0600, INFINITY, 2, NULL},
      {0700, 0622, 0600, INFINITY, 1, "a.db: others can write to this file, so it is not used; run: chmod go-w"},
      {0700, 0600, 0620, INFINITY, 1, "b.db: others can write to this file, so it is not used; run: chmod go-w"},
      {0700, 0602, 0620, INFINITY, 0, "others can write to this file"},
      {0777, 0600, 0600, INFINITY, 0,
       "own.db.untrusted: others can write to this folder, so it is not used; run: chmod"},
      {01770, 0600, 0600, INFINITY, 0, "run: chmod go-w"},
      {0700, 0600, 0600, 0, 0, NULL}, /* the time is over */
  };
  const struct work work = work_begin();
  char path[128], folder[160], files[2][192];
  snprintf(path, sizeof path, "%s/own.db", work.folder);
  snprintf(folder, sizeof folder, "%s.untrusted", path);
  CHECK_EQ(0, mkdir(folder, 0700), "%s", folder);
  for (int k = 0; k < 2; k++) {
    snprintf(files[k], sizeof files[k], "%s/%c.db", folder, 'a' + k);
    CHECK_OK(file_replace_cached(files[k], "", 0));
  }
  for (size_t i = 0; i < COUNT(cases); i++) {
    int visited = 0;
    CHECK_EQ(0, chmod(files[0], cases[i].file) + chmod(files[1], cases[i].other_file), "case %zu", i);
    CHECK_EQ(0, chmod(folder, cases[i].folder), "case %zu", i);
    const halotune_status status = untrusted_each(path, cases[i].until_thread_ms, count_visit, &visited);
    CHECK_EQ(cases[i].told ? HALOTUNE_IO : HALOTUNE_OK, status, "case %zu", i);
    CHECK_EQ(cases[i].visited, visited, "case %zu", i);
    if (cases[i].told) CHECK(strstr(fail_text(), cases[i].told) != NULL, "case %zu: %s", i, fail_text());
  }
  int visited = 0; /* of a link only its removal helps, although all may write to it */
  CHECK_EQ(0, unlink(files[1]) + symlink("/dev/null", files[1]), "%s", files[1]);
  CHECK_EQ(HALOTUNE_IO, untrusted_each(path, INFINITY, count_visit, &visited), "a link");
  CHECK(visited == 1 && strstr(fail_text(), "not a regular file, so it is not used; remove it"), "%s", fail_text());
  work_end(&work);
}

/* Rows from documents of one signer are removed. Rows of others stay, also for the same problems. */
TEST(forget_removes_what_a_signer_said) {
  static const char key[] = "0707070707070707070707070707070707070707070707070707070707070707";
  const char *const names[] = {"alice", key, "bob"};
  for (size_t i = 0; i < COUNT(names); i++) {
    const struct choice choice = {.signer = names[i]};
    const struct merge_options options = {.origin = {"imported", "a.json", "alice", key, ""}};
    const bool is_theirs = i < 2;
    struct fixture f;
    struct store *to;
    struct bench_case c;
    struct forget_counts counts;
    begin_fixture(&f);
    sql(f.store, SQL_FIT("(1, 'wave', 0.5, 1)"));
    CHECK_OK(store_open_memory(&to));
    case_load(&c);
    case_put(&c, to, 512);
    case_tune(&c, to, 20, 1, 0.7);
    CHECK_OK(store_merge(to, f.store, &options, NULL));
    CHECK_OK(store_forget_count(to, &choice, NULL, &counts));
    CHECK_EQ(is_theirs ? 3 : 0, counts.runs, "%s", names[i]);
    CHECK_EQ(is_theirs ? 3 : 0, counts.bests, "%s", names[i]);
    CHECK_EQ(is_theirs ? 1 : 0, counts.predictions, "%s", names[i]);
    CHECK_OK(store_forget(to, &choice, NULL));
    CHECK_EQ(is_theirs ? 1 : 4, number_of(to, "select count(*) from run"), "%s: runs", names[i]);
    CHECK_EQ(is_theirs ? 0 : 1, number_of(to, "select count(*) from prediction"), "%s: coefficients", names[i]);
    CHECK_EQ(is_theirs, number_of(to, "select count(*) from best where is_current and time_ms = 0.7"), "%s: own",
             names[i]);
    check_whole(to);
    case_free(&c);
    store_close(to);
    end_fixture(&f);
  }
}

/* Only the same signer adds to the rows of a signer: `forget` would not find what others added. */
TEST(nobody_adds_to_what_another_one_said) {
  static const struct merge_options alice = {.origin = {"imported", "a.json", "alice", "07", ""}};
  static const struct {
    struct merge_options options;
    bool is_taken;
  } rows[] = {
      {{.origin = {"imported", "b.json", "bob", "08", "1"}}, false},
      {{.origin = {"imported", "b.json", "", "", "1"}}, false},
      {{.origin = {"imported", "c.json", "alice", "07", "2"}}, true},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const bool is_taken = rows[i].is_taken;
    struct fixture f;
    struct store *to, *copy;
    struct merge_counts counts;
    begin_fixture(&f);
    CHECK_OK(store_open_memory(&to));
    sql(f.store, "update run set state = 'running', ended = null where id = 2");
    char *document = exported(f.store, false);
    import_text(document, &copy);
    CHECK_OK(store_merge(to, copy, &alice, NULL));
    sql(f.store, "update run set state = 'complete', ended = '2026-11-21T13:00:00.000Z' where id = 2;"
                 " update measurement set attempts = 7 where run_id = 2;"
                 " create temp table m as select * from measurement where run_id = 1 and variant_id not in (select"
                 " variant_id from measurement where run_id = 2);"
                 " update m set id = 99, run_id = 2, outcome = 'wrong'; insert into measurement select * from m");
    CHECK_OK(store_merge(to, f.store, &rows[i].options, &counts));
    CHECK_EQ(is_taken, number_of(to, "select count(*) from measurement where outcome = 'wrong'"), "row %zu: verdict",
             i);
    CHECK_EQ(is_taken ? 2 : 0, number_of(to, "select count(*) from measurement where attempts = 7"), "row %zu", i);
    CHECK_EQ(!is_taken, number_of(to, "select count(*) from run where state = 'running'"), "row %zu: its end", i);
    CHECK_EQ(is_taken ? 11 : 0, number_of(to, "select max(length(cubin)) from best"), "row %zu: machine code", i);
    CHECK_EQ(is_taken ? 0 : 1, counts.foreign, "row %zu", i);
    store_close(copy);
    free(document);
    store_close(to);
    end_fixture(&f);
  }
}

struct met {
  char signer[16];
  long rows, varying;
  int calls;
};

static void keep_met(void *context, const struct merge_met *told) {
  struct met *met = context;
  snprintf(met->signer, sizeof met->signer, "%s", told->signer);
  met->rows = told->rows;
  met->varying = told->varying;
  met->calls++;
}

/* What a document brings again stays that of the signer who gave it first: a line tells it. */
TEST(what_another_signer_gave_before_is_told) {
  static const struct {
    const char *what, *change; /* of the first database, after all rows came from alice */
    struct origin origin;
    const char *signer;
    long rows; /* of 3 runs, 3 bests and 2 coefficients */
    bool is_empty;
  } rows[] = {
      {"bob gives the same", "", {"imported", "b.json", "bob", "08", "1"}, "alice", 8, false},
      {"an unsigned document", "", {"imported", "b.json", "", "", "1"}, "alice", 8, false},
      {"alice again", "", {"imported", "c.json", "alice", "07", "2"}, "", 0, false},
      {"what this user measured",
       "update origin set kind = 'measured', signer = '', signer_key = ''",
       {"imported", "b.json", "bob", "08", "1"},
       "",
       0,
       false},
      {"what came without a signature",
       "update origin set signer = '', signer_key = ''",
       {"imported", "b.json", "bob", "08", "1"},
       "",
       8,
       false},
      {"other coefficients",
       "update prediction set value = 0.25",
       {"imported", "b.json", "bob", "08", "1"},
       "alice",
       6,
       false},
      {"an empty database", "", {"imported", "b.json", "bob", "08", "1"}, "", 0, true},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    static const struct merge_options alice = {.origin = {"imported", "a.json", "alice", "07", ""}};
    struct met met = {"", 0, 0, 0};
    const struct merge_options options = {.origin = rows[i].origin, .met = keep_met, .context = &met};
    struct fixture f;
    struct store *to;
    begin_fixture(&f);
    sql(f.store, SQL_FIT("(1, 'wave', 0.5, 1), (1, 'cache', 0.5, 1)"));
    CHECK_OK(store_open_memory(&to));
    if (!rows[i].is_empty) CHECK_OK(store_merge(to, f.store, &alice, NULL));
    sql(to, rows[i].change);
    CHECK_OK(store_merge(to, f.store, &options, NULL));
    CHECK_EQ(rows[i].rows > 0, met.calls, "%s: lines", rows[i].what);
    CHECK_EQ(rows[i].rows, met.rows, "%s: rows", rows[i].what);
    CHECK_TEXT(rows[i].signer, met.signer, "%s", rows[i].what);
    store_close(to);
    end_fixture(&f);
  }
}

/* A clock that was set back can give a best an earlier date than its run has. */
TEST(a_best_is_exported_without_a_run_that_is_not_chosen) {
  static const struct choice choice = {.before = "2026-01-01"};
  struct fixture f;
  struct store *copy;
  struct text text = {0};
  begin_fixture(&f);
  sql(f.store, "update best set date = '2025-12-31T12:00:00.000Z' where id = 1");
  CHECK_OK(store_export(f.store, &choice, false, &text));
  import_text(text_string(&text), &copy);
  CHECK_EQ(1, number_of(copy, "select count(*) from best where run_id is null"), "%s", text_string(&text));
  check_whole(copy);
  store_close(copy);
  text_free(&text);
  end_fixture(&f);
}

/* The document could not be imported. */
TEST(a_row_without_its_text_is_not_exported) {
  struct fixture f;
  struct text text = {0};
  begin_fixture(&f);
  sql(f.store, "pragma foreign_keys = off; delete from stencil_text");
  CHECK_EQ(HALOTUNE_DB, store_export(f.store, &everything, false, &text), "%s", text_string(&text));
  CHECK(strstr(fail_text(), "a row of run refers to a row of stencil_text"), "%s", fail_text());
  text_free(&text);
  end_fixture(&f);
}

/* A copy that was made during a run takes the run's results and its end from the finished original, and none of them
 * from a database of someone else. A best is not taken without its run. */
TEST(a_copy_takes_what_its_user_measured_since) {
  static const struct {
    const char *change; /* of the original */
    bool is_running, is_taken;
  } rows[] = {
      {"", false, true},
      {"update run set state = 'running', ended = null where id = 2; delete from finalist where run_id = 2;"
       " delete from best where run_id = 2",
       true, true},
      {"update origin set name = 'other@host'", false, false},
      {"update origin set kind = 'imported'", false, false},
  };
  for (size_t i = 0; i < 2 * COUNT(rows); i++) {
    const bool is_document = i >= COUNT(rows), is_taken = rows[i % COUNT(rows)].is_taken && !is_document;
    const bool has_end = !rows[i % COUNT(rows)].is_running, takes_end = is_taken && has_end;
    struct fixture f;
    struct store *to, *document;
    struct merge_counts counts;
    begin_fixture(&f);
    CHECK_OK(store_open_memory(&to));
    copy_pages(to, f.store);
    sql(to, "update run set state = 'running', ended = null where id = 2; delete from finalist where run_id = 2;"
            " delete from best where run_id = 2; delete from measurement where run_id = 2");
    sql(f.store, rows[i % COUNT(rows)].change);
    char *text = exported(f.store, true);
    import_text(text, &document);
    merge_store(to, is_document ? document : f.store, &counts);
    CHECK_EQ(is_taken ? 2 : 0, number_of(to, "select count(*) from measurement where run_id = 2"), "row %zu", i);
    CHECK_EQ(takes_end, number_of(to, "select count(*) from finalist where run_id = 2"), "row %zu", i);
    CHECK_EQ(takes_end, number_of(to, "select count(*) from best where run_id = 2 and is_current"), "row %zu: best", i);
    CHECK_EQ(takes_end, number_of(to, "select count(*) from run where id = 2 and state = 'complete'"),
             "row %zu: its end", i);
    CHECK_EQ(is_taken ? 0 : has_end ? 4 : 2, counts.foreign, "row %zu: results that are not taken", i);
    check_whole(to);
    store_close(document);
    free(text);
    store_close(to);
    end_fixture(&f);
  }
}

/* A document has no best of a run that this user measured: the finals of the run would tell of another variant. */
TEST(a_document_adds_no_best_to_a_run_of_this_user) {
  static const struct merge_options alice = {.origin = {"imported", "a.json", "alice", "07", ""}};
  for (int is_known = 0; is_known < 2; is_known++) {
    struct fixture f;
    struct store *to, *document;
    struct merge_counts counts;
    begin_fixture(&f);
    CHECK_OK(store_open_memory(&to));
    copy_pages(to, f.store);
    const int64_t bests = number_of(to, "select count(*) from best");
    sql(f.store, "update best set time_ms = 1e-5, low_ms = 1e-5, date = '2026-03-04T05:06:07.000Z' where run_id = 2");
    if (!is_known) sql(f.store, "update run set seed = seed + 1 where id = 2");
    char *text = exported(f.store, true);
    import_text(text, &document);
    CHECK_OK(store_merge(to, document, &alice, &counts));
    CHECK_EQ(is_known ? bests : bests + 1, number_of(to, "select count(*) from best"), "bests");
    CHECK_EQ(is_known, counts.foreign, "results that are not taken");
    store_close(document);
    free(text);
    store_close(to);
    end_fixture(&f);
  }
}

/* A document that has nothing but coefficients, of a GPU that has no problem here. */
TEST(forget_removes_the_coefficients_of_a_signer_alone) {
  static const struct choice choices[] = {{.signer = "alice", .device = "another"}, {.signer = "alice"}};
  static const struct merge_options options = {.origin = {"imported", "a.json", "alice", "07", ""}};
  struct fixture f;
  struct store *to;
  struct forget_counts counts;
  begin_fixture(&f);
  sql(f.store, SQL_FIT("(1, 'wave', 0.5, 1), (1, 'cache', 0.5, 1)"));
  sql(f.store, "delete from best; delete from finalist; delete from measurement; delete from run; delete from variant;"
               " delete from problem; delete from stencil_text; delete from template; delete from stencil");
  CHECK_OK(store_open_memory(&to));
  CHECK_OK(store_merge(to, f.store, &options, NULL));
  for (size_t i = 0; i < COUNT(choices); i++) {
    CHECK_OK(store_forget_count(to, &choices[i], NULL, &counts));
    CHECK_EQ(2 * (long)i, counts.predictions, "row %zu", i);
    CHECK_OK(store_forget(to, &choices[i], NULL));
    CHECK_EQ(i ? 0 : 2, number_of(to, "select count(*) from prediction"), "row %zu: coefficients", i);
    CHECK_EQ(i ? 0 : 1, number_of(to, "select count(*) from device"), "row %zu: devices", i);
  }
  check_whole(to);
  store_close(to);
  end_fixture(&f);
}

#define OTHER_STENCIL "insert into stencil (id, hash, name, origin_id) values (9, printf('%064x', 9), 'other', 1)"
TEST(check_finds_what_is_wrong) {
  static const struct {
    const char *sql, *message;
  } rows[] = {
      {"pragma foreign_keys = off; update run set problem_id = 77 where id = 1", "run 1 refers to a row of problem"},
      {"pragma foreign_keys = off; update stencil_text set id = 0; update run set text_id = 0; update best set text_id = 0",
       "stencil_text 0: its id is not positive"},
      {"pragma foreign_keys = off; update template set id = 0; update variant set template_id = 0",
       "template 0: its id is not positive"},
      {"update best set id = -1 where id = 1", "best -1: its id is not positive"},
      {"create trigger t after insert on run begin delete from best; end", "trigger 't' does not belong"},
      {"create view v as select 1", "view 'v' does not belong"},
      {"create table other (a)", "table 'other' does not belong"},
      {"update stencil_text set text = 'name: [' ", "stencil star7"},
      {"insert into stencil (hash, name, origin_id) values ('mine', 'zzz0', 1)", "stencil 2: its hash is no identity"},
      {"update stencil set hash = printf('%064x', 1)", "does not match its hash"},
      {OTHER_STENCIL "; delete from finalist; delete from best; update variant set stencil_id = 9 where id = 1",
       "measurement 1: its variant is of another stencil than its problem"},
      {OTHER_STENCIL "; delete from measurement; delete from best; update variant set stencil_id = 9 where id = 1",
       "finalist of run 1: its variant is of another stencil than its problem"},
      {"update stencil set name = 'mine'", "is named star7 in its text"},
      {"update template set yaml = 'name: ['", "the template zmarch cannot be read"},
      {"update template set cuda = cuda || ' int a;'", "do not match its hash"},
      {"update template set common_hash = hash", "do not match its hash"},
      {"update template set hash = '5b5ac6e0a96b2b6ac9c0f4bd8e9ed1d5'", "do not match its hash"},
      {"update variant set parameters = '{\"no_such\":1}' where id = 2", "variant 2: template zmarch has no parameter"},
      {"update variant set parameters = replace(parameters, '}', ' }') where id = 2",
       "variant 2: template zmarch: the parameters are not in the form"},
      {"update variant set parameters = json_insert(json_remove(parameters, '$.vector'), '$.vector', json_extract(parameters, '$.vector')) where id = 2",
       "variant 2: template zmarch: the parameters are not in the form"},
      {"update variant set parameters = json_remove(parameters, '$.min_blocks') where id = 2",
       "variant 2: template zmarch: the parameters are not in the form"},
      {"update best set objective = 'energy' where id = 1", "its energy is not known"},
      {"update best set energy_mj = -3 where id = 1", "best 1: its energy is not positive"},
      {"update best set bytes = -1 where id = 1", "best 1: its bytes, share of the roof or occupancy are out of range"},
      {"update best set bytes = (1 << 53) + 1 where id = 1", "best 1: its bytes, share"},
      {"update best set occupancy = 9e15 where id = 1", "best 1: its bytes, share"},
      {"update measurement set occupancy = 1e300 where id = 1", "measurement 1: its occupancy is out of range"},
      {"update measurement set median_ms = 3.5e38 where id = 1", "measurement 1: its time is out of range"},
      {"update best set roof_ratio = 1e308, roof_ratio_low = 1, roof_ratio_high = 1e308 where id = 1",
       "best 1: its bytes, share"},
      {"update best set roof_ratio = 0.5, roof_ratio_low = -1, roof_ratio_high = 1 where id = 1",
       "best 1: its bytes, share"},
      {"update best set energy_mj = 3 where id = 1", "best 1: its energy belongs to no objective"},
      {"update best set second_grid = 'verified by nobody' where id = 1", "best 1: its second grid is none"},
      {"update best set second_grid = '1x2x3x4' where id = 2", "best 2: its second grid is none"},
      {"update best set second_grid = '509x' where id = 2", "best 2: its second grid is none"},
      {"update best set second_grid = '509x0251x127' where id = 2", "best 2: its second grid is none"},
      {"update finalist set energy_mj = 3, energy_low_mj = 4, energy_high_mj = 5",
       "its energy is not positive, or not within its interval"},
      {"insert into finalist select 1, 2, rank, sample_count, median_ms, minimum_ms, low_ms, high_ms, ratio, ratio_low,"
       " ratio_high, samples, is_default, is_tie, null, null, null from finalist where run_id = 1",
       "finalist of run 1: its rank is that of another finalist"},
      {"update run set state = 'running', ended = null where id = 1", "finalist of run 1: its run has not ended"},
      {"update run set state = 'running' where id = 1", "run 1: it goes on, and has an end"},
      {"update device set name = 'a' || char(27) || '[31m'",
       "device 1: 'a?[31m' has characters that cannot be printed"},
      {"update device set name = 'NVIDIA' || char(160) || 'H200'", "H200' has characters that are not ASCII"},
      {"update device set name = printf('%257c', 'x')",
       "device 1: a name of it has 257 bytes; at most 256 are allowed"},
      {"update device set uuid = printf('%3000000c', 'x')", "device 1: a name of it has 3000000 bytes"},
      {"insert into stencil select 9, hash, printf('%257c', 'x'), origin_id from stencil",
       "stencil 9: a name of it has"},
      {"insert into stencil select 9, printf('%257c', 'x'), name, origin_id from stencil",
       "stencil 9: a name of it has"},
      {"update variant set source_hash = source_hash || printf('%257c', 'x') where id = 2", "variant 2: a name of it"},
      {"update run set driver = printf('%257c', 'x') where id = 2", "run 2: a name of it has 257 bytes"},
      {"update run set started = printf('%s%300cZ', substr(started, 1, 20), '0') where id = 2", "run 2: a name of it"},
      {"update best set date = printf('%s%.*cZ', substr(date, 1, 20), 300, '0') where id = 2", "best 2: a name of it"},
      {"insert into prediction (device_id, coefficient, value, origin_id) values (1, printf('%257c', 'x'), 1, 1)",
       "prediction 1: a name of it has 257 bytes"},
      {"update device set name = name || ': trusted already'", "device 1: its name or uuid has a colon"},
      {"update best set driver = '580' || char(8205)", "' has characters that are not ASCII"},
      {"update origin set name = 'two' || char(10) || 'lines'", "origin 1: 'two"},
      {"update stencil_text set hash = '00'", "does not match its own hash"},
      {"update run set outcomes = '{\"measured\":7}' where id = 1", "run 1: its outcomes"},
      {"update run set (started, host, command, seed) = (select started, host, command, seed from run where id = 1) where"
       " id = 2",
       "run 2: it is the same run as another one"},
      {"update run set outcomes = '{' where id = 1", "run 1: its outcomes are not counts"},
      {"update run set outcomes = '{\"a\":9223372036854775807,\"b\":9223372036854775807}' where id = 1",
       "run 1: its outcomes are not those"},
      {"update run set ended = '2026-11-21' where id = 1", "run 1: '2026-11-21' is not a date"},
      {"update best set date = '2026-11-31T12:00:00.000Z and later' where id = 1", "and later' is not a date"},
      {"update best set date = '2026-11-31T12:00:00.000Z' where id = 1", "' is not a date"},
      {"update best set date = '2026-02-29T12:00:00.000Z' where id = 1", "' is not a date"},
      {"update best set date = '2026-11-21T24:59:59.000Z' where id = 1", "' is not a date"},
      {"update best set date = '2026-11-21T12:00:00.000 Z' where id = 1", "' is not a date"},
      {"update best set date = '2026-11-21T12:00:00.Z' where id = 1", "' is not a date"},
      {"update best set run_id = 3 where id = 1", "best 1: its run measured another problem"},
      {"update best set coefficients = '[0.4]' where id = 1", "best 1: its coefficients are not those of"},
      {"update best set coefficients = replace(coefficients, '0.4', '66.6') where id = 1", "best 1: its coefficients"},
      {"update measurement set outcome = 'lucky' where id = 3", "measurement 3: 'lucky' is not an outcome"},
      {"update measurement set samples = x'00' where id = 3", "measurement 3: it does not hold"},
      {"update finalist set samples = x'0000803f' where run_id = 1", "finalist of run 1: it does not hold"},
      {"update finalist set samples = x'0000803f0000c07f0000803f' where run_id = 1",
       "finalist of run 1: a sample is not a time"},
      {"update measurement set samples = x'0000803f', sample_count = 1 where id = 2; update measurement set samples ="
       " x'0000807f', sample_count = 1 where id = 3",
       "measurement 3: a sample is not a time"},
      {"update measurement set samples = x'000080bf', sample_count = 1 where id = 3", /* -1 */
       "measurement 3: a sample is not a time"},
      {"update measurement set samples = x'00000000', sample_count = 1 where id = 3",
       "measurement 3: a sample is not a time"},
      {"update measurement set samples = x'ffff7f7f', sample_count = 1 where id = 3", /* the largest float */
       "measurement 3: a sample is not a time"},
      {"update finalist set samples = x'', sample_count = -2 where run_id = 2",
       "finalist of run 2: its number of samples"},
      {"update best set source = source || 'int more;' where id = 2", "best 2: its source does not match"},
      {"update best set source = '' where id = 2", "best 2: it has machine code without its source"},
      {"update best set source = '/* *\\' || char(10) || '/ int more; /* */' || source where id = 2",
       "best 2: its source does not match"},
      {"update device set capability = 4294967386", "device 1: a number of it"},
      {"update device set sm_count = -1", "device 1: a number of it"},
      {"update best set launch = '{}' where id = 1", "best 1: launch"},
      {"update best set launch = replace(launch, 'star7_zmarch', 'other') where id = 1",
       "best 1: its source has no kernel other"},
      {"update best set coefficients = '[x]' where id = 1", "best 1: coefficients"},
      {"update measurement set sample_count = 4611686018427387904 where id = 2", "measurement 2: it"},
      {"update best set sample_count = -1 where id = 2", "best 2: its number of samples"},
      {"update best set source = source || char(0) || 'more' where id = 2", "best 2: a text continues after a byte 0"},
      {"update template set cuda = cuda || char(0) || 'more'", "template 1: a text continues after a byte 0"},
      {"update run set idle_w = 9e999 where id = 2", "run 2: a number is not finite"},
      {"update measurement set power_w = -9e999 where id = 3", "measurement 3: a number is not finite"},
      {"update finalist set high_ms = 9e999 where run_id = 1", "finalist 1: a number is not finite"},
      {"update best set high_ms = 9e999 where id = 2", "best 2: a number is not finite"},
      {"update variant set parameters = '{\"block_x\":32,\"block_x\":64}' where id = 2", "variant 2: "},
      {"update best set launch = '{\"steps\":2,' || substr(launch, 2) where id = 1", "best 1: "},
      {"update best set launch = '{\"steps\":1,\"steps\":4,' || substr(launch, 2) where id = 1", "best 1: "},
      {"update problem set ny = 0 where id = 2", "problem 2: its grid is none"},
      {"update problem set nx = nx + (1 << 40) where id = 2", "problem 2: its grid is none"},
      {"update problem set nx = 1 << 20, ny = 1 << 20, nz = 2 where id = 2", "problem 2: its grid is none"},
      {"update problem set steps = 2 where id = 2", "its launch makes other steps"},
      {"update best set steps = 2 where id = 2; update problem set steps = 2", "its launch makes other steps"},
      {"update best set time_ms = 9 where id = 2", "best 2: its time is not"},
      {"update best set low_ms = -1 where id = 1", "best 1: its time is not"},
      {"update best set launch = json_set(launch, '$.block[0]', 1) where id = 1", "best 1: its launch is"},
      {"update best set launch = json_set(launch, '$.grid[1]', 1) where id = 2", "best 2: its launch is"},
      {"update best set launch = json_set(launch, '$.shared_bytes', 8) where id = 1", "best 1: its launch is"},
      {"update problem set nz = 1280 where id = 1", "best 1: its launch is"},
      {"insert into prediction (device_id, coefficient, value, origin_id) values (1, 'wave', 9e999, 1)",
       "prediction 1: its value is not finite"},
      {"with recursive n (i) as (select 1 union all select i + 1 from n where i < 4001) insert into prediction"
       " (device_id, coefficient, value, origin_id) select 1, 'a' || i, 1, 1 from n",
       "device 1: GPUs of its model have more than 4000 coefficients"},
      {"insert into prediction (device_id, coefficient, value, origin_id) values (1, 'a' || char(27), 1, 1)",
       "has characters that cannot be printed"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    char first[512];
    begin_fixture(&f);
    check_whole(f.store);
    sqlite3_db_config(store_connection(f.store), SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    sql(f.store, rows[i].sql);
    CHECK(check_store(f.store, first) > 0, "%s", rows[i].sql);
    CHECK(strstr(first, rows[i].message), "%s: %s", rows[i].sql, first);
    end_fixture(&f);
  }
}

/* An export may leave out machine code and its source: both forms of a document merge, in both orders. */
TEST(a_source_may_be_left_out) {
  for (int is_whole_first = 0; is_whole_first < 2; is_whole_first++) {
    struct fixture f;
    struct store *to, *bare;
    begin_fixture(&f);
    CHECK_OK(store_open_memory(&to));
    char *document = exported(f.store, false);
    import_text(document, &bare);
    sql(bare, "update best set source = ''");
    merge_store(to, is_whole_first ? f.store : bare, NULL);
    struct merge_options options = from_other;
    options.without_code = true;
    CHECK_OK(store_merge(to, f.store, &options, NULL));
    CHECK(number_of(to, "select min(length(source)) from best") > 0, "order %d: without machine code", is_whole_first);
    if (!is_whole_first) sql(to, "update best set source = ''");
    merge_store(to, is_whole_first ? bare : f.store, NULL);
    CHECK_EQ(11, number_of(to, "select min(length(cubin)) from best"), "order %d: machine code", is_whole_first);
    CHECK(number_of(to, "select min(length(source)) from best") > 0, "order %d: and its source", is_whole_first);
    check_whole(to);
    sql(bare, "update best set source = 'other'");
    CHECK_EQ(HALOTUNE_DB, store_merge(to, bare, &from_other, NULL), "order %d", is_whole_first);
    CHECK(strstr(fail_text(), "another 'source'"), "%s", fail_text());
    store_close(bare);
    free(document);
    store_close(to);
    end_fixture(&f);
  }
}

/* An export may leave out machine code, and the source of such a row. */
TEST(check_takes_rows_without_code) {
  struct fixture f;
  begin_fixture(&f);
  sql(f.store, "update best set cubin = zeroblob(0)");
  check_whole(f.store);
  sql(f.store, "update best set source = ''");
  check_whole(f.store);
  end_fixture(&f);
}

/* They decide nothing, so that a merge takes such rows; `db check` tells them. */
TEST(check_tells_dates_in_the_future) {
  static const char *const rows[] = {"update run set started = '9999-01-01T00:00:00.000Z' where id = 1",
                                     "update run set ended = '9999-01-01T00:00:00.000Z' where id = 1",
                                     "update best set date = '9999-01-01T00:00:00.000Z' where id = 1"};
  struct fixture f;
  begin_fixture(&f);
  for (long i = 0; i <= (long)COUNT(rows); i++) {
    char first[512] = "";
    long found = -1;
    CHECK_OK(store_check_future(f.store, keep_text, first, &found));
    CHECK_EQ(i, found, "%s", first);
    CHECK_EQ(i > 0, strstr(first, "'9999-01-01T00:00:00.000Z' lies in the future") != NULL, "%s", first);
    if (i < (long)COUNT(rows)) sql(f.store, rows[i]);
  }
  check_whole(f.store);
  end_fixture(&f);
}

TEST(forget_removes_what_is_chosen) {
  static const struct {
    struct choice choice;
    int64_t runs, bests, problems, devices, variants;
  } rows[] = {
      {{.stencil = "copy"}, 3, 3, 2, 1, 4},
      {{.stencil = "star7", .has_grid = true, .grid = {{513, 256, 128}}}, 2, 2, 1, 1, 3},
      {{.stencil = "star7"}, 0, 0, 0, 0, 0},
      {{.device = "NVIDIA H200"}, 0, 0, 0, 0, 0},
      {{.before = "2010-01-01"}, 2, 2, 2, 1, 4},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct fixture f;
    struct forget_counts counts;
    begin_fixture(&f);
    sql(f.store, SQL_FIT("(1, 'wave', 0.5, 1)"));
    sql(f.store,
        "update run set started = '2001-01-01T00:00:00.000Z' where id = 2; update best set date = '2001-01-01T00:00:00.000Z' where run_id = 2");
    CHECK_OK(store_forget_count(f.store, &rows[i].choice, NULL, &counts));
    CHECK_EQ(3 - rows[i].runs, counts.runs, "row %zu: counted", i);
    CHECK_EQ(3 - rows[i].bests, counts.bests, "row %zu: counted", i);
    CHECK_EQ(1 - rows[i].devices, counts.predictions, "row %zu: counted", i);
    CHECK_EQ(3, number_of(f.store, "select count(*) from run"), "row %zu: only counted", i);
    CHECK_OK(store_forget(f.store, &rows[i].choice, NULL));
    CHECK_EQ(rows[i].runs, number_of(f.store, "select count(*) from run"), "row %zu", i);
    CHECK_EQ(rows[i].bests, number_of(f.store, "select count(*) from best"), "row %zu", i);
    CHECK_EQ(rows[i].problems, number_of(f.store, "select count(*) from problem"), "row %zu", i);
    CHECK_EQ(rows[i].devices, number_of(f.store, "select count(*) from device"), "row %zu", i);
    CHECK_EQ(rows[i].variants, number_of(f.store, "select count(*) from variant"), "row %zu", i);
    CHECK_EQ(rows[i].problems, number_of(f.store, "select count(*) from best where is_current"),
             "row %zu: one is current", i);
    check_whole(f.store);
    end_fixture(&f);
  }
}

/* The fastest of the bests that stay serves lookups from then on. */
TEST(forget_leaves_a_best) {
  static const struct choice old = {.before = "2010-01-01"};
  struct store *store;
  struct bench_case c;
  CHECK_OK(store_open_memory(&store));
  case_load(&c);
  case_put(&c, store, 512);
  case_tune(&c, store, 1, 1, 0.5);
  case_tune(&c, store, 2, 1, 0.3);
  case_tune(&c, store, 3, 1, 0.2);
  case_tune(&c, store, 4, 1, 0.1);
  sql(store, "update best set date = '2001-01-01T00:00:00.000Z' where time_ms = 0.1");
  CHECK_OK(store_forget(store, &old, NULL));
  CHECK_EQ(3, number_of(store, "select count(*) from best"), "one is gone");
  CHECK_EQ(1, number_of(store, "select time_ms = 0.2 from best where is_current"), "the fastest");
  case_free(&c);
  store_close(store);
}

/* A problem without a current best has none for a reason. Forgetting must not make a wrong row its best. */
TEST(forget_brings_back_nothing_wrong) {
  static const struct choice other = {.stencil = "star7", .has_grid = true, .grid = {{513, 256, 128}}};
  static const struct choice old = {.before = "2010-01-01"};
  struct fixture f;
  begin_fixture(&f);
  case_put(&f.c, f.store, 512);
  sql(f.store,
      "update best set date = '2016-01-01T00:00:00.000Z'; update run set started = '2015-01-01T00:00:00.000Z'");
  put_verdict(&f, 1, OUTCOME_WRONG, "2017-01-01T00:00:00.000Z");
  put_verdict(&f, 2, OUTCOME_WRONG, "2018-01-01T00:00:00.000Z");
  CHECK_EQ(0, number_of(f.store, "select count(*) from best where is_current and problem_id = 1"), "both are wrong");
  CHECK_OK(store_forget(f.store, &other, NULL));
  CHECK_EQ(2, number_of(f.store, "select count(*) from best"), "the other problem's is gone");
  CHECK_EQ(0, number_of(f.store, "select count(*) from best where is_current"), "nothing takes a place that was empty");
  case_tune(&f.c, f.store, 3, 1, 0.4);
  case_tune(&f.c, f.store, 4, 1, 0.2);
  sql(f.store, "update best set date = '2001-01-01T00:00:00.000Z' where is_current");
  CHECK_OK(store_forget(f.store, &old, NULL));
  CHECK_EQ(1, number_of(f.store, "select time_ms = 0.4 from best where is_current"), "the fastest that is not wrong");
  end_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_table_is_described),
      cmocka_unit_test(every_column_is_listed),
      cmocka_unit_test(a_document_is_read_as_it_was_written),
      cmocka_unit_test(equal_rows_give_equal_documents),
      cmocka_unit_test(a_choice_leaves_the_rest_out),
      cmocka_unit_test(a_bad_document_is_refused_with_its_place),
      cmocka_unit_test(a_document_in_t4),
      cmocka_unit_test(hidden_characters_are_exported_as_escapes),
      cmocka_unit_test(a_document_in_t4_takes_the_mode_that_is_chosen),
      cmocka_unit_test(a_merge_takes_everything_once),
      cmocka_unit_test(rows_say_where_they_come_from),
      cmocka_unit_test(a_row_in_conflict_is_refused),
      cmocka_unit_test(machine_code_is_taken_where_it_is_wanted),
      cmocka_unit_test(conflicts_are_decided_by_quality),
      cmocka_unit_test(the_objective_decides_between_winners),
      cmocka_unit_test(reproducible_winners_stand_beside_others),
      cmocka_unit_test(the_order_of_merges_does_not_matter),
      cmocka_unit_test(what_is_known_to_be_wrong_is_not_served_after_a_merge),
      cmocka_unit_test(an_old_export_brings_back_nothing_wrong),
      cmocka_unit_test(a_newer_row_without_code_keeps_the_code),
      cmocka_unit_test(a_verdict_from_the_future_counts_nothing),
      cmocka_unit_test(a_row_from_the_future_is_taken_later),
      cmocka_unit_test(results_of_two_runs_of_one_key_are_compared),
      cmocka_unit_test(a_source_is_utf_8_outside_comments),
      cmocka_unit_test(a_merge_leaves_the_cache_of_pages_as_it_was),
      cmocka_unit_test(a_run_that_has_ended_since_ends),
      cmocka_unit_test(the_end_of_a_run_takes_back_no_verdict),
      cmocka_unit_test(the_end_of_a_run_brings_no_verdict_back),
      cmocka_unit_test(a_merge_is_all_or_nothing),
      cmocka_unit_test(coefficients_of_times_are_shown_and_taken_as_a_whole),
      cmocka_unit_test(a_newer_fit_of_the_same_signer_replaces_the_older_one),
      cmocka_unit_test(the_identity_is_that_of_what_is_imported),
      cmocka_unit_test(an_index_that_lies_is_made_anew),
      cmocka_unit_test(what_is_kept_apart_is_the_owners_alone),
      cmocka_unit_test(a_file_with_too_many_texts_is_refused),
      cmocka_unit_test(templates_that_take_too_much_memory_are_refused),
      cmocka_unit_test(a_database_takes_no_place_of_one_with_the_same_rows),
      cmocka_unit_test(what_others_may_write_is_not_listed),
      cmocka_unit_test(a_merge_of_many_bests_of_one_problem_takes_steps_for_each),
      cmocka_unit_test(forget_removes_what_a_signer_said),
      cmocka_unit_test(nobody_adds_to_what_another_one_said),
      cmocka_unit_test(what_another_signer_gave_before_is_told),
      cmocka_unit_test(a_best_is_exported_without_a_run_that_is_not_chosen),
      cmocka_unit_test(a_row_without_its_text_is_not_exported),
      cmocka_unit_test(a_copy_takes_what_its_user_measured_since),
      cmocka_unit_test(a_document_adds_no_best_to_a_run_of_this_user),
      cmocka_unit_test(forget_removes_the_coefficients_of_a_signer_alone),
      cmocka_unit_test(check_finds_what_is_wrong),
      cmocka_unit_test(a_source_may_be_left_out),
      cmocka_unit_test(check_takes_rows_without_code),
      cmocka_unit_test(check_tells_dates_in_the_future),
      cmocka_unit_test(forget_removes_what_is_chosen),
      cmocka_unit_test(forget_leaves_a_best),
      cmocka_unit_test(forget_brings_back_nothing_wrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
