/* installed.c: walks through the folders of templates, and reads the two files of a template. */
#include "library/lookup/installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "stencil/template/template_read.h"

void template_texts_free(struct template_texts *texts) {
  free(texts->yaml);
  free(texts->cuda);
  *texts = (struct template_texts){NULL, NULL};
}

static halotune_status read_file(const struct template_folder *folder, const char *name, const char *extension,
                                 char **out) {
  char *path = NULL;
  size_t bytes;
  if (asprintf(&path, "%.*s/%s.%s", folder->length, folder->path, name, extension) < 0) return fail_memory();
  const bool is_usable = folder->is_named || data_is_safe(path);
  halotune_status status = is_usable ? file_read_found(path, MAX_STENCIL_BYTES, out, &bytes) : HALOTUNE_NOT_FOUND;
  free(path);
  return status;
}

halotune_status template_texts_read(const struct template_folder *folder, const char *name,
                                    struct template_texts *out) {
  *out = (struct template_texts){NULL, NULL};
  halotune_status status = read_file(folder, name, "yaml", &out->yaml);
  if (status == HALOTUNE_OK) status = read_file(folder, name, "cu", &out->cuda);
  if (status != HALOTUNE_OK) template_texts_free(out);
  return status == HALOTUNE_MEMORY ? status : HALOTUNE_OK;
}

halotune_status installed_each_folder(const struct data_folders *installed,
                                      halotune_status (*use)(void *context, const struct template_folder *folder,
                                                             bool *is_over),
                                      void *context) {
  const char *path = getenv("HALOTUNE_TEMPLATE_PATH");
  halotune_status status = HALOTUNE_OK;
  bool is_over = false;
  for (const char *at = path ? path : ""; *at && !is_over && status == HALOTUNE_OK;
       at += strcspn(at, ":"), at += *at == ':') {
    const struct template_folder folder = {at, (int)strcspn(at, ":"), true};
    if (folder.length > 0) status = use(context, &folder, &is_over);
  }
  for (int i = 0; i < installed->count && !is_over && status == HALOTUNE_OK; i++) {
    char name[PATH_MAX];
    const struct template_folder folder = {name, snprintf(name, sizeof name, "%s/templates", installed->list[i]),
                                           false};
    if (folder.length < (int)sizeof name && data_is_safe(name)) status = use(context, &folder, &is_over);
  }
  return status;
}

struct wanted {
  const char *name;
  struct template_texts *texts;
};

static halotune_status read_wanted(void *context, const struct template_folder *folder, bool *is_over) {
  struct wanted *wanted = context;
  halotune_status status = template_texts_read(folder, wanted->name, wanted->texts);
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
  const struct source cuda = {name, texts.cuda, strlen(texts.cuda)};
  status = template_check_cuda(&cuda);
  if (status == HALOTUNE_OK) status = template_parse(&yaml, texts.cuda, out);
  template_texts_free(&texts);
  return status;
}
