/* store_copy_test.c: a database that is read in memory has the rows of its file, whatever else the file has. */
#include "db/store/store_copy.h"

#include <unistd.h>

#include "db/store/query.h"
#include "tests/unit/library/tuned.h"

#define USUAL LAUNCH_STREAM, CACHE_STEADY, false

static const struct tuned rows[] = {
    {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, USUAL, 0.27},
    {GPU_H200, "star7", "direct", "vector=1", DTYPE_F32, {64, 64, 64}, USUAL, 0.002},
    {GPU_H100, "heat2d", "direct", "vector=1", DTYPE_F64, {256, 256, 1}, USUAL, 0.001},
};

TEST(a_copy_has_all_rows_without_code) {
  static const char *const tables[] = {"origin",  "device", "stencil",     "stencil_text", "template", "problem",
                                       "variant", "run",    "measurement", "finalist",     "best",     "prediction"};
  struct work work = work_begin();
  struct store *store, *copy;
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  tuned_make(work.path, rows, COUNT(rows));
  tuned_change(work.path,
               "insert into prediction (device_id, coefficient, value, origin_id) values (1, 'latency_us', 0.5, 1)");
  CHECK_OK(store_open(work.path, STORE_READ, &store));
  CHECK_OK(store_open_copy(work.path, NULL, 0, NULL, NULL, &copy));
  CHECK(!store_has_file(copy) && store_has_file(store), "it is in memory");
  CHECK_TEXT(work.path, store_path(copy), "its name");
  for (size_t i = 0; i < COUNT(tables); i++) {
    char sql[64];
    snprintf(sql, sizeof sql, "select count(1) from %s", tables[i]);
    CHECK_EQ(number_of(store, sql), number_of(copy, sql), "%s", tables[i]);
  }
  CHECK(number_of(store, "select sum(length(source) + length(cubin)) from best") > 0, "the file has code");
  CHECK_EQ(0, number_of(copy, "select sum(length(source) + length(cubin)) from best"), "the copy has none");
  CHECK_EQ(0, number_of(copy, "select count(1) from sqlite_master where name like 'old_%'"), "no table is left");
  store_close(store);
  store_close(copy);
  work_end(&work);
}

/* Whoever can write the file, or lock it, has no part in what is read later. */
TEST(a_copy_needs_no_file) {
  struct work work = work_begin();
  struct store *copy;
  tuned_make(work.path, rows, COUNT(rows));
  CHECK_OK(store_open_copy(work.path, NULL, 0, NULL, NULL, &copy));
  CHECK_EQ(0, truncate(work.path, 10), "the file");
  CHECK_EQ((int64_t)COUNT(rows), number_of(copy, "select count(1) from best"), "rows");
  store_close(copy);
  work_end(&work);
}

static bool is_always_over(const void *context) {
  (void)context;
  return true;
}

TEST(a_statement_ends_when_its_reader_says_so) {
  static const char endless[] =
      "with recursive n(i) as (select 1 union all select i + 1 from n) select count(1) from n";
  struct work work = work_begin();
  struct store *copy;
  int64_t number;
  tuned_make(work.path, rows, COUNT(rows));
  CHECK_OK(store_open_copy(work.path, NULL, 0, NULL, NULL, &copy));
  store_ask(copy, is_always_over, NULL);
  CHECK_EQ(HALOTUNE_DB, query_number(store_connection(copy), endless, &number), "it would never end");
  store_ask(copy, NULL, NULL);
  CHECK_EQ((int64_t)COUNT(rows), number_of(copy, "select count(1) from best"), "the next statement runs");
  store_close(copy);
  work_end(&work);
}

/* Says from the nth question on that it is over. */
static bool is_over_later(const void *left) {
  long *questions = *(long *const *)left;
  return --*questions < 0;
}

/* A large file must not take the time of the search. The copy ends wherever it is. */
TEST(a_copy_ends_when_its_reader_says_so) {
  static const char many[] =
      "insert or ignore into variant (source_hash, stencil_id, template_id, parameters, origin_id) with recursive n(i)"
      " as (select 1 union all select i + 1 from n where i < 20000) select printf('%064x', i), 1, 1, '{}', 1 from n";
  struct work work = work_begin();
  struct store *copy;
  halotune_status status = HALOTUNE_CANCELLED;
  int cancelled = 0;
  tuned_make(work.path, rows, COUNT(rows));
  tuned_change(work.path, many);
  for (long asked = 0; status == HALOTUNE_CANCELLED && asked < 100000; asked = asked * 5 / 4 + 1) {
    long left = asked, *const place = &left;
    status = store_open_copy(work.path, NULL, 0, is_over_later, &place, &copy);
    cancelled += status == HALOTUNE_CANCELLED;
    CHECK(status == HALOTUNE_OK || !copy, "question %ld", asked);
  }
  CHECK_OK(status);
  CHECK(cancelled > 10, "%d copies ended", cancelled);
  CHECK(number_of(copy, "select count(1) from variant") >= 20000, "the last one has all rows");
  store_close(copy);
  work_end(&work);
}

/* A text of a template was copied once more before it was left out. */
TEST(a_copy_takes_little_more_memory_than_its_file) {
  struct work work = work_begin();
  struct store *copy;
  tuned_make(work.path, rows, COUNT(rows));
  tuned_change(work.path, "update template set yaml = printf('%50000000c', 'x') where id = 1");
  const int64_t before = sqlite3_memory_used();
  sqlite3_memory_highwater(1);
  CHECK_OK(store_open_copy(work.path, NULL, 0, NULL, NULL, &copy));
  const int64_t most = sqlite3_memory_highwater(0) - before;
  CHECK(most < 75000000, "%lld bytes", (long long)most);
  store_close(copy);
  work_end(&work);
}

/* Templates of others are not read: the caller's one of that name stands for all of them, and one of another name has
 * no text. */
TEST(templates_of_a_copy_are_those_of_the_caller) {
  struct work work = work_begin();
  struct store *copy;
  struct template *direct;
  char hash[IDENTITY_HEX_BYTES], sql[256];
  CHECK_OK(template_read("templates/direct.yaml", &direct));
  identity_hex(direct->hash, hash);
  tuned_make(work.path, rows, COUNT(rows));
  tuned_change(
      work.path,
      "insert into template (id, hash, common_hash, name, yaml, cuda, origin_id) values (99, 'older', '', 'direct',"
      " 'name: [', 'old', 1); update variant set template_id = 99 where id = (select max(v.id) from variant v"
      " join template t on t.id = v.template_id where t.name = 'direct')");
  CHECK_OK(store_open_copy(work.path, &direct, 1, NULL, NULL, &copy));
  CHECK_EQ(1,
           number_of(copy, "select count(distinct template_id) from variant v join template t on t.id = v.template_id"
                           " where t.name = 'direct'"),
           "both versions");
  snprintf(sql, sizeof sql, "select count(1) from template where hash = '%s' and name = 'direct' and yaml <> ''", hash);
  CHECK_EQ(1, number_of(copy, sql), "the caller's");
  CHECK_EQ(0, number_of(copy, "select count(1) from template where name = 'zmarch' and (yaml <> '' or cuda <> '')"),
           "a template that the caller does not know");
  CHECK_EQ(1,
           number_of(copy, "select count(1) from variant v join template t on t.id = v.template_id where t.name ="
                           " 'zmarch'"),
           "its row stays");
  store_close(copy);
  template_free(direct);
  work_end(&work);
}

/* Of a database that others made: indexes that are not there, or that are there besides, and rows that no Halotune
 * writes. */
TEST(tables_of_a_copy_are_those_of_this_program) {
  static const struct {
    const char *change, *why; /* NULL: it is read */
  } cases[] = {
      {"drop index best_by_text; drop index best_served; create index more on best (time_ms)", NULL},
      {"alter table best add column more text", NULL},
      {"drop index best_current; update best set problem_id = 1", "UNIQUE"},
      {"update variant set parameters = printf('{\"x\":\"%20000c\"}', 'x')",
       "a text of variant.parameters has 20008 bytes; at most 4096"},
      {"update stencil set name = printf('%300c', 'x')", "a text of stencil.name has 300 bytes"},
      {"update device set name = printf('%300c', 'x')", "a text of device.name has 300 bytes"},
      {"update best set date = printf('%300c', 'x')", "a text of best.date has 300 bytes"},
      {"with recursive n(i) as (select 1 union all select i + 1 from n where i < 4096) insert into template (hash,"
       " common_hash, name, yaml, cuda, origin_id) select printf('%064x', i), '', 'many', '', '', 1 from n",
       "templates; at most 4096"},
      {"with recursive n(i) as (select 1 union all select i + 1 from n where i < 65537) insert into prediction (device_id,"
       " coefficient, value, origin_id) select 1, 'c' || i, 0, 1 from n",
       "65537 coefficients of predictions; at most 65536"},
      {"update run set started = printf('%300c', '1')", "a text of run.started has 300 bytes"},
      {"update best set launch = printf('%300c', '1'), coefficients = printf('%300c', '1')", NULL},
      {"update run set command = printf('%300c', '1'), warnings = printf('%100000c', 'x')", NULL},
      {"update stencil_text set text = text || printf('# %9000000c', 'x')", "bytes in texts of stencils"},
      {"with recursive n(i) as (select 1 union all select i + 1 from n where i < 33000) insert into variant (source_hash,"
       " stencil_id, template_id, parameters, origin_id) select printf('%064x', i), 1, 1, printf('%4090c', 'x'), 1 from n",
       "bytes in parameters of variants"},
      {"drop table prediction", "prediction"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct work work = work_begin();
    struct store *copy;
    tuned_make(work.path, rows, COUNT(rows));
    tuned_change(work.path, cases[i].change);
    const halotune_status status = store_open_copy(work.path, NULL, 0, NULL, NULL, &copy);
    CHECK_EQ(cases[i].why ? HALOTUNE_DB : HALOTUNE_OK, status, "%s: %s", cases[i].change, fail_text());
    if (cases[i].why)
      CHECK(strstr(fail_text(), cases[i].why) && strstr(fail_text(), work.path), "%s: %s", cases[i].change,
            fail_text());
    else
      CHECK_EQ(2, number_of(copy, "select count(1) from sqlite_master where name in ('best_by_text', 'best_served')"),
               "%s", cases[i].change);
    store_close(copy);
    work_end(&work);
  }
}

/* Who may write to a database in the WAL mode can hold locks that SQLite waits for without asking, and can cut off the
 * index of the WAL, which ends the program. */
TEST(a_file_that_others_may_write_and_have_open_is_not_copied) {
  enum { OTHER = 12345 };
  static const struct {
    const char *what;
    mode_t mode;
    bool is_of_other, is_read;
  } cases[] = {{"this user's", 0600, false, true},
               {"this user's, others read it", 0644, false, true},
               {"its group writes to it", 0660, false, false},
               {"another user's", 0600, true, false}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    if (cases[i].is_of_other && geteuid() != 0) continue; /* only root makes files of others */
    struct work work = work_begin();
    struct store *copy;
    sqlite3 *open_there = NULL;
    tuned_make(work.path, rows, COUNT(rows));
    CHECK_EQ(0, chmod(work.path, cases[i].mode), "%s", work.path);
    if (cases[i].is_of_other) CHECK_EQ(0, chown(work.path, OTHER, OTHER), "%s", work.path);
    CHECK_EQ(SQLITE_OK, sqlite3_open(work.path, &open_there), "%s", work.path);
    CHECK_EQ(SQLITE_OK,
             sqlite3_exec(open_there, "pragma journal_mode = wal; update origin set name = name", NULL, NULL, NULL),
             "%s", sqlite3_errmsg(open_there));
    CHECK_EQ(cases[i].is_read ? HALOTUNE_OK : HALOTUNE_DB, store_open_copy(work.path, NULL, 0, NULL, NULL, &copy),
             "%s: %s", cases[i].what, fail_text());
    if (!cases[i].is_read)
      CHECK(strstr(fail_text(), cases[i].is_of_other ? "belongs to user 12345" : "others than you may write to it"),
            "%s", fail_text());
    store_close(copy);
    CHECK_EQ(SQLITE_OK, sqlite3_exec(open_there, "pragma journal_mode = delete", NULL, NULL, NULL), "closed");
    sqlite3_close(open_there);
    CHECK_OK(store_open_copy(work.path, NULL, 0, NULL, NULL, &copy));
    store_close(copy);
    work_end(&work);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_copy_has_all_rows_without_code),
      cmocka_unit_test(a_copy_needs_no_file),
      cmocka_unit_test(a_statement_ends_when_its_reader_says_so),
      cmocka_unit_test(a_copy_ends_when_its_reader_says_so),
      cmocka_unit_test(a_copy_takes_little_more_memory_than_its_file),
      cmocka_unit_test(templates_of_a_copy_are_those_of_the_caller),
      cmocka_unit_test(tables_of_a_copy_are_those_of_this_program),
      cmocka_unit_test(a_file_that_others_may_write_and_have_open_is_not_copied),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
