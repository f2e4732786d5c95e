/* search_space.h: two templates with a few thousand variants, and made-up times of them, for tests of searches. */
#ifndef SEARCH_SEARCH_SPACE_H
#define SEARCH_SEARCH_SPACE_H

#include "base/numbers/random.h"
#include "stencil/template/template_read.h"
#include "tests/unit/template/templates.h"
#include "tuner/search/strategy/strategy.h"

enum { TEMPLATES = 2 };

struct space_case {
  struct template *templates[TEMPLATES];
  struct bindings bindings[TEMPLATES];
  struct search_space space;
  long size;
};

static inline bool count_one(void *context, const struct configuration *configuration) {
  (void)configuration;
  return ++*(long *)context > 0;
}

static inline void space_open(struct space_case *c) {
  static const char *const parameters[TEMPLATES] = {
      "bx: {values: [1, 2, 4, 8, 16, 32], default: 4, about: x}, by: {values: [1, 2, 4, 8, 16], default: 1, about: x}, "
      "bz: {values: [1, 2, 4, 8], default: 1, about: x}, px: {values: [1, 2, 4], default: 1, about: x}, "
      "py: {values: [1, 2, 4], default: 1, about: x}, mode: {values: [flat, edge, deep], default: flat, about: x}",
      "bx: {values: [1, 2, 4, 8, 16, 32], default: 4, about: x}, by: {values: [1, 2, 4, 8], default: 1, about: x}, "
      "load: {values: [plain, wide], default: plain, about: x}, unroll: {values: [1, 2, 3, 4, 5, 6], default: 1, "
      "about: x}"};
  static const char *const rules[TEMPLATES] = {
      "{keep: 'bx*by*bz <= 128', otherwise: x}, {keep: 'px*py <= 8', otherwise: x}",
      "{keep: 'bx*by >= 4', otherwise: x}"};
  double facts[FACT_COUNT];
  device_facts(facts);
  *c = (struct space_case){.size = 0};
  for (int i = 0; i < TEMPLATES; i++) {
    CHECK_OK(template_of_rules(parameters[i], rules[i], &c->templates[i]));
    CHECK_OK(bindings_make(c->templates[i], facts, &c->bindings[i]));
    space_walk(&c->bindings[i], NULL, NULL, count_one, &c->size, NULL);
  }
  c->space = (struct search_space){.templates = c->templates, .bindings = c->bindings, .count = TEMPLATES};
}

static inline void space_close(struct space_case *c) {
  for (int i = 0; i < TEMPLATES; i++) {
    bindings_free(&c->bindings[i]);
    template_free(c->templates[i]);
  }
}

static inline bool space_keeps(struct space_case *c, const struct proposal *proposal) {
  bindings_configure(&c->bindings[proposal->template_index], &proposal->configuration);
  return !bindings_failed_rule(&c->bindings[proposal->template_index]);
}

static inline double unit_random(uint64_t key, uint64_t index) {
  return (double)(random_bits(key, index) >> 11) * 0x1p-53;
}

/* The time of a variant: the product of the costs of each value. `ruggedness` adds costs of each pair of neighbouring
 * parameters, and a share that is random for each variant. In a rugged space one variant in 16 fails. */
static inline double made_up_ms(const struct space_case *c, const struct proposal *proposal, uint64_t key,
                                double ruggedness) {
  const struct template *template = c->templates[proposal->template_index];
  uint64_t own = random_bits(key, (uint64_t)proposal->template_index);
  double time_ms = 0.3 * (1 + 0.2 * proposal->template_index);
  for (int i = 0; i < template->parameter_count; i++) {
    int value = proposal->configuration.choice[i],
        next = i + 1 < template->parameter_count ? proposal->configuration.choice[i + 1] : 0;
    time_ms *= 1 + 0.5 * unit_random(key + (uint64_t)(100 * proposal->template_index + i), (uint64_t)value);
    time_ms *= 1 + ruggedness * unit_random(key + (uint64_t)(1000 + 100 * proposal->template_index + i),
                                            (uint64_t)(40 * value + next));
    own = random_bits(own, (uint64_t)value);
  }
  if (ruggedness > 0 && own % 16 == 0) return INFINITY;
  return time_ms * (1 + 0.1 * ruggedness * unit_random(own, 0));
}

#endif
