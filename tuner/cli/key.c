/* key.c: `halotune key`: makes the pair of keys with which documents are signed and checked; shows the public one. */
#include <stdio.h>

#include "base/files/key_file.h"
#include "base/memory/array.h"
#include "tuner/cli/options/option_value.h"

static halotune_status key_new(const char *path) {
  char hex[KEY_HEX_BYTES];
  struct public_key key;
  halotune_status status = key_file_make(path, &key);
  if (status != HALOTUNE_OK) return status;
  key_hex(key.bytes, hex);
  printf("private key: %s (keep it to yourself)\npublic key:  %s%s\n%s\n", path, path, KEY_FILE_PUBLIC_SUFFIX, hex);
  return HALOTUNE_OK;
}

/* Print the public key of a file with either key. */
static halotune_status key_show(const char *path) {
  char hex[KEY_HEX_BYTES];
  struct private_key private;
  struct public_key public;
  halotune_status status = public_key_find(path, &public);
  if (status == HALOTUNE_PARSE) {
    status = key_file_read(path, &private);
    if (status == HALOTUNE_OK) public = public_key_of(&private);
    private_key_forget(&private);
  }
  if (status != HALOTUNE_OK) return status;
  key_hex(public.bytes, hex);
  printf("%s\n", hex);
  return HALOTUNE_OK;
}

static const struct {
  const char *name;
  halotune_status (*run)(const char *path);
} parts[] = {{"new", key_new}, {"show", key_show}};

static enum exit_code key_run(const struct invocation *invocation) {
  const char *names[COUNT(parts)];
  int part;
  for (size_t i = 0; i < COUNT(parts); i++) names[i] = parts[i].name;
  halotune_status status = word_find("key", invocation->arguments[0], names, COUNT(parts), &part);
  if (status == HALOTUNE_OK && invocation->argument_count < 2)
    status = fail(HALOTUNE_ARGUMENT, "key %s takes a file: halotune key %s FILE", parts[part].name, parts[part].name);
  if (status == HALOTUNE_OK) status = parts[part].run(invocation->arguments[1]);
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_file_failure(status);
}

static const struct option_row options[] = {{0}};

const struct command command_key = {
    "key",   "WHAT FILE", 1, 2, "make keys that sign exported documents, or show a public key: new, show",
    options, key_run,
};
