/* installed.h: the templates that lookups compare stored ones with: those of $HALOTUNE_TEMPLATE_PATH, then those of the
 * installation. */
#ifndef LIBRARY_LOOKUP_INSTALLED_H
#define LIBRARY_LOOKUP_INSTALLED_H

#include <stdbool.h>

#include "base/files/data_folders.h"
#include "stencil/template/template.h"

/* Both files of a template. NULL, NULL if they cannot be read. */
struct template_texts {
  char *yaml, *cuda;
};
void template_texts_free(struct template_texts *texts);

/* A folder of templates. The user has named the folders of $HALOTUNE_TEMPLATE_PATH. In other folders, a file is ignored
 * if other users can write to it. */
struct template_folder {
  const char *path;
  int length; /* length of `path` in bytes */
  bool is_named;
};

/* Read FOLDER/NAME.yaml and FOLDER/NAME.cu.
 *   out  receives the texts, for the caller to end with template_texts_free
 * Returns HALOTUNE_OK, also without such files; or HALOTUNE_MEMORY. */
halotune_status template_texts_read(const struct template_folder *folder, const char *name, struct template_texts *out);

/* Call `use` for each folder of templates, in the order in which they are searched, until it sets *is_over or fails.
 *   installed  data_folders_find
 * Returns HALOTUNE_OK, or what `use` returned. */
halotune_status installed_each_folder(const struct data_folders *installed,
                                      halotune_status (*use)(void *context, const struct template_folder *folder,
                                                             bool *is_over),
                                      void *context);

/* Read the files of this template in the first folder that has both. Results and errors are those of
 * template_texts_read. */
halotune_status installed_texts(const struct data_folders *installed, const char *name, struct template_texts *out);

/* Parse the installed template of this name.
 *   out  receives the template, for the caller to end with template_free; NULL if there is none, and on failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE if its files have an error; HALOTUNE_MEMORY. */
halotune_status installed_template(const char *name, struct template **out);

#endif
