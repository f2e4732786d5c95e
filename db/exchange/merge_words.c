/* merge_words.c: keeps the few templates whose text differs, and writes parameters again with them. */
#include "db/exchange/merge_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/template/template_read.h"

halotune_status merge_words_add(struct merge_words *words, int64_t theirs, const char *name, const char *yaml,
                                const char *cuda) {
  const struct source source = source_of(name, yaml, strlen(yaml));
  if (!array_room(words->list, words->count, words->room)) return fail_memory();
  words->list[words->count].theirs = theirs;
  const halotune_status status = template_parse(&source, cuda, &words->list[words->count].template);
  words->count += status == HALOTUNE_OK;
  return status;
}

halotune_status merge_words_write(struct merge_words *words, int64_t theirs, const char *parameters, const char **out) {
  *out = parameters;
  for (int i = 0; i < words->count; i++) {
    if (words->list[i].theirs != theirs) continue;
    text_free(&words->parameters);
    const halotune_status status = configuration_reword(words->list[i].template, parameters, &words->parameters);
    if (status == HALOTUNE_OK) *out = text_string(&words->parameters);
    return status;
  }
  return HALOTUNE_OK;
}

void merge_words_free(struct merge_words *words) {
  for (int i = 0; i < words->count; i++) template_free(words->list[i].template);
  free(words->list);
  text_free(&words->parameters);
  *words = (struct merge_words){.list = NULL};
}
