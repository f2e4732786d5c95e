/* lookup_build_test.c: when stored machine code serves a problem, and what is generated if it does not. */
#include "library/kernel/kernel_build.h"

#include <dlfcn.h>
#include <unistd.h>

#include "db/store/check.h"
#include "db/store/query.h"
#include "gpu/compile/cache_folder.h"
#include "gpu/compile/nvrtc.h"
#include "library/lookup/lookup.h"
#include "stencil/template/template_read.h"
#include "tests/unit/library/tuned.h"

#define USUAL LAUNCH_STREAM, CACHE_STEADY, false

static const struct tuned rows_stored[] = {
    {GPU_H200,
     "star7",
     "zmarch",
     "vector=4 block_y=8 points_y=1 load_path=plain coefficients=parameter extents=runtime",
     DTYPE_F32,
     {128, 64, 64},
     USUAL,
     0.30},
    {GPU_H200,
     "star13",
     "direct",
     "block_y=1 points_y=1 coefficients=parameter extents=literal",
     DTYPE_F32,
     {128, 64, 64},
     USUAL,
     0.30},
    {GPU_H200,
     "star25",
     "direct",
     "block_y=1 points_y=1 coefficients=literal extents=runtime",
     DTYPE_F32,
     {128, 64, 64},
     USUAL,
     0.30},
    {GPU_H200, "box27", "scatter", "copies=engine pieces=vectors vector=2", DTYPE_F32, {128, 64, 64}, USUAL, 0.30},
    {GPU_H200, "wave25", "scatter", "copies=block halo_bytes=32", DTYPE_F32, {128, 64, 64}, USUAL, 0.30},
    {GPU_H200, "heat2d", "pipeline_rows", "steps=1 min_blocks=2", DTYPE_F32, {1024, 512, 1}, USUAL, 0.30},
};

static struct work work;
static halotune_ctx *ctx;

static int set_up(void **state) {
  (void)state;
  work = work_begin();
  setenv("XDG_CACHE_HOME", work.folder, 1);
  ctx = tuned_open(work.path, rows_stored, COUNT(rows_stored));
  return ctx ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  halotune_close(ctx);
  work_end(&work);
  return 0;
}

static bool have_nvrtc(void) {
  struct nvrtc nvrtc;
  bool have = nvrtc_open(&nvrtc) == HALOTUNE_OK;
  nvrtc_close(&nvrtc);
  return have;
}

/* What a kernel is built from: the answer to a problem, for a device. */
struct order {
  struct question question;
  struct answer answer;
  struct known_device room;
  double *coefficients;
};

/* Look up a configuration. `device` may differ from that of the problem. */
static void order_make(const halotune_problem *problem, const char *device, struct order *out) {
  halotune_config config;
  struct lookup_key key;
  const struct known_device *known;
  CHECK_OK(halotune_lookup(ctx, problem, &config));
  CHECK_OK(config_read(ctx, &config, &key, &out->answer));
  CHECK_OK(context_device(ctx, device, &out->room, &known));
  CHECK_OK(question_begin(ctx, &key, known, &out->question));
  CHECK_OK(kernel_coefficients(&out->question, NULL, &out->coefficients));
}

/* Look up a configuration and build its kernel, with `change` added to the first coefficient. */
static halotune_status look_up_and_build(const char *stencil, const char *device, const long long grid[3],
                                         double change, struct built *out) {
  const halotune_problem problem = {stencil, device, {grid[0], grid[1], grid[2]}, HALOTUNE_F32, 0, 0, 0, 0};
  struct order order;
  order_make(&problem, device, &order);
  order.coefficients[0] += change;
  (void)fail(HALOTUNE_IO, "an earlier failure");
  halotune_status status = kernel_build(&order.question, &order.answer, order.coefficients, out);
  free(order.coefficients);
  if (status == HALOTUNE_OK) CHECK_TEXT("an earlier failure", fail_text(), "%s", stencil);
  return status;
}

TEST(stored_code_serves_only_what_it_was_built_for) {
  static const struct {
    const char *stencil, *device;
    long long grid[3];
    double change;
    bool stored;
    long blocks; /* of the launch, along y */
    const char *has;
  } rows[] = {
      {"star7", "NVIDIA H200", {128, 64, 64}, 0, true, 8, "128x64x64"},
      /* the same source, since extents are passed */
      {"star7", "NVIDIA H200", {256, 128, 64}, 0, true, 16, "256x128x64"},
      {"star7", "NVIDIA H200", {128, 64, 64}, 0.5, true, 8, "star7"}, /* coefficients are passed */
      {"star7", "sm_90", {128, 64, 64}, 0, true, 8, "star7"},         /* another GPU of the same architecture */
      {"star7", "sm_80", {128, 64, 64}, 0, false, 8, "star7"},        /* another architecture: the same configuration */
      {"star13", "NVIDIA H200", {128, 64, 64}, 0, true, 60, "nx = 128"},
      {"star13", "NVIDIA H200", {160, 64, 64}, 0, false, 60, "nx = 160"}, /* extents are built in */
      {"star25", "NVIDIA H200", {128, 64, 64}, 0, true, 56, "star25"},
      {"star25", "NVIDIA H200", {128, 64, 64}, 0.25, false, 56, "star25"}, /* coefficients are built in */
      {"star25", "NVIDIA H200", {160, 64, 64}, 0, true, 56, "star25"},
  };
  if (!have_nvrtc()) skip();
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct built built;
    CHECK_OK(look_up_and_build(rows[i].stencil, rows[i].device, rows[i].grid, rows[i].change, &built));
    CHECK_EQ(rows[i].stored, strcmp(built.code, "database") == 0, "row %zu: %s", i, built.code);
    CHECK(strstr(built.source, rows[i].has), "row %zu lacks %s", i, rows[i].has);
    CHECK_EQ(rows[i].blocks, built.launch.grid[1], "row %zu", i);
    CHECK(built.cubin_bytes > 0, "row %zu", i);
    built_free(&built);
  }
}

/* As many blocks as a GPU holds: another GPU gets its own number, with the same machine code. */
TEST(a_stored_launch_is_of_one_model_of_gpu) {
  static const struct {
    const char *device;
    long blocks;
  } rows[] = {{"NVIDIA H200", 2 * 132}, {"NVIDIA H100 PCIe", 2 * 114}};
  static const long long grid[] = {1024, 512, 1};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct built built;
    CHECK_OK(look_up_and_build("heat2d", rows[i].device, grid, 0, &built));
    CHECK_TEXT("database", built.code, "%s", rows[i].device);
    CHECK_EQ(rows[i].blocks, built.launch.grid[0], "%s", rows[i].device);
    built_free(&built);
  }
}

/* Get the source of the row that answers a problem, on a device. */
static halotune_status source_for(const halotune_problem *problem, const char *device, struct built *out) {
  struct order order;
  order_make(problem, device, &order);
  CHECK(order.answer.row, "%s is stored", problem->stencil);
  halotune_status status = kernel_source(&order.question, &order.answer, order.coefficients, out);
  free(order.coefficients);
  return status;
}

/* The stored row of a stencil for the H200 is requested on another device. */
static halotune_status source_of_row(const char *stencil, const char *device, struct built *out) {
  const halotune_problem problem = {stencil, "NVIDIA H200", {128, 64, 64}, HALOTUNE_F32, 0, 0, 0, 0};
  return source_for(&problem, device, out);
}

/* Conditions about the architecture are resolved in a source, so it may contain instructions that older GPUs lack. */
TEST(a_source_for_newer_gpus_is_not_served_to_older_ones) {
  static const struct {
    const char *stencil, *device;
    halotune_status want;
    int capability; /* of the source */
    const char *code;
  } rows[] = {
      {"star7", "sm_90", HALOTUNE_OK, 0, "database"},   {"star7", "sm_75", HALOTUNE_OK, 0, "database"},
      {"wave25", "sm_90", HALOTUNE_OK, 90, "database"}, {"wave25", "sm_100", HALOTUNE_OK, 90, "database"},
      {"wave25", "sm_80", HALOTUNE_OK, 80, ""},         {"box27", "sm_90", HALOTUNE_OK, 90, "database"},
      {"box27", "sm_80", HALOTUNE_ARGUMENT, 0, ""}, /* the GPU has no copy engine */
  };
  if (!have_nvrtc()) skip();
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct built built;
    CHECK_EQ(rows[i].want, source_of_row(rows[i].stencil, rows[i].device, &built), "row %zu: %s", i, fail_text());
    if (rows[i].want != HALOTUNE_OK) continue;
    CHECK_EQ(rows[i].capability, source_capability(built.source), "row %zu", i);
    CHECK_TEXT(rows[i].code, built.code, "row %zu", i);
    built_free(&built);
  }
}

/* A finalist of another version of the winner's template, with the same parameters: only the winner has stored code. */
TEST(a_finalist_has_no_stored_code) {
  struct work own = work_begin();
  halotune_ctx *const usual = ctx;
  tuned_make(own.path, rows_stored, 1);
  tuned_change(
      own.path,
      "insert into template (hash, common_hash, name, yaml, cuda, origin_id) select 'other', common_hash, name,"
      " yaml, cuda, origin_id from template;"
      " insert into variant (source_hash, stencil_id, template_id, parameters, origin_id) select source_hash,"
      " stencil_id, (select id from template where hash = 'other'), parameters, origin_id from variant;"
      " insert into finalist select run_id, (select max(id) from variant), 2, sample_count, median_ms,"
      " minimum_ms, low_ms, high_ms, 0.85, 0.84, 0.86, samples, 0, 0, null, null, null from finalist;"
      " update best set date = (select started from run)");
  const char *paths[] = {own.path};
  CHECK_OK(halotune_open(paths, 1, &ctx));
  for (int is_graph = 0; is_graph < 2; is_graph++) { /* the winner answers in its own mode, the finalist in the other */
    halotune_problem problem = {"star7", "NVIDIA H200", {128, 64, 64}, HALOTUNE_F32, 0, 0, 0, 0};
    struct built built;
    if (is_graph) problem.launch = HALOTUNE_LAUNCH_GRAPH;
    CHECK_OK(source_for(&problem, "NVIDIA H200", &built));
    CHECK_TEXT(is_graph ? "" : "database", built.code, "mode %d", is_graph);
    built_free(&built);
  }
  halotune_close(ctx);
  ctx = usual;
  work_end(&own);
}

/* While a ctx is open, its file can get other rows under the same ids: code is read later than rows. */
TEST(stored_code_is_that_of_the_row_that_was_read) {
  const struct tuned two[] = {
      rows_stored[0],
      {GPU_H200, "star7", "direct", "block_y=1 points_y=1", DTYPE_F32, {160, 64, 64}, USUAL, 0.30},
  };
  static const struct {
    const char *sql, *code;
  } changes[] = {
      {"update best set time_ms = time_ms", "database"},
      {"update best set date = '2026-01-01T00:00:00.000Z' where id = 1", ""}, /* tuned again: the same configuration */
      {"update best set date = (select date from best where id = 1); update best set id = 100 + id;"
       " update best set id = 2 where id = 101; update best set id = 1 where id = 102",
       ""},
      {"update best set source = '', cubin = zeroblob(0)", ""}, /* left out by an export */
  };
  for (size_t i = 0; i < COUNT(changes); i++) {
    struct work own = work_begin();
    halotune_ctx *const usual = ctx;
    struct built built;
    ctx = tuned_open(own.path, two, COUNT(two));
    CHECK(ctx, "row %zu", i);
    tuned_change(own.path, changes[i].sql);
    CHECK_OK(source_of_row("star7", "NVIDIA H200", &built));
    CHECK_TEXT(changes[i].code, built.code, "row %zu", i);
    CHECK(strstr(built.source, "zmarch"), "row %zu", i);
    built_free(&built);
    halotune_close(ctx);
    ctx = usual;
    work_end(&own);
  }
}

static void keep_quiet(void *context, const char *text) {
  (void)context;
  (void)text;
}

/* A generated source that has another identity than the one that was measured is not exact. */
TEST(a_source_that_was_left_out_is_compared) {
  static const struct {
    const char *sql;
    bool is_stale, is_told;
  } changes[] = {
      {"update best set time_ms = time_ms", false, false},
      {"update best set source = '', cubin = zeroblob(0)", false, false},
      {"update best set source = '', cubin = zeroblob(0); update variant set source_hash = printf('%064d', id)", true,
       true},
      {"update variant set source_hash = printf('%064d', id)", false, false}, /* the stored source is served */
  };
  for (size_t i = 0; i < COUNT(changes); i++) {
    struct work own = work_begin();
    halotune_ctx *const usual = ctx;
    struct built built;
    struct store *store;
    long found = 0;
    tuned_make(own.path, rows_stored, 1);
    tuned_change(own.path, changes[i].sql);
    CHECK_OK(store_open(own.path, STORE_READ, &store));
    CHECK_OK(store_check_left_out(store, keep_quiet, NULL, &found));
    store_close(store);
    CHECK_EQ(changes[i].is_told, found, "row %zu: check", i);
    const char *paths[] = {own.path};
    CHECK_OK(halotune_open(paths, 1, &ctx));
    CHECK_OK(source_of_row("star7", "NVIDIA H200", &built));
    CHECK_EQ(changes[i].is_stale, built.is_stale, "row %zu", i);
    built_free(&built);
    halotune_close(ctx);
    ctx = usual;
    work_end(&own);
  }
}

/* Another database has the template with its parameters in another order, which is the same template. So a verdict
 * there holds for the winner here, and no other row there changes its source, whichever database comes first. Its own
 * winner has the code that is stored with it. */
TEST(a_template_in_another_order_is_the_same) {
  static const struct {
    const char *what, *here, *there, *code;
    bool is_found;
  } rows[] = {
      {"a row that says nothing", "update best set source = '', cubin = zeroblob(0)",
       "update measurement set outcome = 'crashed'; delete from finalist; delete from best", "", true},
      {"a verdict", "update best set source = '', cubin = zeroblob(0)",
       "update measurement set outcome = 'wrong'; delete from finalist; delete from best", "", false},
      {"a winner", "delete from finalist; delete from best", "select 1", "database", true},
      {"a winner here, and one there", "select 1", "update best set time_ms = 0.31", "database", true},
  };
  static const halotune_problem problem = {"star7", "NVIDIA H200", {128, 64, 64}, HALOTUNE_F32, 0, 0, 0, 0};
  struct template *other = zmarch_in_another_order(tuned_template("zmarch"));
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  for (size_t i = 0; i < 2 * COUNT(rows); i++) {
    const char *const what = rows[i / 2].what;
    struct work here = work_begin(), there = work_begin();
    halotune_ctx *const usual = ctx;
    halotune_config config;
    struct built built;
    struct store *store;
    tuned_make(here.path, rows_stored, 1);
    tuned_change(here.path, rows[i / 2].here);
    CHECK_OK(store_open(there.path, STORE_WRITE, &store));
    tuned_put_template(store, &rows_stored[0], other);
    store_close(store);
    tuned_change(there.path, rows[i / 2].there);
    const char *paths[] = {i % 2 ? there.path : here.path, i % 2 ? here.path : there.path};
    CHECK_OK(halotune_open(paths, 2, &ctx));
    const halotune_status status = halotune_lookup(ctx, &problem, &config);
    CHECK_EQ(rows[i / 2].is_found, status == HALOTUNE_OK && config.match == HALOTUNE_MATCH_EXACT, "%s", what);
    if (rows[i / 2].is_found) {
      CHECK(strstr(config.parameters, "\"vector\"") < strstr(config.parameters, "\"band\""), "%s: %s", what,
            config.parameters);
      CHECK_OK(source_of_row("star7", "NVIDIA H200", &built));
      CHECK(!built.is_stale, "%s: the source that was measured", what);
      CHECK_TEXT(rows[i / 2].code, built.code, "%s", what);
      built_free(&built);
    }
    halotune_close(ctx);
    ctx = usual;
    work_end(&there);
    work_end(&here);
  }
  unsetenv("HALOTUNE_TEMPLATE_PATH");
  template_free(other);
}

/* A launch of other arrays than the stencil's would read pointers that no program gives. */
TEST(a_stored_launch_of_other_arrays_is_not_used) {
  static const char maps[] = "'{\"fields\":[15],\"box\":[32,8,1],\"promotion_bytes\":0}'";
  static const struct {
    const char *members, *arguments;
  } changes[] = {
      {"'$.steps', 2, '$.carried', 15", "'\"carried\",\"geometry\"'"},
      {"'$.tensor_inputs', json(%s)", "'\"tensor_inputs\",\"geometry\"'"},
      {"'$.tensor_outputs', json(%s)", "'\"tensor_outputs\",\"geometry\"'"},
  };
  for (size_t i = 0; i < COUNT(changes); i++) {
    struct work own = work_begin();
    halotune_ctx *const usual = ctx;
    struct text members = {0}, sql = {0};
    struct built built;
    text_printf(&members, changes[i].members, maps); // NOLINT: one %s at most
    text_printf(&sql, "update best set launch = replace(json_set(launch, %s), '\"geometry\"', %s)",
                text_string(&members), changes[i].arguments);
    tuned_make(own.path, rows_stored, 1);
    tuned_change(own.path, text_string(&sql));
    const char *paths[] = {own.path};
    CHECK_OK(halotune_open(paths, 1, &ctx));
    CHECK_OK(source_of_row("star7", "NVIDIA H200", &built));
    CHECK_EQ(0, built.launch.carried_count + built.launch.input_maps.count + built.launch.output_maps.count,
             "row %zu: %s", i, text_string(&sql));
    built_free(&built);
    halotune_close(ctx);
    ctx = usual;
    text_free(&sql);
    text_free(&members);
    work_end(&own);
  }
}

/* The number of steps in a row must be the one of its kernel. */
TEST(stored_code_of_other_steps_is_not_used) {
  struct work own = work_begin();
  halotune_ctx *const usual = ctx;
  struct built built;
  tuned_make(own.path, rows_stored, 1);
  tuned_change(own.path, "update best set steps = -7");
  const char *paths[] = {own.path};
  CHECK_OK(halotune_open(paths, 1, &ctx));
  CHECK_OK(source_of_row("star7", "NVIDIA H200", &built));
  CHECK_EQ(1, built.steps, "steps");
  built_free(&built);
  halotune_close(ctx);
  ctx = usual;
  work_end(&own);
}

static void entry_remove(void *count, const struct cache_file *file) { *(int *)count += unlink(file->path) == 0; }

/* Remove the files of the cache, as another program's trim may do at any time. Returns how many. */
static int entries_remove(void) {
  char *folder;
  int count = 0;
  CHECK_OK(cache_folder_default("", &folder));
  cache_folder_visit(folder, entry_remove, &count);
  free(folder);
  return count;
}

TEST(what_was_compiled_is_kept) {
  static const long long grid[3] = {192, 64, 64};
  struct built built;
  if (!have_nvrtc()) skip();
  CHECK_OK(look_up_and_build("star13", "NVIDIA H200", grid, 0, &built));
  CHECK_TEXT("compiled", built.code, "first");
  built_free(&built);
  CHECK_OK(look_up_and_build("star13", "NVIDIA H200", grid, 0, &built));
  CHECK_TEXT("cache", built.code, "second");
  built_free(&built);
  CHECK(entries_remove() > 0, "entries of the cache");
  CHECK_OK(look_up_and_build("star13", "NVIDIA H200", grid, 0, &built));
  CHECK_TEXT("compiled", built.code, "its file has vanished");
  CHECK(built.cubin_bytes > 0, "code");
  built_free(&built);
}

TEST(a_cache_that_cannot_be_used_is_done_without) {
  static const long long grid[3] = {128, 64, 64};
  struct built built;
  struct compiled compiled;
  const char *origin;
  if (!have_nvrtc()) skip();
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  CHECK_OK(look_up_and_build("star13", "sm_80", grid, 0, &built));
  CHECK_TEXT("compiled", built.code, "no cache");
  built_free(&built);
  (void)fail(HALOTUNE_IO, "an earlier failure");
  CHECK_OK(kernel_compile(ctx, 90, "extern \"C\" __global__ void empty() {}", "empty", &compiled, &origin));
  CHECK_TEXT("an earlier failure", fail_text(), "%s", origin);
  compiled_free(&compiled);
  setenv("XDG_CACHE_HOME", work.folder, 1);
}

TEST(a_database_that_went_away_is_done_without) {
  static const long long grid[3] = {128, 64, 64};
  struct built built;
  char moved[128];
  const char *paths[] = {work.path};
  if (!have_nvrtc()) skip();
  halotune_close(ctx); /* the context may hold the database open */
  CHECK_OK(halotune_open(paths, 1, &ctx));
  snprintf(moved, sizeof moved, "%.90s.moved", work.path);
  CHECK_EQ(0, rename(work.path, moved), "rename");
  CHECK_OK(look_up_and_build("star7", "NVIDIA H200", grid, 0, &built));
  CHECK(strcmp(built.code, "database") != 0, "%s", built.code);
  built_free(&built);
  CHECK_EQ(0, rename(moved, work.path), "rename");
}

/* Whoever puts another file at the path could copy the ids and dates of the rows. */
TEST(a_database_that_was_exchanged_is_done_without) {
  static const long long grid[3] = {128, 64, 64};
  struct built built;
  char command[480];
  const char *paths[] = {work.path};
  if (!have_nvrtc()) skip();
  halotune_close(ctx); /* the context may hold the database open */
  CHECK_OK(halotune_open(paths, 1, &ctx));
  snprintf(command, sizeof command, "mv '%.90s' '%.90s.moved' && cp '%.90s.moved' '%.90s'", work.path, work.path,
           work.path, work.path);
  CHECK_EQ(0, system(command), "%s", command); // NOLINT: the path is that of the test
  CHECK_OK(look_up_and_build("star7", "NVIDIA H200", grid, 0, &built));
  CHECK(strcmp(built.code, "database") != 0, "%s", built.code);
  built_free(&built);
  snprintf(command, sizeof command, "mv '%.90s.moved' '%.90s'", work.path, work.path);
  CHECK_EQ(0, system(command), "%s", command); // NOLINT: as above
  CHECK_OK(look_up_and_build("star7", "NVIDIA H200", grid, 0, &built));
  CHECK_TEXT("database", built.code, "the file that was read is there again");
  built_free(&built);
}

/* The driver gets no length, and would read behind the end of the code. */
TEST(code_that_is_cut_short_is_compiled_instead) {
  static const long long grid[3] = {128, 64, 64};
  static const struct {
    const char *change;
    bool is_whole;
  } rows[] = {
      {"update best set is_current = is_current", true},
      {"update best set cubin = substr(cubin, 1, length(cubin) - 1)", false},
      {"update best set cubin = substr(cubin, 1, 64)", false},
      {"update best set cubin = x'7f'", false},
      {"update best set cubin = zeroblob(300)", false},
      {"update best set cubin = cast(cubin || x'00' as blob)", true},
  };
  halotune_ctx *const usual = ctx;
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct work own = work_begin();
    struct built built;
    halotune_close(tuned_open(own.path, rows_stored, 1));
    tuned_change(own.path, rows[i].change);
    const char *paths[] = {own.path};
    CHECK_OK(halotune_open(paths, 1, &ctx));
    if (rows[i].is_whole || have_nvrtc()) {
      CHECK_OK(look_up_and_build("star7", "NVIDIA H200", grid, 0, &built));
      CHECK_EQ(rows[i].is_whole, strcmp(built.code, "database") == 0, "%s: %s", rows[i].change, built.code);
      CHECK(built.cubin_bytes > 0 && strstr(built.source, "star7"), "%s", rows[i].change);
      built_free(&built);
    }
    setenv("HALOTUNE_NVRTC", "/nonexistent/libnvrtc.so", 1);
    halotune_close(ctx);
    CHECK_OK(halotune_open(paths, 1, &ctx));
    const halotune_status status = look_up_and_build("star7", "NVIDIA H200", grid, 0, &built);
    unsetenv("HALOTUNE_NVRTC");
    CHECK_EQ(rows[i].is_whole ? HALOTUNE_OK : HALOTUNE_NO_NVRTC, status, "%s", rows[i].change);
    if (!rows[i].is_whole)
      CHECK(strstr(fail_text(), "the code in the database is not used: the machine code"), "%s", fail_text());
    if (rows[i].is_whole) built_free(&built);
    halotune_close(ctx);
    work_end(&own);
  }
  ctx = usual;
}

static int databases_opened;

/* Count the calls of SQLite's own function. The linker finds this one first. */
int sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs) {
  int (*own)(const char *, sqlite3 **, int, const char *);
  void *symbol = dlsym(RTLD_NEXT, "sqlite3_open_v2");
  memcpy(&own, &symbol, sizeof own);
  databases_opened++;
  return own(name, db, flags, vfs);
}

/* Get the source of stored machine code, which needs no compile. */
static void fetch_star7(halotune_ctx *from) {
  static const long long grid[3] = {128, 64, 64};
  halotune_ctx *const usual = ctx;
  struct built built;
  ctx = from;
  CHECK_OK(look_up_and_build("star7", "NVIDIA H200", grid, 0, &built));
  CHECK_TEXT("database", built.code, "stored code");
  built_free(&built);
  ctx = usual;
}

/* A file of version 1 is copied and migrated when it is opened. */
TEST(a_database_is_opened_once_for_all_kernels) {
  char path[128];
  const char *paths[] = {path};
  halotune_ctx *older;
  snprintf(path, sizeof path, "%.90s.version1", work.path);
  tuned_make(path, rows_stored, 1);
  make_older(path, 1);
  CHECK_OK(halotune_open(paths, 1, &older));
  fetch_star7(older);
  databases_opened = 0;
  for (int i = 0; i < 3; i++) fetch_star7(older);
  CHECK_EQ(0, databases_opened, "for three kernels more");
  halotune_close(older);
  unlink(path);
}

/* A problem on the H200. */
static struct question question_of(const char *stencil, enum dtype dtype) {
  static struct known_device room;
  const struct known_device *known;
  struct question question;
  struct lookup_key key = {.n = {128, 64, 64}, .dtype = dtype, .steps = 1};
  key.stencil = names_find(&ctx->catalog.stencil_names, stencil);
  CHECK_OK(context_device(ctx, "NVIDIA H200", &room, &known));
  key.model = known->model;
  CHECK_OK(question_begin(ctx, &key, known, &question));
  return question;
}

/* The alignment of a template's variant for star7. */
static int alignment_of(const struct template *template, const char *set, enum dtype dtype) {
  struct configuration configuration = configuration_of(template, set);
  struct question question = question_of("star7", dtype);
  int alignment_bytes = 0;
  CHECK_OK(question_alignment(&question, template, &configuration, &alignment_bytes));
  return alignment_bytes;
}

/* The copy engine needs a larger alignment than single elements have. */
TEST(alignment_of_variants_with_tensor_maps) {
  static const char yaml[] =
      "name: test\nabout: for tests\nparameters: {vector: {values: [1, 4], default: 1, about: x},"
      " copies: {values: [block, engine], default: block, about: x}}\nrules: []\nblock: [1, 1, 1]\n"
      "grid: [1, 1, 1]\nshared_bytes: 0\n"
      "tensor_inputs: {when: copies == engine && nx == 128, box: [8, 8, 1]}\n";
  struct template *template;
  CHECK_OK(template_of_texts(yaml, "// nothing\n", &template));
  CHECK_EQ(4, alignment_of(template, "copies=block", DTYPE_F32), "without maps");
  CHECK_EQ(16, alignment_of(template, "copies=engine", DTYPE_F32), "with maps");
  CHECK_EQ(32, alignment_of(template, "copies=engine vector=4", DTYPE_F64), "with vectors that want more");
  template_free(template);
}

TEST(alignment_of_variants) {
  static const struct {
    const char *template, *set;
    enum dtype dtype;
    int want;
  } rows[] = {
      {"direct", "vector=1", DTYPE_F32, 4},  {"direct", "vector=4", DTYPE_F32, 16},
      {"direct", "vector=2", DTYPE_F64, 16}, {"zmarch", "load_path=texture", DTYPE_F32, 512},
      {"pencil", NULL, DTYPE_F32, 4},        {"flat", NULL, DTYPE_F32, 16},
      {"flat", NULL, DTYPE_F64, 16},         {"patch", "vector=4", DTYPE_F32, 16},
      {"line", "vector=2", DTYPE_F64, 16},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct template *template;
    char path[64];
    snprintf(path, sizeof path, "templates/%s.yaml", rows[i].template);
    CHECK_OK(template_read(path, &template));
    CHECK_EQ(rows[i].want, alignment_of(template, rows[i].set, rows[i].dtype), "row %zu", i);
    template_free(template);
  }
}

/* A template of an old database declares load_path itself, possibly without some of the words. */
TEST(demands_leave_variants_out) {
  static const struct {
    const char *parameter, *set;
    bool in_place, no_textures; /* whether the variant may run like this */
    int alignment_bytes;
  } rows[] = {
      {"", NULL, true, true, 16},
      {"load_path: {values: [plain, readonly], default: plain, about: x}", "load_path=plain", true, true, 16},
      {"load_path: {values: [plain, readonly], default: plain, about: x}", "load_path=readonly", false, true, 16},
      {"load_path: {values: [plain, texture], default: plain, about: x}", "load_path=texture", false, false, 512},
      {"load_path: {values: [readonly, texture2d], default: readonly, about: x}", NULL, false, true, 16},
      {"load_path: {values: [texture2d], default: texture2d, about: x}", NULL, false, false, 512},
      {"load_path: {values: [readonly], default: readonly, about: x}", NULL, false, true, 16},
      {"vector: {values: [2], default: 2, about: x}", NULL, true, true, 8},
      {"copies: {values: [tensor], default: tensor, about: x}", NULL, false, true, 16},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct template *template;
    struct question question = question_of("star7", DTYPE_F32);
    char yaml[512];
    bool fits = false;
    snprintf(yaml, sizeof yaml,
             "name: test\nabout: for tests\nparameters: {%s}\nrules: []\nblock: [1, 1, 1]\ngrid: [1, 1, 1]\n"
             "shared_bytes: 0\n%s",
             rows[i].parameter,
             strstr(rows[i].parameter, "copies") ? "tensor_inputs: {when: copies == tensor, box: [8, 8, 1]}\n" : "");
    CHECK_OK(template_of_texts(yaml, "// nothing\n", &template));
    const struct configuration configuration = configuration_of(template, rows[i].set);
    CHECK_OK(question_check(&question, template, &configuration, &fits));
    CHECK(fits, "row %zu: without demands", i);
    question_demand(&question, (struct demands){.in_place = true});
    CHECK_OK(question_check(&question, template, &configuration, &fits));
    CHECK_EQ(rows[i].in_place, fits, "row %zu: in place", i);
    question_demand(&question, (struct demands){.no_textures = true});
    CHECK_OK(question_check(&question, template, &configuration, &fits));
    CHECK_EQ(rows[i].no_textures, fits, "row %zu: without textures", i);
    for (int bytes = 4; bytes <= 512; bytes *= 2) {
      question_demand(&question, (struct demands){.alignment_bytes = bytes});
      CHECK_OK(question_check(&question, template, &configuration, &fits));
      CHECK_EQ(bytes >= rows[i].alignment_bytes, fits, "row %zu: multiples of %d bytes", i, bytes);
    }
    CHECK_EQ(rows[i].alignment_bytes, alignment_of(template, rows[i].set, DTYPE_F32), "row %zu", i);
    template_free(template);
  }
}

/* Choose a variant for pointers with this alignment, and check that it accepts them. Returns its template. */
static const struct template *choose_aligned(struct question *question, int alignment, struct answer *answer) {
  const struct template *template;
  int needed = 0;
  question_demand(question, (struct demands){.alignment_bytes = alignment});
  CHECK_OK(choose(question, answer));
  CHECK_OK(context_template(ctx, answer->template_at, &template));
  CHECK_OK(question_alignment(question, template, &answer->configuration, &needed));
  CHECK_EQ(0, alignment % needed, "%d bytes", alignment);
  return template;
}

TEST(less_alignment_gives_another_variant) {
  struct question question = question_of("star7", DTYPE_F32);
  struct answer answer;
  for (int alignment = 16; alignment >= 4; alignment /= 2) {
    const struct template *template = choose_aligned(&question, alignment, &answer);
    CHECK_EQ(alignment >= 16, answer.row != NULL, "%d bytes", alignment);
    CHECK_TEXT("zmarch", template->name, "%d bytes: what was measured, with a narrower vector", alignment);
    int vector = template_parameter(template, "vector", 6);
    CHECK_EQ(alignment / 4, template->parameters[vector].values[answer.configuration.choice[vector]], "%d bytes",
             alignment);
  }
}

/* The copy engine needs multiples of 16 bytes. The block's threads copy fields that begin at other addresses. */
TEST(less_alignment_gives_copies_by_the_block) {
  struct question question = question_of("box27", DTYPE_F32);
  struct answer answer;
  for (int alignment = 16; alignment >= 4; alignment /= 2) {
    const struct template *template = choose_aligned(&question, alignment, &answer);
    CHECK_TEXT("scatter", template->name, "%d bytes: what was measured", alignment);
    int copies = template_parameter(template, "copies", 6);
    CHECK_TEXT(alignment >= 16 ? "engine" : "block",
               template->parameters[copies].words[answer.configuration.choice[copies]], "%d bytes", alignment);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stored_code_serves_only_what_it_was_built_for),
      cmocka_unit_test(a_stored_launch_is_of_one_model_of_gpu),
      cmocka_unit_test(a_source_for_newer_gpus_is_not_served_to_older_ones),
      cmocka_unit_test(a_finalist_has_no_stored_code),
      cmocka_unit_test(stored_code_is_that_of_the_row_that_was_read),
      cmocka_unit_test(a_source_that_was_left_out_is_compared),
      cmocka_unit_test(a_template_in_another_order_is_the_same),
      cmocka_unit_test(a_stored_launch_of_other_arrays_is_not_used),
      cmocka_unit_test(stored_code_of_other_steps_is_not_used),
      cmocka_unit_test(what_was_compiled_is_kept),
      cmocka_unit_test(a_cache_that_cannot_be_used_is_done_without),
      cmocka_unit_test(a_database_that_went_away_is_done_without),
      cmocka_unit_test(a_database_that_was_exchanged_is_done_without),
      cmocka_unit_test(code_that_is_cut_short_is_compiled_instead),
      cmocka_unit_test(a_database_is_opened_once_for_all_kernels),
      cmocka_unit_test(alignment_of_variants_with_tensor_maps),
      cmocka_unit_test(alignment_of_variants),
      cmocka_unit_test(demands_leave_variants_out),
      cmocka_unit_test(less_alignment_gives_another_variant),
      cmocka_unit_test(less_alignment_gives_copies_by_the_block),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
