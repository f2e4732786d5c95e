/* db_answers.c: asks a ctx before and one afterwards. */
#include "tuner/cli/db/db_answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/memory/texts.h"
#include "base/system/clock.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "library/lookup/lookup.h"
#include "stencil/file/grid_text.h"

/* What one ctx answers. The texts live as long as the ctx. */
struct one_answer {
  halotune_status status; /* if there is no answer, the other members are not set */
  const char *template_name, *yaml, *cuda, *parameters, *text;
  int steps, is_stale;
  struct identity code; /* of the row's source, launch, coefficients and machine code; zero: there is no row */
};

/* A problem as a program asks for it. */
struct asked {
  halotune_problem problem;
  const char *stencil, *hash, *device, *arch; /* of the row: names, and the stencil's identity */
  /* if no name leads to the row's model, it is asked for by these facts. name: NULL otherwise */
  struct model {
    const char *name;
    int capability, sm_count;
    bool is_emulation;
  } model;
  struct one_answer answer;
};

/* What programs see that open the same databases. */
struct view {
  halotune_ctx *ctx;
  sqlite3_stmt *codes; /* while problems are asked for */
  bool has_starter;    /* the starter database answers behind the user's */
  bool lacks_starter;  /* there is one, and it does not answer */
  double until_ms;     /* by clock_thread_ms: no problem is asked for after this time */
  long left;           /* problems that were not */
  struct asked *list;
  int count, room;
  struct texts texts; /* keys of problems, and names in them */
};

/* Programs that open the user's usual databases see the starter database, too. Those that name a file do not. */
struct answers {
  struct view views[2];
  int count; /* 1 if there is no starter database */
};

/* How long it may take to ask before, and again afterwards. The templates of a file may be such that a lookup walks
 * through a space. */
static const double most_ms = 20000;

/* What a comparison needs. */
struct comparison {
  const struct view *before;
  halotune_ctx *after;
  sqlite3_stmt *codes;
  struct texts told; /* names, and answers with their places, that were told */
  FILE *out;
  long *changed;
};

static void count_change(struct comparison *c, const char *kind, struct identity identity, const char *text) {
  char hash[IDENTITY_HEX_BYTES], printable[FAIL_TEXT_BYTES];
  ++*c->changed;
  if (!c->out) return;
  identity_hex(identity, hash);
  printable_name(printable, sizeof printable, text);
  fprintf(c->out, "  %-8s %s, %s\n", kind, hash, printable);
}

/* Keep a text. `is_new` receives whether it was not kept before. */
static halotune_status keep_text(struct texts *texts, struct text *text, bool *is_new) {
  const int known = texts->count;
  const halotune_status status = text_ok(text) && texts_keep(texts, text_string(text)) ? HALOTUNE_OK : fail_memory();
  *is_new = texts->count > known;
  text_free(text);
  return status;
}

/* The text that answers by the name of a stencil; "" for none. */
static const char *text_of_name(const halotune_ctx *ctx, const char *name) {
  const int stencil = names_find(&ctx->catalog.stencil_names, name);
  return stencil >= 0 ? ctx->catalog.stencils[stencil].text : "";
}

/* Tell once that something else answers by a name.
 *   kind, after  a word for it, and what answers now */
static halotune_status tell_name(struct comparison *c, const char *kind, const char *name, const char *after) {
  struct text kept = {0}, line = {0};
  bool is_new; /* another stencil may have the name */
  text_printf(&kept, strcmp(kind, "GPU") == 0 ? "GPU %s" : "%s", name);
  text_printf(&line, "%s: another %s answers by this name", name, kind);
  halotune_status status = keep_text(&c->told, &kept, &is_new);
  if (status == HALOTUNE_OK && !text_ok(&line)) status = fail_memory();
  if (status == HALOTUNE_OK && is_new)
    count_change(c, "name", identity_of(kind, after, strlen(after)), text_string(&line));
  text_free(&line);
  return status;
}

static halotune_status compare_name(struct comparison *c, const char *name) {
  const char *before = text_of_name(c->before->ctx, name), *after = text_of_name(c->after, name);
  const bool is_same = !*before || !*after || strcmp(before, after) == 0;
  return is_same ? HALOTUNE_OK : tell_name(c, "text", name, after);
}

/* The UUID of the GPU that answers by a name; "" for none. */
static const char *gpu_of_name(halotune_ctx *ctx, const char *name) {
  const struct known_device *found = NULL;
  struct known_device room;
  struct fail_kept kept;
  if (context_ordinal(name) >= 0) return ""; /* a number would mean a GPU of this machine */
  fail_keep(&kept);
  const halotune_status status = context_device(ctx, name, &room, &found);
  fail_put_back(&kept);
  return status == HALOTUNE_OK && found != &room ? found->uuid : "";
}

/* Compare the GPU that answers by a name. A document can bring one with the name of an imported emulation. */
static halotune_status compare_gpu(struct comparison *c, const char *name) {
  const char *before = gpu_of_name(c->before->ctx, name), *after = gpu_of_name(c->after, name);
  return !*before || strcmp(before, after) == 0 ? HALOTUNE_OK : tell_name(c, "GPU", name, after);
}

/* What would be compiled or loaded for an answer. Two winners of one configuration may have different sources, of two
 * generators. */
static const char codes_sql[] = "select v.source_hash, b.launch, b.coefficients, b.arch, b.source, b.cubin from best b"
                                " join variant v on v.id = b.variant_id where b.id = ?1";

static halotune_status code_of_row(sqlite3_stmt *codes, const struct served *row, struct identity *out) {
  struct identity_maker maker;
  *out = (struct identity){{0}};
  /* The starter database stays as it is. Finalists have no code. */
  if (!row || row->database != 0 || row->is_finalist) return HALOTUNE_OK;
  sqlite3_bind_int64(codes, 1, row->id);
  const int code = sqlite3_step(codes);
  identity_begin(&maker, "code of a row");
  for (int i = 0; code == SQLITE_ROW && i < sqlite3_column_count(codes); i++)
    identity_add(&maker, sqlite3_column_blob(codes, i), (size_t)sqlite3_column_bytes(codes, i));
  if (code == SQLITE_ROW) *out = identity_end(&maker);
  const halotune_status status =
      code == SQLITE_ROW || code == SQLITE_DONE ? HALOTUNE_OK : query_fail(sqlite3_db_handle(codes));
  sqlite3_reset(codes);
  return status;
}

static bool is_of_model(const struct known_device *device, const struct model *model) {
  return strcmp(device->name, model->name) == 0 && device->capability == model->capability &&
         device->sm_count == model->sm_count && device->is_emulation == model->is_emulation;
}

/* Look up a problem by the name of its GPU, or by its model: a program on a GPU finds rows of its model, whatever names
 * mean. */
static halotune_status look_up(halotune_ctx *ctx, const struct asked *asked, halotune_config *out) {
  if (!asked->model.name) return halotune_lookup(ctx, &asked->problem, out);
  for (int i = 0; i < ctx->catalog.device_count; i++) {
    const struct known_device *device = &ctx->catalog.devices[i];
    if (is_of_model(device, &asked->model)) return lookup_on(ctx, &asked->problem, device, out);
  }
  return fail(HALOTUNE_NOT_FOUND, "no row is of %s", asked->problem.device);
}

/* Ask a ctx. That it has no answer is no failure. */
static halotune_status ask_one(halotune_ctx *ctx, sqlite3_stmt *codes, const struct asked *asked,
                               struct one_answer *out) {
  halotune_config config;
  struct lookup_key key;
  struct answer answer;
  struct fail_kept kept;
  fail_keep(&kept);
  halotune_status status = look_up(ctx, asked, &config);
  if (status == HALOTUNE_OK) status = config_read(ctx, &config, &key, &answer);
  *out = (struct one_answer){.status = status};
  if (status == HALOTUNE_MEMORY) return status;
  fail_put_back(&kept);
  if (status != HALOTUNE_OK) return HALOTUNE_OK;
  const struct known_template *template = &ctx->catalog.templates[answer.template_at];
  out->template_name = config.template_name;
  out->yaml = template->yaml;
  out->cuda = template->cuda;
  out->parameters = config.parameters;
  out->text = ctx->catalog.stencils[key.text_of].text;
  out->steps = config.steps;
  out->is_stale = config.is_stale;
  return code_of_row(codes, answer.row, &out->code);
}

static bool is_same_variant(const struct one_answer *a, const struct one_answer *b) {
  return a->status == HALOTUNE_OK && b->status == HALOTUNE_OK && strcmp(a->yaml, b->yaml) == 0 &&
         strcmp(a->cuda, b->cuda) == 0 && strcmp(a->parameters, b->parameters) == 0 && a->steps == b->steps &&
         identity_compare(a->code, b->code) == 0;
}

static bool is_same_answer(const struct one_answer *a, const struct one_answer *b) {
  if (a->status != HALOTUNE_OK || b->status != HALOTUNE_OK) return a->status == b->status;
  return is_same_variant(a, b) && a->is_stale == b->is_stale;
}

static struct identity identity_of_answer(const struct one_answer *answer) {
  struct identity_maker maker;
  identity_begin(&maker, "answer");
  if (answer->status == HALOTUNE_OK) {
    const char *const texts[] = {answer->yaml, answer->cuda, answer->parameters, answer->text};
    for (size_t i = 0; i < COUNT(texts); i++) identity_add(&maker, texts[i], strlen(texts[i]));
    identity_add(&maker, &answer->steps, sizeof answer->steps);
    identity_add_identity(&maker, answer->code);
  }
  return identity_end(&maker);
}

static void write_problem(const struct view *view, const struct asked *asked, struct text *line) {
  const halotune_problem *problem = &asked->problem;
  const struct grid grid = {{(long)problem->grid[0], (long)problem->grid[1], (long)problem->grid[2]}};
  text_printf(line, "%s %s ", asked->stencil, dtype_names[problem->dtype]);
  grid_text(&grid, grid_dims(&grid), line);
  if (problem->launch) text_printf(line, ", %s", launch_mode_names[problem->launch - 1]);
  if (problem->cache) text_printf(line, ", %s", cache_mode_names[problem->cache - 1]);
  if (problem->reproducible) text_printf(line, ", reproducible");
  if (problem->steps == HALOTUNE_STEPS_ANY) text_printf(line, ", any number of steps");
  else if (problem->steps > 1) text_printf(line, ", %d steps", problem->steps);
  text_printf(line, ", on %s%s: ", asked->device, view->lacks_starter ? ", without the starter database" : "");
}

/* Ask for a problem, unless it was asked for. */
static halotune_status add_problem(struct view *view, const struct asked *problem) {
  struct text key = {0};
  bool is_new;
  write_problem(view, problem, &key);
  text_printf(&key, "%s %s", problem->problem.stencil, problem->problem.device);
  const halotune_status status = keep_text(&view->texts, &key, &is_new);
  if (status != HALOTUNE_OK || !is_new) return status;
  if (clock_thread_ms() > view->until_ms) {
    view->left++;
    return HALOTUNE_OK;
  }
  if (!array_room(view->list, view->count, view->room)) return fail_memory();
  struct asked *asked = &view->list[view->count++];
  *asked = *problem;
  const char **const names[] = {&asked->stencil,         &asked->hash,           &asked->device,    &asked->arch,
                                &asked->problem.stencil, &asked->problem.device, &asked->model.name};
  for (size_t i = 0; i < COUNT(names); i++) {
    if (*names[i] && !(*names[i] = texts_keep(&view->texts, *names[i]))) return fail_memory();
  }
  return ask_one(view->ctx, view->codes, asked, &asked->answer);
}

/* Ask for the problem of a row in the mode of the row, in no particular one, and in parts of it; for single steps,
 * as many steps as it has, and any number.
 *   plain  the problem in no particular mode, for single steps */
static halotune_status add_modes(struct view *view, const struct asked *plain, const halotune_problem *tuned) {
  enum { LAUNCH = 1, CACHE = 2, REPRODUCIBLE = 4, ALL = 8 };
  const int steps[] = {1, tuned->steps, HALOTUNE_STEPS_ANY};
  halotune_status status = HALOTUNE_OK;
  for (int turn = 0; turn < ALL; turn++) {
    /* The row's mode comes first, then no particular one: their lines tell the others, too. */
    const int mode = (ALL - 1 + turn) % ALL;
    for (size_t i = 0; i < COUNT(steps) && status == HALOTUNE_OK; i++) {
      struct asked asked = *plain;
      if (mode & LAUNCH) asked.problem.launch = tuned->launch;
      if (mode & CACHE) asked.problem.cache = tuned->cache;
      if (mode & REPRODUCIBLE) asked.problem.reproducible = tuned->reproducible;
      asked.problem.steps = steps[i];
      status = add_problem(view, &asked);
    }
  }
  return status;
}

/* Whether lookups take a UUID for the GPU that has it. The UUID of an imported GPU may be any word, such as rtx. */
static bool means_its_gpu(halotune_ctx *ctx, const char *uuid) {
  return *uuid && strcmp(gpu_of_name(ctx, uuid), uuid) == 0;
}

/* Whether lookups on a GPU of this name find rows of the model. */
static bool leads_to_model(halotune_ctx *ctx, const char *name, const struct model *model) {
  const struct known_device *found = NULL;
  struct known_device room;
  struct fail_kept kept;
  if (context_ordinal(name) >= 0) return false; /* it would mean a GPU of this machine */
  fail_keep(&kept);
  const halotune_status status = context_device(ctx, name, &room, &found);
  fail_put_back(&kept);
  return status == HALOTUNE_OK && found != &room && is_of_model(found, model);
}

/* Ask for the problem of a row on a GPU. The stencil is named by its name, and by its identity: an older stencil of the
 * same name answers programs that add its text.
 *   plain   its device is the name to print
 *   device  what names the GPU */
static halotune_status add_device(struct view *view, const struct asked *plain, const char *device,
                                  const halotune_problem *tuned) {
  struct asked asked = *plain;
  if (context_ordinal(device) >= 0) return HALOTUNE_OK; /* a number would mean a GPU of this machine */
  asked.problem.device = device;
  asked.problem.stencil = asked.stencil;
  halotune_status status = add_modes(view, &asked, tuned);
  asked.problem.stencil = asked.hash;
  return status == HALOTUNE_OK ? add_modes(view, &asked, tuned) : status;
}

/* Ask for the problem of a row. The GPU is named by its UUID, because two models may have one name, or by its model if
 * no name leads there. It is also named by its architecture: winners of a model that no row names yet can answer for
 * the architecture, and for models without rows. */
static halotune_status add_row(struct view *view, sqlite3_stmt *row) {
  enum {
    STENCIL,
    STENCIL_HASH,
    DEVICE,
    UUID,
    IS_F64,
    NX,
    IS_GRAPH = NX + MAX_DIMS,
    IS_COLD,
    IS_REPRODUCIBLE,
    STEPS,
    CAPABILITY,
    IS_EMULATION,
    SM_COUNT
  };
  char arch[16], of_model[FAIL_TEXT_BYTES];
  const char *uuid = column_text(row, UUID), *name = column_text(row, DEVICE);
  const char *device = means_its_gpu(view->ctx, uuid) ? uuid : name;
  const struct model model = {name, sqlite3_column_int(row, CAPABILITY), sqlite3_column_int(row, SM_COUNT),
                              sqlite3_column_int(row, IS_EMULATION)};
  /* an emulation answers for no architecture, and its lines tell nothing of one */
  struct asked plain = {.stencil = column_text(row, STENCIL),
                        .hash = column_text(row, STENCIL_HASH),
                        .device = name,
                        .arch = model.is_emulation ? name : arch};
  snprintf(arch, sizeof arch, "sm_%d", model.capability);
  if (!leads_to_model(view->ctx, device, &model)) {
    snprintf(of_model, sizeof of_model, "%s with %d multiprocessors", name, model.sm_count);
    plain.model = model;
    plain.device = device = of_model;
  }
  plain.problem =
      (halotune_problem){.dtype = sqlite3_column_int(row, IS_F64) ? HALOTUNE_F64 : HALOTUNE_F32, .steps = 1};
  for (int axis = 0; axis < MAX_DIMS; axis++) plain.problem.grid[axis] = sqlite3_column_int64(row, NX + axis);
  const halotune_problem tuned = {
      .launch = (halotune_launch_mode)(1 + (sqlite3_column_int(row, IS_GRAPH) ? LAUNCH_GRAPH : LAUNCH_STREAM)),
      .cache = (halotune_cache_mode)(1 + (sqlite3_column_int(row, IS_COLD) ? CACHE_COLD : CACHE_STEADY)),
      .reproducible = sqlite3_column_int(row, IS_REPRODUCIBLE),
      .steps = sqlite3_column_int(row, STEPS)};
  const halotune_status status = add_device(view, &plain, device, &tuned);
  plain.device = plain.arch = arch;
  plain.model = (struct model){.name = NULL};
  return status == HALOTUNE_OK ? add_device(view, &plain, arch, &tuned) : status;
}

/* Ask for the problems of a database, also for those without a winner: one that is known to be wrong may answer again.
 * Each mode of a row is asked for with each number of steps that a row of the same place has. */
static halotune_status add_database(struct view *view, struct store *store) {
#define SQL_PLACE(p, d)                                                                                             \
  p ".stencil_id as stencil_id, " d ".name as name, " d ".capability as capability, " d ".sm_count as sm_count, " d \
    ".is_emulation as is_emulation, " p ".dtype as dtype, " p ".nx as nx, " p ".ny as ny, " p ".nz as nz"
  static const char sql[] =
      "with mode as materialized (select distinct d.uuid, p.launch, p.cache, p.is_reproducible, " SQL_PLACE("p", "d") " from problem p join device d on d.id = p.device_id), number as materialized (select distinct p.steps, " SQL_PLACE(
          "p",
          "d") " from problem p join device d on d.id = p.device_id)"
               " select printable(s.name), s.hash, printable(m.name), printable(m.uuid), m.dtype = 'f64', m.nx, m.ny, m.nz,"
               " m.launch = 'graph', m.cache = 'cold', m.is_reproducible, n.steps, m.capability, m.is_emulation, m.sm_count from mode m join number n using (stencil_id,"
               " name, capability, sm_count, is_emulation, dtype, nx, ny, nz) join stencil s on s.id = m.stencil_id";
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  halotune_status status = query_prepare(store_connection(store), sql, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) status = add_row(view, query);
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(store_connection(store));
  sqlite3_finalize(query);
  return status;
}

static halotune_status add_starter(struct view *view) {
  struct store *starter = NULL;
  halotune_status status = store_open_starter(&starter);
  if (status == HALOTUNE_OK && starter) status = add_database(view, starter);
  store_close(starter);
  return status;
}

static halotune_status view_ask(struct view *view, struct store *store) {
  halotune_status status = context_open_stores(&store, 1, view->has_starter, &view->ctx);
  if (status == HALOTUNE_OK) status = query_prepare(store_connection(store), codes_sql, &view->codes);
  if (status == HALOTUNE_OK) status = add_database(view, store);
  if (status == HALOTUNE_OK && view->has_starter) status = add_starter(view);
  sqlite3_finalize(view->codes);
  view->codes = NULL;
  return status;
}

halotune_status answers_ask(struct store *store, struct answers **out) {
  struct answers *answers = calloc(1, sizeof *answers);
  struct store *starter = NULL;
  *out = NULL;
  if (!answers) return fail_memory();
  halotune_status status = store_open_starter(&starter);
  const double until_ms = clock_thread_ms() + most_ms;
  answers->count = starter ? 2 : 1;
  for (int i = 0; i < answers->count && status == HALOTUNE_OK; i++) {
    answers->views[i] =
        (struct view){.has_starter = starter && i == 0, .lacks_starter = starter && i == 1, .until_ms = until_ms};
    status = view_ask(&answers->views[i], store);
  }
  store_close(starter);
  if (status == HALOTUNE_OK) *out = answers;
  else answers_free(answers);
  return status;
}

static bool is_told(const struct comparison *c, const char *name) {
  return texts_find(&c->told, name, strlen(name)) >= 0;
}

/* Keep that an answer was told in a mode. The line also tells the same answer in parts of this mode, for any number of
 * steps, by the stencil's identity, and for the GPU's architecture. Two stencils of one name may both have no answer.
 *   answer  NULL: there is none
 *   is_age  the line only tells that the same variant is stale, or no longer so
 *   is_new  receives whether no line has told it */
static halotune_status keep_told(struct comparison *c, const struct asked *asked, const struct identity *answer,
                                 bool is_age, bool *is_new) {
  enum { LAUNCH = 1, CACHE = 2, REPRODUCIBLE = 4, STEPS = 8, DEVICE = 16, WHOLE = 31 };
  const halotune_problem *problem = &asked->problem;
  halotune_status status = HALOTUNE_OK;
  char hex[IDENTITY_HEX_BYTES];
  const char *told = answer ? hex : asked->hash;
  if (answer) identity_hex(*answer, hex);
  *is_new = true;
  for (int named = WHOLE; named >= 0 && status == HALOTUNE_OK && *is_new; named--) {
    bool is_new_part;
    struct text part = {0};
    text_printf(&part, "%s %d %lldx%lldx%lld %s %s", asked->stencil, (int)problem->dtype, problem->grid[0],
                problem->grid[1], problem->grid[2], named & DEVICE ? problem->device : asked->arch, told);
    text_printf(&part, " %d %d %d %d %d", is_age, named & LAUNCH ? (int)problem->launch : 0,
                named & CACHE ? (int)problem->cache : 0, named & REPRODUCIBLE ? problem->reproducible : 0,
                named & STEPS ? problem->steps : HALOTUNE_STEPS_ANY);
    status = keep_text(&c->told, &part, &is_new_part);
    if (named == WHOLE) *is_new = status == HALOTUNE_OK && is_new_part;
  }
  return status;
}

static halotune_status compare_problem(struct comparison *c, const struct asked *asked) {
  const struct one_answer *before = &asked->answer;
  struct one_answer after;
  struct text line = {0};
  halotune_status status = ask_one(c->after, c->codes, asked, &after);
  if (status != HALOTUNE_OK) return status;
  const bool has_same_text = before->status != HALOTUNE_OK || after.status != HALOTUNE_OK ||
                             strcmp(before->text, after.text) == 0 || is_told(c, asked->stencil);
  if (has_same_text && is_same_answer(before, &after)) return HALOTUNE_OK;
  const char *from = before->status == HALOTUNE_OK ? before->template_name : "no answer",
             *to = after.status == HALOTUNE_OK ? after.template_name : "no answer";
  write_problem(c->before, asked, &line);
  const bool is_age = has_same_text && is_same_variant(before, &after);
  if (!has_same_text) text_printf(&line, "another text of the stencil");
  else if (is_age) text_printf(&line, "the same variant of %s, %s", to, after.is_stale ? "stale" : "no longer stale");
  else if (strcmp(from, to) == 0) text_printf(&line, "another variant of %s", to);
  else text_printf(&line, "%s, in place of %s", to, from);
  status = text_ok(&line) ? HALOTUNE_OK : fail_memory();
  const struct identity answer = identity_of_answer(&after);
  bool is_new = false;
  if (status == HALOTUNE_OK)
    status = keep_told(c, asked, after.status == HALOTUNE_OK ? &answer : NULL, is_age, &is_new);
  if (is_new) count_change(c, "answer", answer, text_string(&line));
  text_free(&line);
  return status;
}

/* Ask for the problems of a view again, and compare. */
static halotune_status view_compare(struct comparison *c, struct store *store, double until_ms, long *left) {
  const struct view *before = c->before;
  const struct catalog *catalog = &before->ctx->catalog;
  int s = 0, d = 0, i = 0;
  halotune_status status = context_open_stores(&store, 1, before->has_starter, &c->after);
  if (status == HALOTUNE_OK) status = query_prepare(store_connection(store), codes_sql, &c->codes);
  for (; s < catalog->stencil_count && status == HALOTUNE_OK && clock_thread_ms() < until_ms; s++)
    status = compare_name(c, catalog->stencils[s].name);
  for (; d < catalog->device_count && status == HALOTUNE_OK && clock_thread_ms() < until_ms; d++)
    status = compare_gpu(c, catalog->devices[d].name);
  for (; i < before->count && status == HALOTUNE_OK && clock_thread_ms() < until_ms; i++)
    status = compare_problem(c, &before->list[i]);
  if (status == HALOTUNE_OK)
    *left += before->left + catalog->stencil_count - s + catalog->device_count - d + before->count - i;
  sqlite3_finalize(c->codes);
  halotune_close(c->after);
  return status;
}

halotune_status answers_compare(const struct answers *before, struct store *store, FILE *out, long *changed,
                                long *left) {
  const double until_ms = clock_thread_ms() + most_ms;
  struct comparison c = {.out = out, .changed = changed};
  halotune_status status = HALOTUNE_OK;
  *changed = *left = 0;
  for (int i = 0; i < before->count && status == HALOTUNE_OK; i++) {
    c.before = &before->views[i], c.after = NULL, c.codes = NULL;
    status = view_compare(&c, store, until_ms, left);
  }
  texts_free(&c.told);
  return status;
}

void answers_free(struct answers *answers) {
  if (!answers) return;
  for (int i = 0; i < answers->count; i++) {
    halotune_close(answers->views[i].ctx);
    texts_free(&answers->views[i].texts);
    free(answers->views[i].list);
  }
  free(answers);
}
