/* db.c: `halotune db WHAT`: finds the part that WHAT names, and checks its options and files. */
#include "tuner/cli/db/db.h"

#include <stdio.h>
#include <string.h>

#include "base/memory/array.h"
#include "tuner/cli/options/option_value.h"

static const struct {
  const char *name;
  halotune_status (*run)(const struct invocation *invocation);
  bool takes_files;
  const char *options; /* options of this part, with a blank before and after each */
} parts[] = {
    {"info", db_info, false, " db json long "},
    {"check", db_check, false, " db compile "},
    {"merge", db_merge, true, " db trust yes no-code shipped signed-by "},
    {"import", db_merge, true, " db trust yes no-code shipped signed-by "},
    {"export", db_export, false,
     " db output format cubins sign problem device before launch cache steps reproducible "},
    {"fit", db_fit, false, " db "},
    {"forget", db_forget, false, " db problem stencil device signer before yes "},
    {"refresh", db_refresh, false, " db dry-run "},
};

/* Find a part by its name. */
static halotune_status part_find(const char *name, int *out) {
  const char *names[COUNT(parts)];
  for (size_t i = 0; i < COUNT(parts); i++) names[i] = parts[i].name;
  return word_find("db", name, names, COUNT(parts), out);
}

static halotune_status options_check(const struct invocation *invocation, int part) {
  const struct option_row *rows = invocation->command->options;
  for (int i = 0; rows[i].name; i++) {
    char word[64];
    snprintf(word, sizeof word, " %s ", rows[i].name);
    if (invocation->values[i] && !strstr(parts[part].options, word))
      return fail(HALOTUNE_ARGUMENT, "db %s has no option --%s", parts[part].name, rows[i].name);
  }
  return HALOTUNE_OK;
}

static halotune_status files_check(const struct invocation *invocation, int part) {
  const char *name = parts[part].name;
  const bool has_files = invocation->argument_count > 1;
  if (has_files == parts[part].takes_files) return HALOTUNE_OK;
  if (has_files) return fail(HALOTUNE_ARGUMENT, "db %s takes no files", name);
  return fail(HALOTUNE_ARGUMENT, "db %s takes files: halotune db %s FILE...", name, name);
}

static enum exit_code db_run(const struct invocation *invocation) {
  int part;
  halotune_status status = part_find(invocation->arguments[0], &part);
  if (status == HALOTUNE_OK) status = options_check(invocation, part);
  if (status == HALOTUNE_OK) status = files_check(invocation, part);
  if (status == HALOTUNE_OK) status = parts[part].run(invocation);
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_file_failure(status);
}

static const struct option_row options[] = {
    {"db", "FILE", "the database; by default $HALOTUNE_DB, else the user's own"},
    {"compile", NULL, "check: also compile every source, and compare the machine code"},
    {"json", NULL, "info: print a JSON document"},
    {"long", NULL, "info: show all parameters of a variant; a terminal shows those that differ from their defaults"},
    {"output", "FILE", "export: write to this file; by default to standard output"},
    {"format", "WORD", "export: json (all tables, what import reads) or t4 (the shared format of autotuners)"},
    {"cubins", NULL, "export: include compiled code"},
    {"sign", "KEYFILE", "export: sign the document with this private key, as 'halotune key new' makes it"},
    {"problem", "NAME", "export, forget: only STENCIL[,DTYPE[,GRID]], such as star7,f32,512x512x512"},
    {"stencil", "NAME", "forget: only this stencil"},
    {"device", "NAME", "export, forget: only this device, by name, words of a name (h200) or uuid"},
    {"steps", "N", "export: only problems whose launches make this number of time steps"},
    {"launch", "MODE", "export: only problems that were tuned with this launch mode, stream or graph"},
    {"cache", "MODE", "export: only problems that were tuned with this cache mode, steady or cold"},
    {"reproducible", NULL, "export: only problems that were tuned with --reproducible"},
    {"signer", "NAME", "forget: only rows from documents of this signer, by name or public key"},
    {"before", "DATE", "export, forget: only results from before this date, such as 2026-11-21"},
    {"yes", NULL, "forget, merge, import: do it; without --yes the command only prints what it would do"},
    {"trust", NULL, "merge, import: let programs that look up a kernel run the code of these files on your GPU"},
    {"signed-by", "KEY",
     "merge, import: take only documents signed with this public key (digits or file); with --trust also unsigned ones"},
    {"no-code", NULL,
     "merge, import: take sources without machine code, and print where they differ from what this Halotune generates"},
    {"dry-run", NULL, "refresh: only print what it would do"},
    {"shipped", NULL, "merge, import: record that the rows come with Halotune, as those of the starter database"},
    {0},
};

const struct command command_db = {
    "db",    "WHAT", 1, 10000, "inspect and change databases: info, check, merge, import, export, fit, forget, refresh",
    options, db_run,
};
