/* trust.c: `halotune trust`: names the signers whose documents are trusted, shows them, and removes them. */
#include <stdio.h>

#include "base/files/key_file.h"
#include "base/memory/array.h"
#include "base/text/json.h"
#include "db/exchange/signers.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/output.h"

static halotune_status trust_add(const struct invocation *invocation) {
  const char *name = invocation->arguments[1];
  struct public_key key;
  halotune_status status = public_key_find(invocation->arguments[2], &key);
  if (status == HALOTUNE_OK) status = signers_add(name, &key);
  if (status != HALOTUNE_OK) return status;
  printf("'%s' is trusted: 'halotune db import --yes' takes documents that are signed with this key\n", name);
  return HALOTUNE_OK;
}

static halotune_status trust_list(const struct invocation *invocation) {
  const bool as_json = option_given(invocation, "json");
  struct signers signers;
  json_t *list = as_json ? json_array() : NULL;
  halotune_status status = signers_read(&signers);
  for (int i = 0; i < signers.count; i++) {
    char hex[KEY_HEX_BYTES];
    key_hex(signers.list[i].key.bytes, hex);
    if (!as_json) {
      printf("%s %s\n", hex, signers.list[i].name);
      continue;
    }
    json_t *signer = json_object();
    json_put(&signer, "name", text_json(signers.list[i].name));
    json_put(&signer, "public_key", text_json(hex));
    json_add(&list, signer);
  }
  if (status == HALOTUNE_OK && !as_json && signers.count == 0)
    fprintf(stderr, "halotune: no signer is trusted; 'halotune trust add NAME PUBLICKEY' adds one\n");
  if (status == HALOTUNE_OK && as_json) status = print_json(json_incref(list));
  json_decref(list);
  signers_free(&signers);
  return status;
}

static halotune_status trust_remove(const struct invocation *invocation) {
  const char *name = invocation->arguments[1];
  halotune_status status = signers_remove(name);
  if (status != HALOTUNE_OK) return status;
  printf("'%s' is no longer trusted; rows that were taken from it before are still in your databases\n", name);
  return HALOTUNE_OK;
}

static const struct {
  const char *name, *usage;
  int arguments; /* with the name of the part */
  halotune_status (*run)(const struct invocation *invocation);
} parts[] = {
    {"add", "add NAME PUBLICKEY|FILE", 3, trust_add},
    {"list", "list", 1, trust_list},
    {"remove", "remove NAME", 2, trust_remove},
};

static enum exit_code trust_run(const struct invocation *invocation) {
  const char *names[COUNT(parts)];
  int part;
  for (size_t i = 0; i < COUNT(parts); i++) names[i] = parts[i].name;
  halotune_status status = word_find("trust", invocation->arguments[0], names, COUNT(parts), &part);
  if (status == HALOTUNE_OK && invocation->argument_count != parts[part].arguments)
    status = fail(HALOTUNE_ARGUMENT, "expected: halotune trust %s", parts[part].usage);
  if (status == HALOTUNE_OK && option_given(invocation, "json") && parts[part].run != trust_list)
    status = fail(HALOTUNE_ARGUMENT, "trust %s has no option --json", parts[part].name);
  if (status == HALOTUNE_OK) status = parts[part].run(invocation);
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_file_failure(status);
}

static const struct option_row options[] = {
    {"json", NULL, "list: print a JSON document"},
    {0},
};

const struct command command_trust = {
    "trust", "WHAT", 1, 3, "name those whose signed documents are trusted: add, list, remove", options, trust_run,
};
