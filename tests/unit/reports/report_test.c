/* report_test.c: parts of the report that the tests of whole documents do not cover. */
#include "stencil/generate/generate.h"
#include "stencil/template/access.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "base/files/file.h"
#include "base/text/json.h"
#include "db/store/query.h"
#include "db/store/store.h"
#include "reports/document/device_json.h"
#include "reports/document/document.h"
#include "reports/figures/step_roof.h"
#include "reports/rows/variants.h"

TEST(arithmetic_roofs) {
  CHECK_NEAR(66908.16, peak_gflops(90, 132, 1980000, DTYPE_F32), 1e-6, "H200 f32");
  CHECK_NEAR(33454.08, peak_gflops(90, 132, 1980000, DTYPE_F64), 1e-6, "H200 f64");
  CHECK_NEAR(19491.84, peak_gflops(80, 108, 1410000, DTYPE_F32), 1e-6, "A100 f32");
  CHECK_NEAR(184.32, peak_gflops(87, 16, 2880000, DTYPE_F64), 1e-6, "one whose usual clock is not known");
  CHECK(isnan(peak_gflops(35, 15, 800000, DTYPE_F32)), "an old one");
  CHECK(isnan(peak_gflops(110, 20, 1500000, DTYPE_F32)), "one whose rate is not known");
}

/* star7 has 7 instructions and 8 bytes a point, 4 of them read. Points, copy and peak are such that without halos, a
 * step of 16 in a launch takes as long by memory as by arithmetic. One pass to shared memory a point takes 0.2 ms. */
TEST(the_roof_of_fused_steps_that_binds_is_the_longer_one) {
  static const struct {
    int steps;
    double over_read, copy_ms, wavefronts, memory_ms, shared_ms, binding_ms;
    const char *binds;
  } rows[] = {
      {2, 1, 1.6, NAN, 0.8, NAN, 0.8, "memory"},
      {16, 1.5, 1.6, NAN, 0.125, NAN, 0.125, "memory"},
      {32, 1.5, 1.6, NAN, 0.0625, NAN, 0.1, "arithmetic"},
      {2, 1, 1.6, 7, 0.8, 0.7, 0.8, "memory"},
      {2, 1, 1.6, 9, 0.8, 0.9, 0.9, "shared memory"},
      {32, 1.5, 1.6, 24, 0.0625, 0.15, 0.15, "shared memory"},
      {4, NAN, 1.6, 9, NAN, 0.45, NAN, NULL},
      {4, 1, NAN, NAN, NAN, NAN, NAN, NULL},
  };
  struct analysis analysis = {.instructions_per_point = 8, .grouped_instructions_per_point = 4};
  analysis.bytes_per_point[DTYPE_F32] = 8, analysis.read_bytes_per_point[DTYPE_F32] = 4;
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct fused_launch launch = {rows[i].steps,      DTYPE_F32, 1e6,  rows[i].copy_ms, rows[i].over_read, 160,
                                        rows[i].wavefronts, 5e6,       false};
    const struct step_roof roof = step_roof(&analysis, &launch);
    const char *binds = step_roof_binding(&roof);
    CHECK_NEAR(0.1, roof.arithmetic_ms, 1e-12, "row %zu", i);
    struct fused_launch grouped = launch;
    grouped.groups_weights = true;
    CHECK_NEAR(0.05, step_roof(&analysis, &grouped).arithmetic_ms, 1e-12, "row %zu, weights grouped", i);
    const double want[] = {rows[i].memory_ms, rows[i].shared_ms, rows[i].binding_ms};
    const double got[] = {roof.memory_ms, roof.shared_ms, step_roof_ms(&roof)};
    for (size_t k = 0; k < COUNT(want); k++) {
      if (isnan(want[k])) CHECK(isnan(got[k]), "row %zu, time %zu", i, k);
      else CHECK_NEAR(want[k], got[k], 1e-12, "row %zu, time %zu", i, k);
    }
    CHECK(binds == rows[i].binds || (binds && rows[i].binds && strcmp(binds, rows[i].binds) == 0), "row %zu", i);
  }
}

/* 1000 rows: a tenth failed for one of two reasons, times fall from 2 ms to 1 ms, and row 500 must be kept. */
TEST(a_choice_keeps_the_fastest_and_every_failure) {
  enum { ROWS = 1000, MOST = 100 };
  static struct variant_row rows[ROWS];
  static struct variant_row *order[ROWS];
  struct variant_table table = {.rows = rows, .order = order, .count = ROWS, .order_count = ROWS};
  texts_add(&table.reasons, "one", 3), texts_add(&table.reasons, "two", 3);
  int seen[2] = {0}, kept_hung = 0;
  for (int i = 0; i < ROWS; i++) {
    bool failed = i % 10 == 0;
    rows[i] = (struct variant_row){.variant = i, .reason = -1, .median_ms = failed ? NAN : 2 - i / 1000.0};
    if (failed) rows[i].outcome = OUTCOME_WRONG, rows[i].reason = i == 990;
    if (i == 980) rows[i].outcome = OUTCOME_HUNG, rows[i].reason = -1;
    order[i] = &rows[i];
  }
  variants_keep(&table, 500);
  variants_choose(&table, MOST);
  for (int i = 0; i < ROWS; i++) {
    if (rows[i].is_kept && rows[i].reason >= 0) seen[rows[i].reason]++;
    kept_hung += rows[i].is_kept && rows[i].outcome == OUTCOME_HUNG;
  }
  CHECK(table.shown_count <= MOST + 1 && table.shown_count >= MOST / 2, "%d of %d", table.shown_count, MOST);
  CHECK(rows[500].is_kept, "what was named");
  for (int i = 999; i > 950; i--) CHECK(rows[i].is_kept || i % 10 == 0, "the fastest, row %d", i);
  CHECK(seen[0] > 0 && seen[1] == 1 && kept_hung == 1, "failures %d %d %d", seen[0], seen[1], kept_hung);
  variants_choose(&table, ROWS);
  CHECK_EQ(ROWS, table.shown_count, "all, where there is room");
  texts_free(&table.reasons);
}

/* 40 reasons have 20 failures each, one reason after the other, and 201 failures before them have none. */
TEST(a_choice_keeps_a_failure_of_every_reason) {
  enum { REASONS = 40, EACH = 20, WITHOUT = 201, ROWS = WITHOUT + REASONS * EACH, MOST = 400 };
  static struct variant_row rows[ROWS];
  static struct variant_row *order[ROWS];
  struct variant_table table = {.rows = rows, .order = order, .count = ROWS, .order_count = ROWS};
  int seen[REASONS] = {0}, kept = 0;
  for (int i = 0; i < REASONS; i++) {
    char reason[16];
    snprintf(reason, sizeof reason, "reason %d", i);
    CHECK_EQ(i, texts_add(&table.reasons, reason, strlen(reason)), "%s", reason);
  }
  for (int i = 0; i < ROWS; i++) {
    const int reason = i < WITHOUT ? -1 : (i - WITHOUT) / EACH;
    rows[i] = (struct variant_row){.variant = i, .reason = reason, .median_ms = NAN, .outcome = OUTCOME_WRONG};
    order[i] = &rows[i];
  }
  variants_choose(&table, MOST);
  /* the sample of all rows has every tenth row */
  for (int i = 0; i < ROWS; i++) {
    if (i % 10 == 0 || !rows[i].is_kept) continue;
    kept++;
    if (rows[i].reason >= 0) seen[rows[i].reason]++;
  }
  for (int i = 0; i < REASONS; i++) CHECK(seen[i] > 0, "reason %d", i);
  CHECK(kept <= MOST / 4, "%d failures", kept);
  texts_free(&table.reasons);
}

/* Blocks that jansson still gets before one allocation fails. */
static long blocks_left;

static void *scarce_malloc(size_t bytes) { return blocks_left-- == 0 ? NULL : malloc(bytes); }

static struct store *golden_open(void) {
  struct store *store;
  char *sql = NULL;
  size_t length;
  CHECK_OK(file_read("tests/report/golden.sql", 1 << 20, &sql, &length));
  CHECK_OK(store_open_memory_4(&store));
  CHECK_EQ(SQLITE_OK, sqlite3_exec(store_connection(store), sql, NULL, NULL, NULL), "golden.sql");
  CHECK_OK(store_bring_up_to_date(store));
  free(sql);
  return store;
}

/* The golden database, changed by SQL. */
static struct store *changed_open(const char *sql) {
  struct store *store = golden_open();
  CHECK_EQ(SQLITE_OK, sqlite3_exec(store_connection(store), sql, NULL, NULL, NULL), "%s",
           sqlite3_errmsg(store_connection(store)));
  return store;
}

/* Each allocation fails in turn. The sanitizers find memory that is then freed twice or never. */
TEST(a_document_that_memory_is_out_for_fails) {
  static const struct report_request request = {.database = "golden.db", .generated = "today"};
  struct store *store = golden_open();
  long refused = 0, n = 0;
  json_set_alloc_funcs(scarce_malloc, free);
  for (blocks_left = -1; blocks_left < 0; n += 1 + n / 16) { /* until a document needs fewer blocks than are allowed */
    struct text out = {0};
    blocks_left = n;
    halotune_status status = report_document(store_connection(store), &request, &out);
    CHECK(status == HALOTUNE_OK || status == HALOTUNE_MEMORY, "block %ld: %s", n, fail_text());
    refused += status == HALOTUNE_MEMORY;
    text_free(&out);
  }
  CHECK(refused > 50, "only %ld refusals were told", refused);
  json_set_alloc_funcs(malloc, free);
  store_close(store);
}

TEST(a_text_that_memory_is_out_for_stays_empty) {
  static const struct report_request request = {.database = "golden.db", .generated = "today"};
  struct store *store = golden_open();
  struct text out = {.out_of_memory = true};
  CHECK_EQ(HALOTUNE_MEMORY, report_document(store_connection(store), &request, &out), "%s", fail_text());
  CHECK_EQ(0, out.length, "bytes");
  text_free(&out);
  store_close(store);
}

/* The number of questions to a counter, and the last one. */
struct asked {
  int times;
  char template[32], source_hash[80];
};

static bool count_all(void *context, const struct variant_spec *spec, const char *source_hash, struct access *access) {
  struct asked *asked = context;
  asked->times++;
  snprintf(asked->template, sizeof asked->template, "%s", spec->template->name);
  snprintf(asked->source_hash, sizeof asked->source_hash, "%s", source_hash);
  access->loads_per_point = 17;
  return true;
}

static bool count_none(void *context, const struct variant_spec *spec, const char *source_hash, struct access *access) {
  (void)spec, (void)source_hash, (void)access;
  ((struct asked *)context)->times++;
  return false;
}

/* Make a document, and find the first problem's winner and variants. */
static json_t *document_of(struct store *store, const struct report_counter *counter) {
  const struct report_request request = {.database = "golden.db", .generated = "today", .counter = counter};
  struct text out = {0};
  json_t *document = NULL;
  CHECK_OK(report_document(store_connection(store), &request, &out));
  CHECK_OK(json_read(out.bytes, out.length, "document", &document));
  text_free(&out);
  return document;
}

/* Counted figures replace the rules of thumb in the winner and in the columns, and are marked. */
TEST(figures_of_winners_are_counted) {
  struct store *store = golden_open();
  struct asked asked = {0}, refused = {0};
  const struct report_counter all = {count_all, &asked}, none = {count_none, &refused};
  const struct report_counter *const counters[] = {NULL, &none, &all};
  for (int i = 0; i < 3; i++) {
    json_t *document = document_of(store, counters[i]);
    json_t *problem = json_array_get(json_object_get(document, "problems"), 0);
    json_t *winner = json_object_get(problem, "winner"), *figures = json_object_get(winner, "figures");
    json_t *variants = json_object_get(problem, "variants");
    const bool counted = i == 2;
    CHECK(json_is_true(json_object_get(figures, "is_counted")) == counted, "winner, counter %d", i);
    CHECK((json_number_value(json_object_get(figures, "loads_per_point")) == 17) == counted, "loads, counter %d", i);
    json_int_t marked = 0;
    size_t row;
    json_t *mark;
    json_array_foreach(json_object_get(variants, "is_counted"), row, mark) {
      const double loads = json_number_value(json_array_get(json_object_get(variants, "loads_per_point"), row));
      marked += json_integer_value(mark);
      CHECK((json_integer_value(mark) == 1) == (loads == 17), "row %zu, counter %d", row, i);
    }
    CHECK((marked > 0) == counted, "%d rows, counter %d", (int)marked, i);
    json_decref(document);
  }
  CHECK(refused.times > 0 && asked.times > 0, "counters are asked");
  CHECK(asked.template[0] && asked.source_hash[0], "for a template and a source");
  store_close(store);
}

/* A database of others may have any number of values of a parameter. Those beyond VALUE_NONE are left out. */
TEST(more_values_of_a_parameter_than_a_report_shows_are_left_out) {
  static const char many[] =
      "with recursive n (i) as (select 1 union all select i + 1 from n where i < 3000)"
      "insert into variant (id, source_hash, stencil_id, template_id, parameters, origin_id)"
      " select 1000 + i, 'b' || i, 1, 1, '{\"block_x\":' || i || '}', (select min(id) from origin) from n;"
      "insert into run (id, problem_id, text_id, state, started, command, host, version, driver, cuda, nvrtc, seed, strategy,"
      " budget_s, space, bytes, empty_ms, warnings, origin_id)"
      " select 100, problem_id, text_id, 'running', started, command, host, version, driver, cuda, nvrtc, seed, strategy, budget_s,"
      " space, bytes, empty_ms, '', origin_id from run where id = 2;"
      "insert into measurement (run_id, variant_id, number, at_s, outcome, sample_count, median_ms, minimum_ms, low_ms,"
      " high_ms) select 100, id, id - 1000, 1, 'measured', 9, 2, 1, 1, 3 from variant where id > 1000;";
  struct store *store = changed_open(many);
  json_t *document = document_of(store, NULL);
  json_t *problem = json_array_get(json_object_get(document, "problems"), 0);
  json_t *effect = json_array_get(json_object_get(problem, "effects"), 0);
  CHECK_TEXT("block_x", member_text(effect, "parameter"), "the parameter");
  CHECK_EQ(VALUE_NONE, json_array_size(json_object_get(effect, "values")), "values");
  json_decref(document);
  store_close(store);
}

/* Each version of a template is a row, and the newest winner has the newest version. */
TEST(figures_do_not_end_with_the_number_of_templates) {
  static const char many[] =
      "with recursive n (i) as (select 1 union all select i + 1 from n where i < 200)"
      "insert into template (id, hash, common_hash, name, yaml, cuda, origin_id)"
      " select 1000 + i, 'hash' || i, common_hash, name, yaml, cuda, origin_id from template join n where template.id = 1;"
      "update variant set template_id = 1200 where template_id = 1";
  struct store *store = changed_open(many);
  json_t *document = document_of(store, NULL);
  json_t *problem = json_array_get(json_object_get(document, "problems"), 0);
  json_t *figures = json_object_get(json_object_get(problem, "winner"), "figures");
  CHECK_NEAR(3, member_number(figures, "loads_per_point"), 0, "of the winner");
  json_decref(document);
  store_close(store);
}

TEST(a_search_is_whole_if_no_result_is_missing) {
  static const struct {
    struct search search;
    bool is_whole;
    long tried;
  } rows[] = {
      {{.is_recorded = true, .recorded = {3, 2}, .found = 5, .most = 5}, true, 5},
      {{.is_recorded = true, .recorded = {3, 2}, .found = 4, .most = 4}, false, 5}, /* without the last result */
      {{.is_recorded = true, .recorded = {3, 2}, .found = 4, .most = 5}, false, 5}, /* without another one */
      {{.found = 4, .most = 4}, true, 4},
      {{.found = 4, .most = 5}, false, -1},
      {{.is_running = true}, true, 0}, /* before the first result */
      {{.is_running = false}, false, -1},
  };
  struct search list[COUNT(rows)];
  const struct searches all = {.list = list, .count = COUNT(rows)};
  for (size_t i = 0; i < COUNT(rows); i++) list[i] = rows[i].search, list[i].run = (int64_t)i;
  searches_judge(&(struct searches){.list = list, .count = COUNT(rows)});
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_EQ(rows[i].is_whole, searches_have(&all, (int64_t)i), "row %zu", i);
    CHECK_EQ(rows[i].tried, search_tried(&list[i]), "row %zu", i);
  }
  CHECK(searches_have_any(&all), "some");
  CHECK(searches_have_any(&(struct searches){.list = &list[5], .count = 1}), "no run has tried any yet");
  CHECK(!searches_have_any(&(struct searches){.list = &list[5], .count = 2}),
        "one run has, but its results are missing");
  CHECK(!searches_have_any(&(struct searches){.list = &list[4], .count = 1}), "not all of a run");
  CHECK(!searches_have_any(&(struct searches){.count = 0}), "no run");
}

/* Variant 5 is the fastest of the other template, whose default is in the final rounds however slow it is.
 * Its newest time is of a run that did not time the winner, so both times are of run 2. */
TEST(a_rival_of_the_search_has_both_times_of_one_run) {
  static const char other_template[] =
      "update variant set template_id = 2 where id in (1, 5);"
      "create temp table f as select * from finalist where variant_id = 1;"
      "update f set variant_id = 3, rank = 2, is_default = 0; "
      "update finalist set is_default = 0; update finalist set rank = 3, is_default = 1 where variant_id = 1;"
      "insert into finalist select * from f;"
      "update measurement set outcome = 'measured', reason = '', median_ms = 0.015 where id = 7;"
      "create temp table r as select * from run where id = 2; update r set id = 4, outcomes = null;"
      "insert into run select * from r;"
      "create temp table m as select * from measurement where id = 7;"
      "update m set id = 100, run_id = 4, number = 1, median_ms = 0.005; insert into measurement select * from m";
  struct store *store = changed_open(other_template);
  json_t *document = document_of(store, NULL), *rival;
  const json_t *found = NULL;
  size_t i;
  json_array_foreach(json_object_get(json_array_get(json_object_get(document, "problems"), 0), "rivals"), i, rival) {
    if (strcmp(member_text(rival, "role"), "best_of_template") == 0) found = rival;
  }
  CHECK(found, "the best of the other template");
  CHECK_EQ(5, member_whole(found, "variant"), "variant");
  CHECK_EQ(2, member_whole(found, "run"), "run");
  CHECK_EQ(2, member_whole(found, "first_run"), "the winner's run");
  CHECK_NEAR(1.5, member_number(found, "ratio"), 1e-6, "ratio");
  json_decref(document);
  store_close(store);
}

/* A document says that its copy and its variants are faster: times that this user measured stay. Where this user
 * measured nothing, those of the document are shown. */
TEST(results_of_this_user_are_shown_before_those_of_others) {
  static const char claim[] =
      "insert into origin (id, kind, name, date) values (99, 'imported', 'm.json', '');"
      "create temp table r as select * from run where id = 2;"
      "update r set id = 99, seed = 99, origin_id = 99, outcomes = null, copy_ms = 1e-5, memcpy_ms = 1e-5;"
      "insert into run select * from r; create temp table m as select * from measurement where run_id = 2;"
      "update m set id = id + 1000, run_id = 99, median_ms = median_ms / 8; insert into measurement select * from m;";
  static const char *const changes[] = {"update origin set kind = 'measured'", claim,
                                        "update origin set kind = 'imported'"};
  json_t *roofs[COUNT(changes)], *times[COUNT(changes)], *device_roofs[COUNT(changes)];
  struct store *store = golden_open();
  for (size_t i = 0; i < COUNT(changes); i++) {
    CHECK_EQ(SQLITE_OK, sqlite3_exec(store_connection(store), changes[i], NULL, NULL, NULL), "%s",
             sqlite3_errmsg(store_connection(store)));
    json_t *document = document_of(store, NULL);
    const json_t *problem = json_array_get(json_object_get(document, "problems"), 0);
    const json_t *device = json_array_get(json_object_get(document, "devices"), 0);
    roofs[i] = json_deep_copy(json_object_get(problem, "roof"));
    device_roofs[i] = json_deep_copy(json_object_get(device, "roof"));
    times[i] = json_deep_copy(json_object_get(json_object_get(problem, "variants"), "median_ms"));
    CHECK(roofs[i] && device_roofs[i] && times[i], "members of the document");
    json_decref(document);
  }
  CHECK(json_equal(roofs[0], roofs[1]) && !json_equal(roofs[1], roofs[2]), "the copy of a problem");
  CHECK(json_equal(device_roofs[0], device_roofs[1]) && !json_equal(device_roofs[1], device_roofs[2]), "of a GPU");
  CHECK(json_equal(times[0], times[1]) && !json_equal(times[1], times[2]), "the times of variants");
  for (size_t i = 0; i < COUNT(changes); i++) {
    json_decref(roofs[i]);
    json_decref(device_roofs[i]);
    json_decref(times[i]);
  }
  store_close(store);
}

/* Variant 3 is the fastest of the other template. Run 4 is newer than run 2, and timed the same variants. */
TEST(a_rival_has_times_of_this_user_before_those_of_others) {
  static const char newer_run[] =
      "update origin set kind = 'measured'; insert into origin (id, kind, name, date) values (99, 'imported', 'm', '');"
      "update variant set template_id = 2 where id = 3;"
      "create temp table r as select * from run where id = 2; update r set id = 4, outcomes = null;"
      "insert into run select * from r;"
      "create temp table m as select * from measurement where id in (4, 5);"
      "update m set id = id + 100, run_id = 4, median_ms = median_ms / 2; insert into measurement select * from m";
  static const struct {
    const char *change;
    int64_t run;
  } rows[] = {{"", 4}, {"update run set origin_id = 99 where id = 4", 2}, {"update run set origin_id = 99", 4}};
  for (size_t row = 0; row < COUNT(rows); row++) {
    struct store *store = changed_open(newer_run);
    CHECK_OK(query_script(store_connection(store), rows[row].change));
    json_t *document = document_of(store, NULL), *rival;
    const json_t *found = NULL;
    size_t i;
    json_array_foreach(json_object_get(json_array_get(json_object_get(document, "problems"), 0), "rivals"), i, rival) {
      if (member_whole(rival, "variant") == 3) found = rival;
    }
    CHECK(found, "the best of the other template");
    CHECK_EQ(rows[row].run, member_whole(found, "run"), "row %zu", row);
    CHECK_EQ(rows[row].run, member_whole(found, "first_run"), "row %zu", row);
    json_decref(document);
    store_close(store);
  }
}

/* A document says why a search proposed the variants of this user's finalists. */
TEST(a_finalist_has_the_words_of_its_giver) {
  static const char claim[] =
      "update origin set kind = 'measured'; insert into origin (id, kind, name, date) values (99, 'imported', 'm', '');"
      "update measurement set why = 'words of this user' where run_id = 2;"
      "create temp table r as select * from run where id = 2; update r set id = -1, seed = 99, outcomes = null;"
      "insert into run select * from r; update run set origin_id = 99 where id = -1;"
      "create temp table m as select * from measurement where run_id = 2;"
      "update m set id = id + 1000, run_id = -1, why = 'words of a document'; insert into measurement select * from m";
  static const struct {
    const char *change, *why;
  } rows[] = {{"", "words of this user"},
              {"update measurement set why = null where run_id = 2", NULL},
              {"update run set origin_id = 99", "words of a document"}};
  for (size_t row = 0; row < COUNT(rows); row++) {
    struct store *store = changed_open(claim);
    CHECK_OK(query_script(store_connection(store), rows[row].change));
    json_t *document = document_of(store, NULL), *finalist;
    size_t i;
    json_t *finalists = json_object_get(json_array_get(json_object_get(document, "problems"), 0), "finalists");
    CHECK(json_array_size(finalists) > 0, "finalists");
    json_array_foreach(finalists, i, finalist) {
      const char *why = json_string_value(json_object_get(finalist, "why"));
      CHECK(rows[row].why ? why && strcmp(why, rows[row].why) == 0 : !why, "row %zu: %s", row, why ? why : "nothing");
    }
    json_decref(document);
    store_close(store);
  }
}

/* On the second GPU, variant 1 wins, and two runs searched. The newer one is faster. */
TEST(the_time_on_another_gpu_is_of_this_user_first) {
  static const char other_gpu[] =
      "update origin set kind = 'measured'; insert into origin (id, kind, name, date) values (99, 'imported', 'm', '');"
      "create temp table d as select * from device where id = 1; update d set id = 9, uuid = 'GPU-9', name = 'NVIDIA H100';"
      "insert into device select * from d;"
      "create temp table p as select * from problem where id = 1; update p set id = 9, device_id = 9;"
      "insert into problem select * from p;"
      "create temp table r as select * from run where id = 2;"
      "update r set id = 8, problem_id = 9, outcomes = null; insert into run select * from r;"
      "update r set id = 9; insert into run select * from r;"
      "create temp table m as select * from measurement where id in (3, 4);"
      "update m set id = id + 100, run_id = 8, median_ms = 0.2 / variant_id; insert into measurement select * from m;"
      "update m set id = id + 100, run_id = 9, median_ms = 0.1 / variant_id; insert into measurement select * from m;"
      "create temp table b as select * from best where is_current; update b set id = 9, problem_id = 9, variant_id = 1,"
      " run_id = 8, time_ms = 0.15; insert into best select * from b";
  static const struct {
    const char *change;
    int64_t run;
    double time_ms;
  } rows[] = {{"", 9, 0.05},
              {"update run set origin_id = 99 where id = 9", 8, 0.1},
              {"update run set origin_id = 99", 9, 0.05}};
  for (size_t row = 0; row < COUNT(rows); row++) {
    struct store *store = changed_open(other_gpu);
    CHECK_OK(query_script(store_connection(store), rows[row].change));
    json_t *document = document_of(store, NULL), *pair;
    const json_t *found = NULL;
    size_t i;
    json_array_foreach(json_object_get(document, "transfer"), i, pair) {
      if (member_whole(pair, "to") == 9) found = pair;
    }
    CHECK(found, "the winner of the first GPU, on the second");
    CHECK_EQ(rows[row].run, member_whole(found, "run"), "row %zu", row);
    CHECK_NEAR(rows[row].time_ms, member_number(found, "time_ms"), 1e-9, "row %zu", row);
    CHECK_NEAR(2 * rows[row].time_ms, member_number(found, "best_ms"), 1e-9, "row %zu", row);
    json_decref(document);
    store_close(store);
  }
}

/* Run 2 lacks a result, so its course is unknown. A time of a variant that failed is none. */
TEST(courses_and_times_are_those_that_are_known) {
  struct store *store =
      changed_open("delete from measurement where id = 5; update measurement set median_ms = 0.001 where id = 6");
  json_t *document = document_of(store, NULL);
  const json_t *problem = json_array_get(json_object_get(document, "problems"), 0);
  const json_t *convergence = json_object_get(problem, "convergence"), *variants = json_object_get(problem, "variants");
  json_t *variant;
  size_t i;
  CHECK_EQ(1, json_array_size(convergence), "courses");
  CHECK_EQ(1, member_whole(json_array_get(convergence, 0), "run"), "the run with all results");
  json_array_foreach(json_object_get(variants, "variant"), i, variant) {
    if (json_integer_value(variant) != 4) continue;
    CHECK(json_is_null(json_array_get(json_object_get(variants, "median_ms"), i)), "the time of what did not compile");
  }
  json_decref(document);
  store_close(store);
}

/* A damaged row of `problem` has no grid, so the report leaves it out. The page looks up the problem of each run. */
TEST(runs_belong_to_problems_of_the_document) {
  struct store *store = changed_open("update problem set nx = 0 where id = 2");
  json_t *document = document_of(store, NULL), *run;
  size_t i;
  CHECK_EQ(1, json_array_size(json_object_get(document, "problems")), "problems");
  CHECK_EQ(2, json_array_size(json_object_get(document, "runs")), "runs");
  json_array_foreach(json_object_get(document, "runs"), i, run) {
    CHECK_EQ(1, member_whole(run, "problem"), "run %zu", i);
  }
  json_decref(document);
  store_close(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arithmetic_roofs),
      cmocka_unit_test(the_roof_of_fused_steps_that_binds_is_the_longer_one),
      cmocka_unit_test(a_choice_keeps_the_fastest_and_every_failure),
      cmocka_unit_test(a_choice_keeps_a_failure_of_every_reason),
      cmocka_unit_test(a_search_is_whole_if_no_result_is_missing),
      cmocka_unit_test(a_rival_of_the_search_has_both_times_of_one_run),
      cmocka_unit_test(results_of_this_user_are_shown_before_those_of_others),
      cmocka_unit_test(a_rival_has_times_of_this_user_before_those_of_others),
      cmocka_unit_test(a_finalist_has_the_words_of_its_giver),
      cmocka_unit_test(the_time_on_another_gpu_is_of_this_user_first),
      cmocka_unit_test(courses_and_times_are_those_that_are_known),
      cmocka_unit_test(runs_belong_to_problems_of_the_document),
      cmocka_unit_test(a_document_that_memory_is_out_for_fails),
      cmocka_unit_test(figures_of_winners_are_counted),
      cmocka_unit_test(a_text_that_memory_is_out_for_stays_empty),
      cmocka_unit_test(figures_do_not_end_with_the_number_of_templates),
      cmocka_unit_test(more_values_of_a_parameter_than_a_report_shows_are_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
