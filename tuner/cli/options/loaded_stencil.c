/* loaded_stencil.c: reads and analyses a stencil. */
#include "tuner/cli/options/loaded_stencil.h"

#include <stdlib.h>

#include "base/files/data_file.h"
#include "base/files/file.h"
#include "tuner/cli/options/found_files.h"
#include "tuner/cli/options/search_path.h"

static halotune_status load_stencil(const char *name, file_reader *of_named, struct loaded *out) {
  size_t length = 0;
  *out = (struct loaded){0};
  halotune_status status = search_find(&search_stencils, NULL, name, &out->path);
  if (status == HALOTUNE_OK) {
    file_reader *reader = found_file_is_kept(out->path) ? data_file_read : of_named;
    status = reader(out->path, MAX_STENCIL_BYTES, &out->text, &length);
  }
  if (status == HALOTUNE_OK) {
    const struct source source = source_of(out->path, out->text, length);
    status = stencil_parse(&source, &out->stencil);
  }
  if (status == HALOTUNE_OK && !search_is_path(name)) status = loaded_check_name(out);
  if (status == HALOTUNE_OK) status = analysis_make(out->stencil, &out->analysis);
  if (status != HALOTUNE_OK) loaded_free(out);
  return status;
}

halotune_status loaded_open(const char *name, struct loaded *out) { return load_stencil(name, file_read, out); }

halotune_status loaded_open_regular(const char *name, struct loaded *out) {
  return load_stencil(name, file_read_found, out);
}

halotune_status loaded_check_name(const struct loaded *loaded) {
  return search_check_name(&search_stencils, loaded->path, loaded->stencil->name);
}

void loaded_free(struct loaded *loaded) {
  analysis_free(loaded->analysis);
  stencil_free(loaded->stencil);
  free(loaded->text);
  free(loaded->path);
  *loaded = (struct loaded){0};
}
