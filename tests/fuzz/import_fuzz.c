/* import_fuzz.c: imports any bytes as a document. A document that is accepted is checked and exported, and the export
 * must be accepted again and give the same export. A refusal must have a message that a terminal can show. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/exchange/export.h"
#include "db/exchange/import.h"
#include "db/exchange/merge.h"
#include "db/store/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what) {
  fprintf(stderr, "%s\n%s\n", what, fail_text());
  abort();
}

static void check_text(const char *text) {
  if (!*text) die("an error without words");
  for (; *text; text++) {
    if ((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') die("a control character in an error");
  }
}

static void take_problem(void *context, const char *text) {
  (void)context;
  check_text(text);
}

static void write_out(struct store *store, struct text *text) {
  static const struct choice everything = {.stencil = NULL};
  if (store_export(store, &everything, true, text) != HALOTUNE_OK) die("not exported");
}

/* Merge an intact store, export it, and import it again. */
static void use_store(struct store *store) {
  static const struct merge_options options = {.origin = {"imported", "input", "", "", ""}};
  struct store *merged, *again;
  struct text first = {0}, second = {0};
  if (store_open_memory(&merged) != HALOTUNE_OK || store_merge(merged, store, &options, NULL) != HALOTUNE_OK)
    die("not merged");
  store_close(merged);
  write_out(store, &first);
  if (import_parse(text_string(&first), first.length, "again", &again) != HALOTUNE_OK) die("not read again");
  write_out(again, &second);
  if (strcmp(text_string(&first), text_string(&second)) != 0) die("not the same again");
  store_close(again);
  text_free(&first);
  text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct store *store;
  long found = 0;
  halotune_status status = import_parse((const char *)data, size, "input", &store);
  if (status == HALOTUNE_OK) {
    if (store_check(store, take_problem, NULL, &found) != HALOTUNE_OK) die("not checked");
    if (found == 0) use_store(store);
  } else if (status == HALOTUNE_PARSE) {
    check_text(fail_text());
  } else {
    die("neither read nor refused");
  }
  store_close(store);
  return 0;
}
