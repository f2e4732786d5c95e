/* starts_test.c: rules keep each start of our templates for a stencil that we ship. */
#include <dirent.h>

#include "gpu/architecture/arch.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"

static const struct {
  const char *stencil;
  struct grid grid;
} problems[] = {
    {"star7", {{512, 512, 512}}},  {"star7", {{128, 128, 128}}},    {"star7", {{64, 64, 64}}},
    {"box27", {{512, 512, 512}}},  {"star25", {{512, 512, 512}}},   {"heat2d", {{16384, 16384, 1}}},
    {"heat2d", {{1024, 1024, 1}}}, {"advect1d", {{1 << 26, 1, 1}}}, {"derivative_x", {{64, 64, 64}}},
    {"scan_x", {{512, 512, 512}}},
};

/* Whether rules keep a start with its number of time steps, or with another. */
static bool is_kept(struct bindings *bindings, const struct configuration *start) {
  const struct template *template = bindings->template;
  const int steps = template_parameter(template, "steps", strlen("steps"));
  const int choices = steps >= 0 ? template->parameters[steps].value_count : 1;
  bindings_configure(bindings, start);
  for (int choice = 0; choice < choices; choice++) {
    if (steps >= 0) bindings_choose(bindings, steps, choice);
    if (!bindings_failed_rule(bindings)) return true;
  }
  return false;
}

/* Mark the starts of a template that rules keep for a problem. */
static void mark_kept(const struct template *template, size_t problem, enum dtype dtype, bool kept[MAX_STARTS]) {
  enum { MOST_STEPS = 64 };
  struct device_limits limits = arch_device_limits(arch_find(9, 0));
  struct stencil *stencil;
  struct analysis *analysis;
  struct bindings bindings;
  double facts[FACT_COUNT];
  CHECK_OK(stencil_of_kernels(problems[problem].stencil, &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  struct domain domain = domain_dense(stencil, analysis, &problems[problem].grid);
  facts_fill(stencil, analysis, dtype, &domain, &limits, false, facts);
  facts_set_steps(stencil, 1, MOST_STEPS, facts);
  CHECK_OK(bindings_make(template, facts, &bindings));
  for (int i = 0; i < template->start_count; i++) kept[i] = kept[i] || is_kept(&bindings, &template->starts[i]);
  bindings_free(&bindings);
  analysis_free(analysis);
  stencil_free(stencil);
}

static int is_yaml(const struct dirent *entry) {
  const char *dot = strrchr(entry->d_name, '.');
  return dot && strcmp(dot, ".yaml") == 0;
}

TEST(rules_keep_each_start_of_our_templates) {
  struct dirent **entries = NULL;
  int count = scandir("templates", &entries, is_yaml, alphasort), starts = 0;
  for (int i = 0; i < count; i++) {
    char path[512];
    bool kept[MAX_STARTS] = {false};
    struct template *template;
    snprintf(path, sizeof path, "templates/%s", entries[i]->d_name);
    CHECK_OK(template_read(path, &template));
    for (size_t p = 0; p < 2 * COUNT(problems); p++) mark_kept(template, p / 2, p % 2 ? DTYPE_F64 : DTYPE_F32, kept);
    for (int s = 0; s < template->start_count; s++) CHECK(kept[s], "%s: start %d", path, s + 1);
    starts += template->start_count;
    template_free(template);
    free(entries[i]);
  }
  free(entries);
  CHECK(starts > 0, "no template has starts");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rules_keep_each_start_of_our_templates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
