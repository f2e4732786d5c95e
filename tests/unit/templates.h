/* templates.h: templates for tests, from texts, and configurations of templates. */
#ifndef TESTS_UNIT_TEMPLATES_H
#define TESTS_UNIT_TEMPLATES_H

#include <stdlib.h>
#include <unistd.h>

#include "stencil/template.h"
#include "tests/unit/unit.h"

/* Read a template from texts, by way of files that are gone afterwards. */
static inline halotune_status template_of_texts(const char *yaml, const char *cuda, struct template **out) {
  char folder[] = "/tmp/halotune-template-XXXXXX", path[64];
  const char *const names[] = {"test.yaml", "test.cu"}, *const texts[] = {yaml, cuda};
  CHECK(mkdtemp(folder), "mkdtemp");
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    FILE *file = texts[i] ? fopen(path, "w") : NULL;
    if (!file) continue;
    fputs(texts[i], file);
    fclose(file);
  }
  snprintf(path, sizeof path, "%s/%s", folder, names[0]);
  halotune_status status = template_read(path, out);
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
  return status;
}

/* A template with these lines of `parameters` and `rules`, and what else has to be there. */
static inline halotune_status template_of_rules(const char *parameters, const char *rules, struct template **out) {
  char yaml[8192];
  snprintf(yaml, sizeof yaml,
           "name: test\nabout: for tests\nparameters: {%s}\nrules: [%s]\nblock: [1, 1, 1]\ngrid: [1, 1, 1]\n"
           "shared_bytes: 0\n",
           parameters, rules);
  return template_of_texts(yaml, "// nothing\n", out);
}

/* A template's default, changed as `set` says: "vector=4 block_x=64", of which the last of a name counts; or NULL. Authors may
 * change defaults: a test names what its expectations depend on. */
static inline struct configuration configuration_of(const struct template *template, const char *set) {
  struct configuration configuration = configuration_default(template);
  char text[512];
  CHECK(snprintf(text, sizeof text, "%s", set ? set : "") < (int)sizeof text, "too long: %s", text);
  for (char *rest, *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    CHECK_OK(configuration_set(template, word, &configuration));
  }
  return configuration;
}

#endif
