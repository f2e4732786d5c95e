/* templates.c: reads the templates that the user names. */
#include "tuner/cli/options/templates.h"
#include "stencil/template/template_read.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/cli/options/found_files.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/options/search_path.h"

halotune_status template_open(const char *path, bool by_name, struct template **out) {
  halotune_status status = found_file_is_kept(path) ? template_read_found(path, out) : template_read(path, out);
  if (status == HALOTUNE_OK && by_name) status = search_check_name(&search_templates, path, (*out)->name);
  if (status == HALOTUNE_OK) return HALOTUNE_OK;
  template_free(*out);
  *out = NULL;
  return status;
}

/* Add one template by its name or path. */
static halotune_status add_named(const char *folder, const char *name, struct templates *out) {
  char *path;
  halotune_status status = search_find(&search_templates, folder, name, &path);
  if (status != HALOTUNE_OK) return status;
  status = template_open(path, !search_is_path(name), &out->list[out->count]);
  free(path);
  if (status != HALOTUNE_OK) return status;
  const struct template *added = out->list[out->count++];
  for (int i = 0; i < out->count - 1; i++) {
    if (identity_compare(out->list[i]->hash, added->hash) == 0)
      return fail(HALOTUNE_ARGUMENT, "--template names %s twice", added->name);
  }
  return HALOTUNE_OK;
}

static halotune_status open_named(const char *folder, const char *names, struct templates *out) {
  int room = 1;
  for (const char *comma = strchr(names, ','); comma; comma = strchr(comma + 1, ',')) room++;
  char *words = strdup(names), *rest = words;
  out->list = calloc((size_t)room, sizeof *out->list);
  halotune_status status = words && out->list ? HALOTUNE_OK : fail_memory();
  while (status == HALOTUNE_OK && rest) status = add_named(folder, strsep(&rest, ","), out);
  free(words);
  return status;
}

/* Read all templates. A file with an error is named on stderr, and the others are read. */
static halotune_status open_all(const char *folder, struct templates *out) {
  char **paths;
  int count;
  halotune_status status = search_all(&search_templates, folder, &paths, &count);
  if (status != HALOTUNE_OK) return status;
  out->list = calloc((size_t)count + 1, sizeof *out->list);
  if (!out->list) status = fail_memory();
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    status = template_open(paths[i], true, &out->list[out->count]);
    if (status == HALOTUNE_OK) {
      out->count++;
    } else if (status != HALOTUNE_MEMORY) {
      report_failure(status);
      out->code = HALOTUNE_EXIT_BAD_INPUT;
      status = HALOTUNE_OK;
    }
  }
  search_free(paths, count);
  if (status != HALOTUNE_OK || out->count > 0) return status;
  return count > 0 ? fail(HALOTUNE_PARSE, "each of the templates has an error")
                   : fail(HALOTUNE_NOT_FOUND, "there are no templates; see --template-dir");
}

halotune_status templates_open(const struct invocation *invocation, struct templates *out) {
  const char *name = option_value(invocation, "template"), *folder = option_value(invocation, "template-dir");
  *out = (struct templates){.code = HALOTUNE_EXIT_SUCCESS};
  halotune_status status = name ? open_named(folder, name, out) : open_all(folder, out);
  if (status != HALOTUNE_OK) templates_free(out);
  return status;
}

void templates_free(struct templates *templates) {
  for (int i = 0; i < templates->count; i++) template_free(templates->list[i]);
  free(templates->list);
  *templates = (struct templates){.code = HALOTUNE_EXIT_SUCCESS};
}
