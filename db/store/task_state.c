/* task_state.c: one statement over runs. */
#include "db/store/task_state.h"

#include "db/store/query.h"
#include "db/store/refuted.h"
#include "db/store/store_parts.h"

/* Whether this user has a current winner of the row's problem, for any GPU of the model and in any launch mode. Then
 * lookups that name no launch mode use no row of others for the problem. */
#define SQL_HAS_OWN_WINNER                                                                                            \
  "exists (select 1 from device e cross join stencil z cross join problem q on q.stencil_id = z.id and q.device_id =" \
  " e.id and q.dtype = p.dtype and q.nx = p.nx and q.ny = p.ny and q.nz = p.nz and q.steps = p.steps and q.cache ="   \
  " p.cache and q.is_reproducible = p.is_reproducible cross join best o on o.problem_id = q.id and o.is_current"      \
  " where e.name = d.name and e.capability = d.capability and e.sm_count = d.sm_count and e.is_emulation ="           \
  " d.is_emulation and z.hash = s.hash and " SQL_IS_OWN("o") ")"

/* Whether a complete run in a launch mode makes its task done. One of a document must come with a winner of its problem
 * that lookups serve and that a complete run found: else a document of runs alone would keep the task from being
 * tuned. The `+` keeps SQLite from the index of texts, with which it would read all winners of a text for each problem.
 */
#define SQL_IS_DONE(mode)                                                                                                                 \
  "r.state = 'complete' and p.launch = '" mode "' and (" SQL_IS_OWN(                                                                      \
      "r") " or exists (select 1 from best b left join run br on br.id = b.run_id where coalesce(br.state, 'complete') = 'complete' and " \
           "b.problem_id = p.id and +b.text_id = x.id and b.is_current and not " SQL_IS_REFUTED(                                          \
               "b") ") and not " SQL_HAS_OWN_WINNER ")"

/* If a group has one max(), SQLite takes the other columns from the row with this maximum: the newest run, but one of a
 * document only where this user has none. */
static const char states_sql[] =
    "select printable(d.uuid), printable(d.name), d.capability, d.sm_count, d.is_emulation, printable(s.name), s.hash, x.hash, printable(p.dtype), printable(p.cache),"
    " p.nx, p.ny, p.nz, p.steps, p.is_reproducible, sum(" SQL_IS_DONE("stream") "), sum(" SQL_IS_DONE(
        "graph") "), r.state, printable(r.reason), printable(r.host),"
                 " printable(coalesce(r.ended, strftime('%Y-%m-%dT%H:%M:%fZ', r.started, printf('%.3f seconds',"
                 " (select coalesce(max(m.at_s), 0) from measurement m where m.run_id = r.id))))), r.id, " SQL_IS_LOST
                 ","
                 " sum(exists (select 1 from best b where b.problem_id = p.id and +b.text_id = x.id and (" SQL_IS_OWN("b") " or not " SQL_IS_OWN(
                     "r") "))), " SQL_IS_OWN("r") ","
                                                  " max(iif(" SQL_IS_OWN(
                                                      "r") ", '1', '0') || r.started)"
                                                           " from run r join problem p on p.id = r.problem_id join device d on d.id = p.device_id"
                                                           " join stencil s on s.id = p.stencil_id join stencil_text x on x.id = r.text_id"
                                                           " group by d.id, s.id, x.id, p.dtype, p.cache, p.nx, p.ny, p.nz, p.steps, p.is_reproducible"
                                                           " order by d.name, d.uuid, s.name, p.dtype, p.nx, p.ny, p.nz, p.steps, p.is_reproducible, p.cache";

static struct task_state state_of(sqlite3_stmt *row) {
  return (struct task_state){
      .uuid = column_text(row, 0),
      .device = column_text(row, 1),
      .capability = sqlite3_column_int(row, 2),
      .sm_count = sqlite3_column_int(row, 3),
      .is_emulation = sqlite3_column_int(row, 4) != 0,
      .stencil = column_text(row, 5),
      .hash = column_text(row, 6),
      .text_hash = column_text(row, 7),
      .dtype = column_text(row, 8),
      .cache = column_text(row, 9),
      .grid = {{(long)sqlite3_column_int64(row, 10), (long)sqlite3_column_int64(row, 11),
                (long)sqlite3_column_int64(row, 12)}},
      .steps = sqlite3_column_int(row, 13),
      .reproducible = sqlite3_column_int(row, 14) != 0,
      .has_stream = sqlite3_column_int(row, 15) != 0,
      .has_graph = sqlite3_column_int(row, 16) != 0,
      .state = column_text(row, 17),
      .reason = column_text(row, 18),
      .host = column_text(row, 19),
      .last_sign = column_text(row, 20),
      .run = sqlite3_column_int64(row, 21),
      .is_lost = sqlite3_column_int(row, 22) != 0,
      .has_winner = sqlite3_column_int(row, 23) != 0,
      .is_own = sqlite3_column_int(row, 24) != 0,
  };
}

halotune_status task_states_each(struct store *store,
                                 halotune_status (*visit)(void *context, const struct task_state *state),
                                 void *context) {
  sqlite3 *connection = store_connection(store);
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  halotune_status status = query_prepare(connection, states_sql, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    const struct task_state state = state_of(query);
    status = visit(context, &state);
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(connection);
  sqlite3_finalize(query);
  return status;
}
