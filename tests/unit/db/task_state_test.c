/* task_state_test.c: which runs make a task done. */
#include "db/store/task_state.h"

#include "db/store/query.h"
#include "tests/unit/stores.h"

struct seen {
  int count;
  bool has_stream, has_graph, has_winner;
};

static halotune_status keep_state(void *context, const struct task_state *state) {
  struct seen *seen = context;
  *seen = (struct seen){seen->count + 1, state->has_stream, state->has_graph, state->has_winner};
  return HALOTUNE_OK;
}

/* Where a document has a complete run and no winner that counts, the task is still to be tuned. */
/* Adds a winner of this user for problem 99. */
#define OWN_WINNER_OF_99                                                                                              \
  "insert into origin (id, kind, name, date) values (99, 'measured', 'me', '');"                                      \
  " create temp table b as select * from best; update b set id = 99, problem_id = 99, run_id = null, origin_id = 99;" \
  " insert into best select * from b; drop table b"

TEST(a_run_of_a_document_makes_a_task_done_with_a_winner_only) {
  static const char imported[] = "update origin set kind = 'imported';";
  static const struct {
    const char *what, *origin, *change;
    bool is_done, has_winner;
  } rows[] = {
      {"an own run", "", "", true, true},
      {"an own run without a winner", "", "delete from best", true, false},
      {"an own run that ended early", "", "update run set state = 'partial'", false, true},
      {"a run of a document", imported, "", true, true},
      {"a run of a document without a winner", imported, "delete from best", false, false},
      {"a run of a document that ended early", imported, "update run set state = 'partial'", false, true},
      {"a winner that is no longer the current one", imported, "update best set is_current = 0", false, true},
      {"a winner that is known to be wrong", imported,
       "update best set date = '2025-01-01T00:00:00.000Z'; update run set started = '2025-01-02T00:00:00.000Z';"
       "update measurement set outcome = 'wrong'",
       false, true},
      {"a run of a document beside a winner of a run that ended early", imported,
       "create temp table other as select * from run; update other set id = 99, seed = 99; insert into run select * from other;"
       "drop table other; update run set state = 'partial' where id <> 99",
       false, true},
      {"a winner of another text", imported,
       "insert into stencil_text select 99, stencil_id, 'hash', text, origin_id from stencil_text;"
       "update best set text_id = 99",
       false, false},
      {"a winner of another problem", imported,
       "insert into problem select 99, device_id, stencil_id, dtype, nx + 1, ny, nz, launch, cache, is_reproducible,"
       " origin_id, steps from problem; update best set problem_id = 99",
       false, false},
      {"beside an own winner on another GPU of the model", imported,
       "create temp table d as select * from device; update d set id = 99, uuid = 'GPU-2'; insert into device select * from d;"
       " drop table d; insert into problem select 99, 99, stencil_id, dtype, nx, ny, nz, launch, cache, is_reproducible,"
       " origin_id, steps from problem;" OWN_WINNER_OF_99,
       false, true},
      {"beside an own winner in another launch mode", imported,
       "insert into problem select 99, device_id, stencil_id, dtype, nx, ny, nz, 'graph', cache, is_reproducible, origin_id,"
       " steps from problem;" OWN_WINNER_OF_99,
       false, true},
      {"beside an own winner of another grid", imported,
       "insert into problem select 99, device_id, stencil_id, dtype, nx + 1, ny, nz, launch, cache, is_reproducible,"
       " origin_id, steps from problem;" OWN_WINNER_OF_99,
       true, true},
  };
  struct bench_case c;
  case_load(&c);
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct store *store = NULL;
    struct seen seen = {0};
    CHECK_OK(store_open_memory(&store));
    case_put(&c, store, 512);
    case_tune(&c, store, 1, 1, 0.3);
    CHECK_OK(query_script(store_connection(store), rows[i].origin));
    CHECK_OK(query_script(store_connection(store), rows[i].change));
    CHECK_OK(task_states_each(store, keep_state, &seen));
    CHECK_EQ(1, seen.count, "%s: tasks", rows[i].what);
    CHECK_EQ(rows[i].is_done, seen.has_stream, "%s: is it done?", rows[i].what);
    CHECK_EQ(rows[i].has_winner, seen.has_winner, "%s: has it a winner?", rows[i].what);
    CHECK_EQ(false, seen.has_graph, "%s: in the other mode", rows[i].what);
    store_close(store);
  }
  case_free(&c);
}

struct newest {
  bool is_own;
  char state[16];
};

static halotune_status keep_newest(void *context, const struct task_state *state) {
  struct newest *newest = context;
  snprintf(newest->state, sizeof newest->state, "%s", state->state);
  newest->is_own = state->is_own;
  return HALOTUNE_OK;
}

/* A run of a document says nothing about a task of which this user has a run. */
TEST(the_newest_run_is_an_own_one) {
  static const char other[] =
      "insert into origin (kind, name, date) values ('imported', 'x', '');"
      "create temp table other as select * from run; update other set id = 99, seed = 99, started = '2026-02-02',"
      " state = 'running', ended = null, origin_id = (select max(id) from origin); insert into run select * from other;"
      "drop table other;";
  static const struct {
    const char *what, *change, *state;
    bool is_own;
  } rows[] = {
      {"a complete run, and an unended one of a document", "", "complete", true},
      {"an unended run, and a complete one of a document",
       "update run set state = 'running', ended = null where id <> 99; update run set state = 'complete' where id = 99",
       "running", true},
      {"runs of documents", "update run set origin_id = (select max(id) from origin)", "running", false},
  };
  struct bench_case c;
  case_load(&c);
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct store *store = NULL;
    struct newest newest = {.is_own = false};
    CHECK_OK(store_open_memory(&store));
    case_put(&c, store, 512);
    case_tune(&c, store, 1, 1, 0.3);
    CHECK_OK(query_script(store_connection(store), "update run set started = '2026-01-01'"));
    CHECK_OK(query_script(store_connection(store), other));
    CHECK_OK(query_script(store_connection(store), rows[i].change));
    CHECK_OK(task_states_each(store, keep_newest, &newest));
    CHECK_TEXT(rows[i].state, newest.state, "%s", rows[i].what);
    CHECK_EQ(rows[i].is_own, newest.is_own, "%s", rows[i].what);
    store_close(store);
  }
  case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_of_a_document_makes_a_task_done_with_a_winner_only),
      cmocka_unit_test(the_newest_run_is_an_own_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
