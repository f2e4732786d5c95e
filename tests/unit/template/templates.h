/* templates.h: templates for tests, from texts, and configurations of templates. */
#ifndef TEMPLATE_TEMPLATES_H
#define TEMPLATE_TEMPLATES_H

#include <stdlib.h>
#include <unistd.h>

#include "stencil/generate/generate.h"
#include "stencil/template/facts.h"
#include "stencil/template/space.h"
#include "stencil/template/template_read.h"
#include "tests/unit/unit.h"

/* Read a template from texts, through temporary files. */
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

/* Facts that are all 0, except those of a device that accepts the tests' launches. */
static inline void device_facts(double facts[FACT_COUNT]) {
  for (int i = 0; i < FACT_COUNT; i++) facts[i] = 0;
  facts[FACT_capability] = 90;
  facts[FACT_max_threads] = 1024;
  facts[FACT_max_threads_sm] = 2048;
  facts[FACT_max_shared_bytes] = 232448;
  facts[FACT_warp_size] = 32;
  facts[FACT_max_cluster] = 8;
}

/* A template with these lines of `parameters` and `rules`, and the other fields that it needs. */
static inline halotune_status template_of_rules(const char *parameters, const char *rules, struct template **out) {
  char yaml[8192];
  snprintf(yaml, sizeof yaml,
           "name: test\nabout: for tests\nparameters: {%s}\nrules: [%s]\nblock: [1, 1, 1]\ngrid: [1, 1, 1]\n"
           "shared_bytes: 0\n",
           parameters, rules);
  return template_of_texts(yaml, "// nothing\n", out);
}

/* Change parameters as `set` says: "vector=4 block_x=64", where the last value of a name counts, or NULL. Authors may
 * change a template's defaults, so a test sets all parameters on which its results depend. */
static inline void configuration_change(const struct template *template, const char *set,
                                        struct configuration *configuration, bool fixed[MAX_PARAMETERS]) {
  char text[512];
  CHECK(snprintf(text, sizeof text, "%s", set ? set : "") < (int)sizeof text, "too long: %s", text);
  for (char *rest, *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    CHECK_OK(configuration_set(template, word, configuration));
    fixed[template_parameter(template, word, strcspn(word, "="))] = true;
  }
}

/* A template's default with these changes. */
static inline struct configuration configuration_of(const struct template *template, const char *set) {
  struct configuration configuration = configuration_default(template);
  bool fixed[MAX_PARAMETERS] = {false};
  configuration_change(template, set, &configuration, fixed);
  return configuration;
}

/* The nearest configuration to the default that the rules keep, with these values; the changed default if the rules
 * keep none. */
static inline struct configuration configuration_near(struct bindings *bindings, const char *set) {
  struct configuration configuration = configuration_default(bindings->template);
  bool fixed[MAX_PARAMETERS] = {false};
  configuration_change(bindings->template, set, &configuration, fixed);
  (void)space_nearest(bindings, fixed, &configuration);
  return configuration;
}

/* Like configuration_near, for a variant whose configuration is not set yet. */
static inline struct configuration configuration_for(const struct variant_spec *spec, const char *set) {
  double facts[FACT_COUNT];
  struct bindings bindings;
  facts_fill(spec->stencil, spec->analysis, spec->dtype, &spec->domain, &spec->limits, spec->reproducible, facts);
  if (spec->most_steps > 1) facts[FACT_most_steps] = spec->most_steps;
  CHECK_OK(bindings_make(spec->template, facts, &bindings));
  struct configuration configuration = configuration_near(&bindings, set);
  bindings_free(&bindings);
  return configuration;
}

#endif
