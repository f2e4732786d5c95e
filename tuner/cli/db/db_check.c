/* db_check.c: `halotune db check`: prints every defect of a database, and with --compile compares machine code with
 * NVRTC's result for its source. */
#include <stdio.h>
#include <string.h>

#include "db/store/check.h"
#include "db/store/query.h"
#include "db/store/store.h"
#include "gpu/workers/compile_pool.h"
#include "tuner/cli/db/db.h"
#include "tuner/cli/options/option_value.h"

static void defect_print(void *context, const char *text) {
  (void)context;
  printf("%s\n", text);
}

/* Sources that are compiled, and the findings. */
struct compiling {
  struct store *store;
  struct compile_pool *pool;
  char nvrtc[32];                /* the version of this machine's NVRTC */
  long compared, other, defects; /* other: code of another version of NVRTC, which differs */
};

/* Columns: id, NVRTC, architecture, source. */
static const char codes_sql[] =
    "select b.id, b.nvrtc, b.arch, b.source from best b where length(b.cubin) > 0 order by b.id";

static halotune_status code_compare(struct compiling *c, int64_t id, const struct compiled *compiled, bool *is_same) {
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(store_connection(c->store), "select cubin from best where id = ?1", &query);
  if (status == HALOTUNE_OK) sqlite3_bind_int64(query, 1, id);
  if (status == HALOTUNE_OK && sqlite3_step(query) != SQLITE_ROW) status = query_fail(store_connection(c->store));
  const void *stored = status == HALOTUNE_OK ? sqlite3_column_blob(query, 0) : NULL;
  if (status == HALOTUNE_OK && !stored) status = query_fail(store_connection(c->store));
  if (stored)
    *is_same = (size_t)sqlite3_column_bytes(query, 0) == compiled->cubin_bytes &&
               memcmp(stored, compiled->cubin, compiled->cubin_bytes) == 0;
  sqlite3_finalize(query);
  return status;
}

/* Wait for one result, and compare it. */
static halotune_status take_result(struct compiling *c) {
  struct compile_result result;
  bool have = false, is_same = false;
  halotune_status status = compile_pool_wait(c->pool, -1, &result, &have);
  if (status != HALOTUNE_OK || !have) return status;
  const long long id = (long long)result.id;
  if (result.outcome == COMPILE_OK) {
    status = code_compare(c, (int64_t)result.id, &result.compiled, &is_same);
    if (status == HALOTUNE_OK && !is_same)
      printf("best %lld: its machine code is not what NVRTC %s makes of its source\n", id, c->nvrtc);
  } else {
    printf("best %lld: its source cannot be compiled (%s)\n", id, compile_outcome_name(result.outcome));
  }
  c->compared++;
  c->defects += status == HALOTUNE_OK && !is_same;
  compile_result_free(&result);
  return status;
}

static halotune_status submit_variant(void *context, sqlite3_stmt *row) {
  struct compiling *c = context;
  const struct compile_request request = {
      .source = column_text(row, 3), .name = "best.cu", .arch = column_text(row, 2)};
  halotune_status status = HALOTUNE_OK;
  if (strcmp(column_text(row, 1), c->nvrtc) != 0) {
    c->other++;
    return HALOTUNE_OK;
  }
  while (status == HALOTUNE_OK && !compile_pool_has_room(c->pool)) status = take_result(c);
  return status == HALOTUNE_OK ? compile_pool_submit(c->pool, (uint64_t)sqlite3_column_int64(row, 0), &request)
                               : status;
}

/* Compare the machine code of each best with its source. */
static halotune_status codes_check(struct store *store, long *found) {
  const struct compile_pool_options options = {0};
  struct compiling c = {.store = store};
  halotune_status status = compile_pool_open(&options, &c.pool);
  if (status != HALOTUNE_OK) return status;
  const struct nvrtc_facts *facts = compile_pool_nvrtc(c.pool);
  snprintf(c.nvrtc, sizeof c.nvrtc, "%d.%d", facts->major, facts->minor);
  status = query_rows(store_connection(store), codes_sql, submit_variant, &c);
  while (status == HALOTUNE_OK && compile_pool_pending(c.pool) > 0) status = take_result(&c);
  compile_pool_close(c.pool);
  if (status == HALOTUNE_OK)
    printf("%ld machine code%s compared with NVRTC %s; %ld of another NVRTC\n", c.compared, PLURAL(c.compared), c.nvrtc,
           c.other);
  *found += c.defects;
  return status;
}

halotune_status db_check(const struct invocation *invocation) {
  struct store *store;
  long found = 0, future = 0, left_out = 0;
  halotune_status status = store_open(option_value(invocation, "db"), STORE_READ_UNTRUSTED, &store);
  if (status == HALOTUNE_OK) status = store_check(store, defect_print, NULL, &found);
  if (status == HALOTUNE_OK) status = store_check_future(store, defect_print, NULL, &future);
  if (status == HALOTUNE_OK) status = store_check_left_out(store, defect_print, NULL, &left_out);
  found += future + left_out;
  if (status == HALOTUNE_OK && option_given(invocation, "compile")) status = codes_check(store, &found);
  if (status == HALOTUNE_OK && found > 0)
    status = fail(HALOTUNE_DB, "%s: %ld error%s", store_path(store), found, PLURAL(found));
  if (status == HALOTUNE_OK) printf("%s: no errors\n", store_path(store));
  store_close(store);
  return status;
}
