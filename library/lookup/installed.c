/* installed.c: walks the folders, and reads pairs of files. */
#include "library/lookup/installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

void template_texts_free(struct template_texts *texts) {
  free(texts->yaml);
  free(texts->cuda);
  *texts = (struct template_texts){NULL, NULL};
}

static halotune_status read_file(const char *folder, int length, const char *name, const char *extension, char **out) {
  char *path = NULL;
  size_t bytes;
  if (asprintf(&path, "%.*s/%s.%s", length, folder, name, extension) < 0) return fail_memory();
  halotune_status status = file_read_found(path, MAX_STENCIL_BYTES, out, &bytes);
  free(path);
  return status;
}

halotune_status template_texts_read(const char *folder, int length, const char *name, struct template_texts *out) {
  *out = (struct template_texts){NULL, NULL};
  halotune_status status = read_file(folder, length, name, "yaml", &out->yaml);
  if (status == HALOTUNE_OK) status = read_file(folder, length, name, "cu", &out->cuda);
  if (status != HALOTUNE_OK) template_texts_free(out);
  return status == HALOTUNE_MEMORY ? status : HALOTUNE_OK;
}

halotune_status installed_each_folder(const struct data_folders *installed,
                                      halotune_status (*use)(void *context, const char *folder, int length,
                                                             bool *is_over),
                                      void *context) {
  const char *path = getenv("HALOTUNE_TEMPLATE_PATH");
  halotune_status status = HALOTUNE_OK;
  bool is_over = false;
  for (const char *folder = path ? path : ""; *folder && !is_over && status == HALOTUNE_OK;
       folder += strcspn(folder, ":"), folder += *folder == ':') {
    const int length = (int)strcspn(folder, ":");
    if (length > 0) status = use(context, folder, length, &is_over);
  }
  for (int i = 0; i < installed->count && !is_over && status == HALOTUNE_OK; i++) {
    char folder[PATH_MAX];
    const int length = snprintf(folder, sizeof folder, "%s/templates", installed->list[i]);
    if (length < (int)sizeof folder && data_is_safe(folder)) status = use(context, folder, length, &is_over);
  }
  return status;
}

struct wanted {
  const char *name;
  struct template_texts *texts;
};

static halotune_status read_wanted(void *context, const char *folder, int length, bool *is_over) {
  struct wanted *wanted = context;
  halotune_status status = template_texts_read(folder, length, wanted->name, wanted->texts);
  *is_over = wanted->texts->yaml != NULL;
  return status;
}

halotune_status installed_texts(const struct data_folders *installed, const char *name, struct template_texts *out) {
  struct wanted wanted = {name, out};
  *out = (struct template_texts){NULL, NULL};
  return installed_each_folder(installed, read_wanted, &wanted);
}

halotune_status installed_template(const char *name, struct template **out) {
  struct data_folders folders;
  struct template_texts texts;
  *out = NULL;
  data_folders_find(&folders);
  halotune_status status = installed_texts(&folders, name, &texts);
  if (status != HALOTUNE_OK || !texts.yaml) return status;
  const struct source yaml = source_of(name, texts.yaml, strlen(texts.yaml));
  status = template_parse(&yaml, texts.cuda, out);
  template_texts_free(&texts);
  return status;
}
