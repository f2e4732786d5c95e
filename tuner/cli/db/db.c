/* db.c: `halotune db WHAT`: the database looked at, checked, joined with others, written out, read in, and made
 * smaller. */
#include "tuner/cli/db/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "db/exchange/export.h"
#include "db/exchange/forget.h"
#include "db/store/check.h"
#include "tuner/cli/output/output.h"

halotune_status db_open(const struct invocation *invocation, enum store_mode mode, struct store **out) {
  return store_open(option_value(invocation, "db"), mode, out);
}

static void print_problem(void *context, const char *text) {
  (void)context;
  printf("%s\n", text);
}

static halotune_status check(const struct invocation *invocation, struct store *store) {
  long found = 0;
  (void)invocation;
  halotune_status status = store_check(store, print_problem, NULL, &found);
  if (status != HALOTUNE_OK) return status;
  if (found > 0)
    return fail(HALOTUNE_DB, "%s: %ld thing%s wrong", store_path(store), found, found == 1 ? " is" : "s are");
  printf("%s: whole, and all of it can be read\n", store_path(store));
  return HALOTUNE_OK;
}

/* Nothing that was chosen is there: most likely a name was misspelt. */
static halotune_status fail_nothing(const struct store *store, const struct choice *choice) {
  struct text text = {0};
  if (choice->stencil) text_printf(&text, " of stencil '%s'", choice->stencil);
  if (choice->has_dtype) text_printf(&text, " in %s", dtype_names[choice->dtype]);
  if (choice->has_grid) {
    text_printf(&text, " on %ldx%ldx%ld", choice->grid.n[0], choice->grid.n[1], choice->grid.n[2]);
  }
  if (choice->device) text_printf(&text, " on device '%s'", choice->device);
  if (choice->before) text_printf(&text, " before %s", choice->before);
  halotune_status status =
      fail(HALOTUNE_NOT_FOUND, "%s: nothing%s was measured; 'halotune db info' shows what is there", store_path(store),
           text_string(&text));
  text_free(&text);
  return status;
}

static bool has_choice(const struct choice *choice) { return choice->stencil || choice->device || choice->before; }

static halotune_status export_as(const struct invocation *invocation, struct store *store, const struct choice *choice,
                                 struct text *text) {
  enum { FORMAT_JSON, FORMAT_T4 };
  static const char *const formats[] = {"json", "t4"};
  const bool cubins = option_given(invocation, "cubins");
  int format;
  halotune_status status = option_word(invocation, "format", formats, COUNT(formats), FORMAT_JSON, &format);
  if (status != HALOTUNE_OK) return status;
  if (format == FORMAT_JSON) return store_export(store, choice, cubins, text);
  if (cubins) return fail(HALOTUNE_ARGUMENT, "--cubins is for --format json: the T4 format holds no cubins");
  return store_export_t4(store, choice, text);
}

static halotune_status export(const struct invocation *invocation, struct store *store) {
  struct choice choice;
  struct text text = {0};
  char *name;
  struct forget_counts counts = {0};
  halotune_status status = db_choice(invocation, &choice, &name);
  if (status != HALOTUNE_OK) return status;
  if (has_choice(&choice)) {
    status = store_forget_count(store, &choice, &counts);
    if (status == HALOTUNE_OK && counts.runs == 0 && counts.bests == 0) status = fail_nothing(store, &choice);
  }
  if (status == HALOTUNE_OK) status = export_as(invocation, store, &choice, &text);
  if (status == HALOTUNE_OK) status = output_text(invocation, OUTPUT_FOR_OWNER, text_string(&text), text.length);
  text_free(&text);
  free(name);
  return status;
}

static halotune_status forget(const struct invocation *invocation, struct store *store) {
  struct choice choice;
  struct forget_counts counts;
  char *name;
  bool sure = option_given(invocation, "yes");
  halotune_status status = db_choice(invocation, &choice, &name);
  if (status != HALOTUNE_OK) return status;
  if (!has_choice(&choice)) {
    status = fail(HALOTUNE_ARGUMENT, "forget what? Name it by --stencil, --device, --before or --problem");
  }
  if (status == HALOTUNE_OK) status = store_forget_count(store, &choice, &counts);
  if (status == HALOTUNE_OK && counts.runs == 0 && counts.bests == 0) status = fail_nothing(store, &choice);
  if (status == HALOTUNE_OK && sure) status = store_forget(store, &choice);
  if (status == HALOTUNE_OK) {
    printf("%s %ld run%s with %ld measurement%s, and %ld best configuration%s\n", sure ? "removed" : "would remove",
           counts.runs, PLURAL(counts.runs), counts.measurements, PLURAL(counts.measurements), counts.bests,
           PLURAL(counts.bests));
    if (!sure) fprintf(stderr, "halotune: nothing was removed yet; add --yes to do it\n");
  }
  free(name);
  return status;
}

static const struct {
  const char *name;
  halotune_status (*run)(const struct invocation *invocation, struct store *store);
  enum { OPEN_TO_READ, OPEN_TO_WRITE, OPENS_ITSELF } opening;
  int least_files, most_files;
  const char *options; /* that it knows, in spaces */
} parts[] = {
    {"info", db_info, OPEN_TO_READ, 0, 0, " db json "},
    {"check", check, OPEN_TO_READ, 0, 0, " db "},
    {"merge", db_take_in, OPENS_ITSELF, 1, 10000, " db trust "},
    {"import", db_take_in, OPENS_ITSELF, 1, 10000, " db trust "},
    {"export", export, OPEN_TO_READ, 0, 0, " db output format cubins problem device before "},
    {"forget", forget, OPEN_TO_WRITE, 0, 0, " db problem stencil device before yes "},
};

/* Where there is no file, there is nothing to forget, and none is made for that. */
static halotune_status check_there(const struct invocation *invocation) {
  struct store *store;
  halotune_status status = db_open(invocation, STORE_READ, &store);
  store_close(store);
  return status == HALOTUNE_NOT_FOUND ? status : HALOTUNE_OK;
}

static halotune_status check_options(const struct invocation *invocation, const char *part, const char *known) {
  const struct option_row *rows = invocation->command->options;
  for (int i = 0; rows[i].name; i++) {
    char word[64];
    snprintf(word, sizeof word, " %s ", rows[i].name);
    if (invocation->values[i] && !strstr(known, word)) {
      return fail(HALOTUNE_ARGUMENT, "db %s has no option --%s", part, rows[i].name);
    }
  }
  return HALOTUNE_OK;
}

/* What is wrong with a file that the user named is the file's fault. */
static enum exit_code report(halotune_status status) {
  return status == HALOTUNE_IO ? report_file_failure(status) : report_failure(status);
}

static enum exit_code run(const struct invocation *invocation) {
  const char *what = invocation->arguments[0];
  int files = invocation->argument_count - 1;
  struct store *store = NULL;
  for (size_t i = 0; i < COUNT(parts); i++) {
    if (strcmp(parts[i].name, what) != 0) continue;
    halotune_status status = check_options(invocation, what, parts[i].options);
    if (status == HALOTUNE_OK && (files < parts[i].least_files || files > parts[i].most_files)) {
      status = parts[i].most_files > 0
                   ? fail(HALOTUNE_ARGUMENT, "db %s takes files: halotune db %s FILE...", what, what)
                   : fail(HALOTUNE_ARGUMENT, "db %s takes no files", what);
    }
    if (status == HALOTUNE_OK && parts[i].run == forget) status = check_there(invocation);
    if (status == HALOTUNE_OK && parts[i].opening != OPENS_ITSELF) {
      status = db_open(invocation, parts[i].opening == OPEN_TO_READ ? STORE_READ : STORE_WRITE, &store);
    }
    if (status == HALOTUNE_OK) status = parts[i].run(invocation, store);
    store_close(store);
    return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report(status);
  }
  return report_failure(
      fail(HALOTUNE_ARGUMENT, "db knows info, check, merge, import, export and forget, not '%s'", what));
}

static const struct option_row options[] = {
    {"db", "FILE", "the database; without it $HALOTUNE_DB, else the user's own"},
    {"json", NULL, "info: print a JSON document"},
    {"output", "FILE", "export: write there, not to standard output"},
    {"format", "WORD", "export: json (all tables, what import reads) or t4 (the shared format of autotuners)"},
    {"cubins", NULL, "export: compiled code too"},
    {"problem", "NAME", "export, forget: only STENCIL[,DTYPE[,GRID]], such as star7,f32,512x512x512"},
    {"stencil", "NAME", "forget: only this stencil"},
    {"device", "NAME", "export, forget: only this device, by name or uuid"},
    {"before", "DATE", "export, forget: only what was measured before it, 2026-11-21"},
    {"yes", NULL, "forget: remove it; without this only the numbers are printed"},
    {"trust", NULL, "merge, import: programs that look up a kernel may run the code of these files on your GPU"},
    {0},
};

const struct command command_db = {
    "db", "WHAT", 1, 10000, "the database: info, check, merge, import, export or forget", options, run,
};
