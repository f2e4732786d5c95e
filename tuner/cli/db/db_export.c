/* db_export.c: `halotune db export`: writes tables as a document. */
#include <stdlib.h>

#include "base/files/key_file.h"
#include "base/memory/array.h"
#include "db/exchange/export.h"
#include "db/exchange/forget.h"
#include "db/exchange/signed_document.h"
#include "tuner/cli/db/db.h"
#include "tuner/cli/db/db_choice.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/output.h"

/* Sign a document with the private key of a file. */
static halotune_status export_sign(const char *path, struct text *text) {
  struct private_key key;
  halotune_status status = key_file_read(path, &key);
  if (status == HALOTUNE_OK) document_sign(text, &key);
  private_key_forget(&key);
  return status == HALOTUNE_OK && !text_ok(text) ? fail_memory() : status;
}

static halotune_status export_make(const struct invocation *invocation, struct store *store,
                                   const struct choice *choice, struct text *text) {
  enum { FORMAT_JSON, FORMAT_T4 };
  static const char *const formats[] = {"json", "t4"};
  const bool cubins = option_given(invocation, "cubins");
  const char *key = option_value(invocation, "sign");
  int format;
  halotune_status status = option_word(invocation, "format", formats, COUNT(formats), FORMAT_JSON, &format);
  if (status != HALOTUNE_OK) return status;
  if (format == FORMAT_JSON) {
    status = store_export(store, choice, cubins, text);
    return status == HALOTUNE_OK && key ? export_sign(key, text) : status;
  }
  if (key) return fail(HALOTUNE_ARGUMENT, "--sign is for --format json: the T4 format has no place for a signature");
  if (cubins) return fail(HALOTUNE_ARGUMENT, "--cubins is for --format json: the T4 format holds no cubins");
  return store_export_t4(store, choice, text);
}

halotune_status db_export(const struct invocation *invocation) {
  struct choice choice;
  struct text text = {0};
  struct store *store = NULL;
  struct forget_counts counts = {0};
  /* An untrusted database is not signed. */
  const enum store_mode mode = option_given(invocation, "sign") ? STORE_READ : STORE_READ_UNTRUSTED;
  char *name, *device = NULL;
  halotune_status status = db_choice(invocation, &choice, &name);
  if (status == HALOTUNE_OK) status = store_open(option_value(invocation, "db"), mode, &store);
  if (status == HALOTUNE_OK) status = db_choice_find_device(store, &choice, &device);
  if (status == HALOTUNE_OK && db_choice_is_given(&choice)) {
    status = store_forget_count(store, &choice, NULL, &counts);
    if (status == HALOTUNE_OK && counts.runs == 0 && counts.bests == 0) status = db_choice_fail(store, &choice);
  }
  if (status == HALOTUNE_OK) status = export_make(invocation, store, &choice, &text);
  if (status == HALOTUNE_OK)
    status = output_text(option_value(invocation, "output"), OUTPUT_FOR_OWNER, text_string(&text), text.length);
  text_free(&text);
  store_close(store);
  free(device);
  free(name);
  return status;
}
