/* db_answers_test.c: which answers are said to change when rows change. */
#include "tuner/cli/db/db_answers.h"

#include "db/store/query.h"
#include "tests/unit/library/tuned.h"

static const struct tuned rows[] = {
    {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 0.27},
    {GPU_H200, "star7", "direct", "vector=1", DTYPE_F64, {64, 64, 64}, LAUNCH_GRAPH, CACHE_COLD, false, 0.005},
    {GPU_H200, "heat2d", "direct", "vector=1", DTYPE_F32, {256, 256, 1}, LAUNCH_STREAM, CACHE_STEADY, false, 0.001},
};

/* Dates that do not depend on the clock: a verdict counts if it is not older than a winner. */
static const char dates_sql[] =
    "update run set started = '2026-01-01T00:00:00.000Z', ended = '2026-01-01T00:00:02.000Z';"
    " update measurement set at_s = 1; update best set date = '2026-01-01T00:00:01.000Z'";
static const char wrong_sql[] = "update measurement set outcome = 'wrong' where variant_id ="
                                " (select variant_id from best order by time_ms desc limit 1)",
                  right_sql[] = "update measurement set outcome = 'measured'";

/* Compare the answers before and after a statement.
 *   lines  receives what is said */
static long changes_after(struct store *store, const char *statement, char *lines, size_t bytes) {
  struct answers *answers;
  long changed, left;
  FILE *out = fmemopen(lines, bytes, "w");
  CHECK(out, "a text");
  CHECK_OK(answers_ask(store, &answers));
  CHECK_OK(query_script(store_connection(store), statement));
  CHECK_OK(answers_compare(answers, store, out, &changed, &left));
  fclose(out);
  answers_free(answers);
  return changed;
}

TEST(what_changes_an_answer_is_told) {
  static const struct {
    const char *statement, *line;
  } changes[] = {
      {dates_sql, NULL},
      {"update best set time_ms = time_ms / 2", NULL},
      {wrong_sql, "star7 f32 512x512x512, stream, steady, on NVIDIA H200: direct, in place of zmarch"},
      {right_sql, "star7 f32 512x512x512, stream, steady, on NVIDIA H200: zmarch, in place of direct"},
      {"update stencil_text set text = replace(text, '0.4', '0.9')", "star7: another text answers by this name"},
      {"delete from best where time_ms = 0.0025",
       "star7 f64 64x64x64, graph, cold, on NVIDIA H200: zmarch, in place of direct"},
  };
  struct work work = work_begin();
  struct store *store;
  char lines[1024];
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  tuned_make(work.path, rows, COUNT(rows));
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  for (size_t i = 0; i < COUNT(changes); i++) {
    memset(lines, 0, sizeof lines);
    const long changed = changes_after(store, changes[i].statement, lines, sizeof lines);
    CHECK_EQ(changes[i].line ? 1 : 0, changed, "%s: %s", changes[i].statement, lines);
    CHECK(!changes[i].line || strstr(lines, changes[i].line), "%s: %s", changes[i].statement, lines);
  }
  store_close(store);
  work_end(&work);
}

/* Two models may have one name, and an imported GPU may have any UUID. A program on a GPU finds the rows of its
 * model. */
TEST(a_model_to_which_no_name_leads_is_asked_for) {
  static const struct tuned places[] = {
      {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 0.27},
      {GPU_H200, "star7", "direct", "vector=1", DTYPE_F32, {64, 64, 64}, LAUNCH_STREAM, CACHE_STEADY, false, 0.002},
      {GPU_A100, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 0.27},
      {GPU_A100, "star7", "direct", "vector=1", DTYPE_F32, {64, 64, 64}, LAUNCH_STREAM, CACHE_STEADY, false, 0.002},
  };
  struct work work = work_begin();
  struct store *store;
  char lines[2048] = "";
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  tuned_make(work.path, places, COUNT(places));
  tuned_change(work.path, dates_sql);
  tuned_change(work.path, "update device set name = 'NVIDIA H200', uuid = case id when 1 then '' else '5' end");
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  static const char both_wrong_sql[] = "update measurement set outcome = 'wrong' where variant_id in"
                                       " (select variant_id from best where time_ms > 0.2)";
  CHECK_EQ(2, changes_after(store, both_wrong_sql, lines, sizeof lines), "%s", lines);
  CHECK(strstr(lines, "steady, on NVIDIA H200: direct, in place of zmarch"), "%s", lines);
  CHECK(strstr(lines, "steady, on NVIDIA H200 with ") && strstr(lines, " multiprocessors: direct"), "%s", lines);
  store_close(store);
  work_end(&work);
}

/* Two problems of one place are two lines, also if the same answer is new for both: a problem is told apart by its
 * number of steps, too, and by whether its results are reproducible. */
TEST(each_problem_of_a_place_is_told) {
  static const struct tuned places[] = {
      {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 0.27},
      {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, true, 0.27},
      {GPU_H200, "star7", "direct", "vector=1", DTYPE_F32, {64, 64, 64}, LAUNCH_STREAM, CACHE_STEADY, false, 0.002},
  };
  static const char *const lines_wanted[] = {"star7 f32 512x512x512, stream, steady, on NVIDIA H200: direct",
                                             "star7 f32 512x512x512, stream, steady, reproducible, on NVIDIA H200: "
                                             "direct"};
  struct work work = work_begin();
  struct store *store;
  char lines[2048] = "";
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  tuned_make(work.path, places, COUNT(places));
  tuned_change(work.path, dates_sql);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_EQ(2, changes_after(store, wrong_sql, lines, sizeof lines), "%s", lines);
  for (int i = 0; i < 2; i++) CHECK(strstr(lines, lines_wanted[i]), "%s", lines);
  store_close(store);
  work_end(&work);
}

/* The mode of one row is also asked for with the number of steps of another: an exact answer of one step can be
 * replaced by one of two steps from another grid. */
TEST(modes_are_asked_for_with_the_steps_of_other_rows) {
  static const struct tuned places[] = {
      {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 0.27},
      {GPU_H200, "star7", "pipeline_planes", NULL, DTYPE_F32, {512, 512, 512}, LAUNCH_GRAPH, CACHE_STEADY, false, 0.56},
      {GPU_H200, "star7", "pipeline_planes", NULL, DTYPE_F32, {504, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 9},
  };
  struct work work = work_begin();
  struct store *store;
  char lines[2048] = "", wanted[128];
  int64_t steps = 0;
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  tuned_make(work.path, places, COUNT(places));
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_OK(query_number(store_connection(store), "select max(steps) from problem", &steps));
  CHECK(steps > 1, "%d steps", (int)steps);
  CHECK(changes_after(store, "update best set time_ms = 0.4, low_ms = 0.4, high_ms = 0.4 where time_ms = 9", lines,
                      sizeof lines) > 0,
        "%s", lines);
  snprintf(wanted, sizeof wanted, "star7 f32 512x512x512, stream, steady, %d steps, on NVIDIA H200: ", (int)steps);
  CHECK(strstr(lines, wanted), "%s", lines);
  store_close(store);
  work_end(&work);
}

/* A GPU goes before an emulation. So a document with a GPU of an emulation's name takes the name. */
TEST(a_gpu_that_takes_a_name_is_told) {
  static const struct tuned emulated = {GPU_EMULATION, "star7",       "direct",     "vector=1", DTYPE_F32,
                                        {64, 64, 64},  LAUNCH_STREAM, CACHE_STEADY, false,      9};
  struct work work = work_begin();
  struct store *store;
  char lines[1024] = "";
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  tuned_make(work.path, &emulated, 1);
  tuned_change(work.path,
               "insert into origin (id, kind, name, signer, date) values (99, 'imported', 'm.json', 'mallory',"
               " '2026-01-01'); update device set origin_id = 99");
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK(changes_after(
            store,
            "create temp table d as select * from device; update d set id = 9, uuid = 'GPU-9', is_emulation = 0;"
            " insert into device select * from d",
            lines, sizeof lines) > 0,
        "%s", lines);
  CHECK(strstr(lines, "emulation of sm_90: another GPU answers by this name"), "%s", lines);
  store_close(store);
  work_end(&work);
}

/* The UUID of an imported GPU can be a word that means many GPUs, or a number. Its problems are asked for by its
 * name. */
TEST(a_gpu_whose_uuid_means_another_one_is_asked_for) {
  static const char *const uuids[] = {"GPU-200", "rtx", "a100", "0"};
  struct work work = work_begin();
  struct store *store;
  char lines[1024], sql[512];
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  tuned_make(work.path, rows, COUNT(rows));
  tuned_change(work.path, dates_sql);
  tuned_change(work.path,
               "insert into origin (id, kind, name, signer, date) values (99, 'imported', 'm.json', 'mallory',"
               " '2026-01-01')");
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  for (size_t i = 0; i < COUNT(uuids); i++) {
    memset(lines, 0, sizeof lines);
    snprintf(sql, sizeof sql, "%s; update device set origin_id = 99, uuid = '%s'", right_sql, uuids[i]);
    CHECK_OK(query_script(store_connection(store), sql));
    CHECK_EQ(1, changes_after(store, wrong_sql, lines, sizeof lines), "%s: %s", uuids[i], lines);
    CHECK(strstr(lines, "star7 f32 512x512x512, stream, steady, on NVIDIA H200: direct, in place of zmarch"), "%s: %s",
          uuids[i], lines);
  }
  store_close(store);
  work_end(&work);
}

/* Add a winner to a database that has one, and count the answers that change.
 *   lines  receives what is told of them */
static long changes_of(const struct tuned *known, const struct tuned *added, char *lines, size_t bytes) {
  struct work work = work_begin();
  struct store *store;
  struct answers *answers;
  long changed, left;
  FILE *out = fmemopen(lines, bytes, "w");
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  tuned_make(work.path, known, 1);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_OK(answers_ask(store, &answers));
  tuned_put_template(store, added, tuned_template(added->template));
  CHECK_OK(answers_compare(answers, store, out, &changed, &left));
  fclose(out);
  answers_free(answers);
  store_close(store);
  work_end(&work);
  return changed;
}

/* Most programs name no launch mode. A winner in another mode than the known one may then answer. */
TEST(a_winner_in_another_mode_is_told) {
  static const struct tuned graph = {GPU_H200,        "star7",      "zmarch",     "vector=4", DTYPE_F32,
                                     {512, 512, 512}, LAUNCH_GRAPH, CACHE_STEADY, false,      0.27},
                            stream = {GPU_H200,        "star7",       "direct",     "vector=1", DTYPE_F32,
                                      {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false,      0.2};
  char lines[1024] = "";
  changes_of(&graph, &stream, lines, sizeof lines);
  CHECK(strstr(lines, "star7 f32 512x512x512, on NVIDIA H200: direct, in place of zmarch"), "%s", lines);
  CHECK(!strstr(lines, "graph, steady, on NVIDIA H200"), "the known winner stays: %s", lines);
}

/* A GPU that no row names yet can answer for its architecture, and for models without rows. */
TEST(a_winner_of_a_new_gpu_is_told) {
  static const struct tuned known = {GPU_H200,        "star7",       "zmarch",     "vector=4", DTYPE_F32,
                                     {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false,      0.27},
                            of_h100 = {GPU_H100,        "star7",       "direct",     "vector=1", DTYPE_F32,
                                       {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false,      0.01};
  char lines[1024] = "";
  const long changed = changes_of(&known, &of_h100, lines, sizeof lines);
  CHECK_EQ(1, changed, "%s", lines);
  CHECK(strstr(lines, "star7 f32 512x512x512, stream, steady, on sm_90: direct, in place of zmarch"), "%s", lines);
}

/* Programs that add the text of an older stencil ask by its identity. That it has no answer is no news of another
 * stencil of the same name. */
TEST(each_stencil_without_an_answer_is_told) {
  static const struct tuned stencils[] = {
      {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 0.27},
      {GPU_H200, "star13", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 0.3},
  };
  struct work work = work_begin();
  struct store *store;
  char lines[2048] = "";
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  tuned_make(work.path, stencils, COUNT(stencils));
  tuned_change(
      work.path,
      "update stencil set name = 'star7'; update stencil_text set text = replace(text, 'name: star13', 'name: star7')");
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK_EQ(2,
           changes_after(store, "pragma foreign_keys = off; delete from best; delete from stencil_text", lines,
                         sizeof lines),
           "%s", lines);
  CHECK(strstr(lines, "star7 f32 512x512x512, stream, steady, on NVIDIA H200: no answer, in place of zmarch"), "%s",
        lines);
  store_close(store);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_changes_an_answer_is_told),
                                     cmocka_unit_test(a_model_to_which_no_name_leads_is_asked_for),
                                     cmocka_unit_test(each_problem_of_a_place_is_told),
                                     cmocka_unit_test(modes_are_asked_for_with_the_steps_of_other_rows),
                                     cmocka_unit_test(a_gpu_that_takes_a_name_is_told),
                                     cmocka_unit_test(a_gpu_whose_uuid_means_another_one_is_asked_for),
                                     cmocka_unit_test(a_winner_in_another_mode_is_told),
                                     cmocka_unit_test(a_winner_of_a_new_gpu_is_told),
                                     cmocka_unit_test(each_stencil_without_an_answer_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
