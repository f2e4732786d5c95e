/* db_answers.c: asks a ctx before and one afterwards. */
#include "tuner/cli/db/db_answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/memory/texts.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "db/store/refuted.h"
#include "library/lookup/lookup.h"
#include "stencil/file/grid_text.h"

/* What one ctx answers. */
struct one_answer {
  const char *template_name; /* NULL: there is no answer */
  const char *template_hash, *parameters;
};

struct answers {
  halotune_ctx *ctx; /* the answers point to its texts */
  bool has_starter;
  struct asked {
    halotune_problem problem;
    struct one_answer answer;
  } * list;
  int count, room;
  struct texts texts; /* problems, and names in them */
};

/* What a comparison needs. */
struct comparison {
  const struct answers *before;
  halotune_ctx *after;
  struct texts told; /* names that were told */
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

/* The text that answers by the name of a stencil; "" for none. */
static const char *text_of_name(const halotune_ctx *ctx, const char *name) {
  const int stencil = names_find(&ctx->catalog.stencil_names, name);
  return stencil >= 0 && *ctx->catalog.stencils[stencil].newest ? ctx->catalog.stencils[stencil].text : "";
}

static halotune_status compare_name(struct comparison *c, const char *name) {
  const char *before = text_of_name(c->before->ctx, name), *after = text_of_name(c->after, name);
  struct text line = {0};
  const int known = c->told.count;
  if (!*before || !*after || strcmp(before, after) == 0) return HALOTUNE_OK;
  text_printf(&line, "%s: another text answers by this name", name);
  const halotune_status status = text_ok(&line) && texts_keep(&c->told, name) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK && c->told.count > known) /* else another stencil has the name */
    count_change(c, "name", identity_of("text", after, strlen(after)), text_string(&line));
  text_free(&line);
  return status;
}

/* Ask a ctx. That it has no answer is no failure. */
static halotune_status ask_one(halotune_ctx *ctx, const halotune_problem *problem, struct one_answer *out) {
  halotune_config config;
  struct lookup_key key;
  struct answer answer;
  struct fail_kept kept;
  *out = (struct one_answer){.template_name = NULL};
  fail_keep(&kept);
  halotune_status status = halotune_lookup(ctx, problem, &config);
  if (status == HALOTUNE_OK) status = config_read(ctx, &config, &key, &answer);
  if (status == HALOTUNE_MEMORY) return status;
  fail_put_back(&kept);
  if (status != HALOTUNE_OK) return HALOTUNE_OK;
  *out = (struct one_answer){config.template_name, ctx->catalog.templates[answer.template_at].hash, config.parameters};
  return HALOTUNE_OK;
}

static bool is_same_answer(const struct one_answer *a, const struct one_answer *b) {
  if (!a->template_name || !b->template_name) return a->template_name == b->template_name;
  return strcmp(a->template_hash, b->template_hash) == 0 && strcmp(a->parameters, b->parameters) == 0;
}

static struct identity identity_of_answer(const struct one_answer *answer) {
  struct identity_maker maker;
  identity_begin(&maker, "answer");
  if (answer->template_name) {
    identity_add(&maker, answer->template_hash, strlen(answer->template_hash));
    identity_add(&maker, answer->parameters, strlen(answer->parameters));
  }
  return identity_end(&maker);
}

static void write_problem(const halotune_problem *problem, struct text *line) {
  const struct grid grid = {{(long)problem->grid[0], (long)problem->grid[1], (long)problem->grid[2]}};
  text_printf(line, "%s %s ", problem->stencil, dtype_names[problem->dtype]);
  grid_text(&grid, grid_dims(&grid), line);
  text_printf(line, ", %s, %s", launch_mode_names[problem->launch - 1], cache_mode_names[problem->cache - 1]);
  if (problem->reproducible) text_printf(line, ", reproducible");
  if (problem->steps > 1) text_printf(line, ", %d steps", problem->steps);
  text_printf(line, ", on %s: ", problem->device);
}

/* Ask for a problem, unless it was asked for. */
static halotune_status add_problem(struct answers *answers, const halotune_problem *problem) {
  struct text line = {0};
  const int known = answers->texts.count;
  write_problem(problem, &line);
  halotune_status status =
      text_ok(&line) && texts_keep(&answers->texts, text_string(&line)) ? HALOTUNE_OK : fail_memory();
  const bool is_new = answers->texts.count > known;
  text_free(&line);
  if (status != HALOTUNE_OK || !is_new) return status;
  if (!array_room(answers->list, answers->count, answers->room)) return fail_memory();
  struct asked *asked = &answers->list[answers->count++];
  *asked = (struct asked){.problem = *problem};
  asked->problem.stencil = texts_keep(&answers->texts, problem->stencil);
  asked->problem.device = texts_keep(&answers->texts, problem->device);
  if (!asked->problem.stencil || !asked->problem.device) return fail_memory();
  return ask_one(answers->ctx, &asked->problem, &asked->answer);
}

/* Problems that the databases answer. */
static halotune_status add_served(struct answers *answers) {
  const struct catalog *catalog = &answers->ctx->catalog;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < catalog->row_count && status == HALOTUNE_OK; i++) {
    const struct served *row = &catalog->rows[i];
    const halotune_problem problem = {.stencil = catalog->stencils[row->stencil].name,
                                      .device = catalog->devices[row->model].name,
                                      .grid = {row->n[0], row->n[1], row->n[2]},
                                      .dtype = (halotune_dtype)row->dtype,
                                      .launch = (halotune_launch_mode)(row->launch + 1),
                                      .cache = (halotune_cache_mode)(row->cache + 1),
                                      .reproducible = row->reproducible,
                                      .steps = row->steps};
    if (!row->is_finalist) status = add_problem(answers, &problem);
  }
  return status;
}

/* Problems whose winners are known to be wrong, and so not in the catalog: they may answer again. */
static halotune_status add_refuted(struct answers *answers, struct store *store) {
  static const char sql[] =
      "select printable(s.name), printable(d.name), p.dtype = 'f64', p.nx, p.ny, p.nz, p.launch = 'graph',"
      " p.cache = 'cold', p.is_reproducible, p.steps from best b join problem p on p.id = b.problem_id join stencil s"
      " on s.id = p.stencil_id join device d on d.id = p.device_id where " SQL_IS_REFUTED("b");
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  halotune_status status = query_prepare(store_connection(store), sql, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    const halotune_problem problem = {
        .stencil = column_text(query, 0),
        .device = column_text(query, 1),
        .dtype = sqlite3_column_int(query, 2) ? HALOTUNE_F64 : HALOTUNE_F32,
        .grid = {sqlite3_column_int64(query, 3), sqlite3_column_int64(query, 4), sqlite3_column_int64(query, 5)},
        .launch = (halotune_launch_mode)(sqlite3_column_int(query, 6) + LAUNCH_STREAM + 1),
        .cache = (halotune_cache_mode)(sqlite3_column_int(query, 7) + CACHE_STEADY + 1),
        .reproducible = sqlite3_column_int(query, 8),
        .steps = sqlite3_column_int(query, 9)};
    status = add_problem(answers, &problem);
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(store_connection(store));
  sqlite3_finalize(query);
  return status;
}

halotune_status answers_ask(struct store *store, bool has_starter, struct answers **out) {
  struct answers *answers = calloc(1, sizeof *answers);
  *out = NULL;
  if (!answers) return fail_memory();
  answers->has_starter = has_starter;
  halotune_status status = context_open_store(store, has_starter, &answers->ctx);
  if (status == HALOTUNE_OK) status = add_served(answers);
  if (status == HALOTUNE_OK) status = add_refuted(answers, store);
  if (status == HALOTUNE_OK) *out = answers;
  else answers_free(answers);
  return status;
}

static halotune_status compare_problem(struct comparison *c, const struct asked *asked) {
  struct one_answer after;
  struct text line = {0};
  halotune_status status = ask_one(c->after, &asked->problem, &after);
  if (status != HALOTUNE_OK || is_same_answer(&asked->answer, &after)) return status;
  const char *from = asked->answer.template_name ? asked->answer.template_name : "no answer",
             *to = after.template_name ? after.template_name : "no answer";
  write_problem(&asked->problem, &line);
  if (strcmp(from, to) == 0) text_printf(&line, "another variant of %s", to);
  else text_printf(&line, "%s, in place of %s", to, from);
  status = text_ok(&line) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) count_change(c, "answer", identity_of_answer(&after), text_string(&line));
  text_free(&line);
  return status;
}

halotune_status answers_compare(const struct answers *before, struct store *store, FILE *out, long *changed) {
  struct comparison c = {.before = before, .out = out, .changed = changed};
  const struct catalog *catalog = &before->ctx->catalog;
  *changed = 0;
  halotune_status status = context_open_store(store, before->has_starter, &c.after);
  for (int i = 0; i < catalog->stencil_count && status == HALOTUNE_OK; i++)
    status = compare_name(&c, catalog->stencils[i].name);
  for (int i = 0; i < before->count && status == HALOTUNE_OK; i++) status = compare_problem(&c, &before->list[i]);
  texts_free(&c.told);
  halotune_close(c.after);
  return status;
}

void answers_free(struct answers *answers) {
  if (!answers) return;
  halotune_close(answers->ctx);
  texts_free(&answers->texts);
  free(answers->list);
  free(answers);
}
