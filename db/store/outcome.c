/* outcome.c: the list of outcomes as text. */
#include "db/store/outcome.h"

#include <string.h>

#define AS_NAME(name, text, meaning) text,
#define AS_MEANING(name, text, meaning) meaning,
static const char *const names[OUTCOME_COUNT] = {OUTCOME_LIST(AS_NAME)};
static const char *const meanings[OUTCOME_COUNT] = {OUTCOME_LIST(AS_MEANING)};

const char *outcome_name(enum outcome outcome) { return names[outcome]; }

const char *outcome_meaning(enum outcome outcome) { return meanings[outcome]; }

bool outcome_find(const char *name, enum outcome *out) {
  for (int i = 0; i < OUTCOME_COUNT; i++) {
    if (strcmp(names[i], name) != 0) continue;
    *out = (enum outcome)i;
    return true;
  }
  return false;
}

bool outcome_has_time(enum outcome outcome) { return outcome == OUTCOME_MEASURED || outcome == OUTCOME_SCREENED; }

bool outcome_is_wrong(enum outcome outcome) { return outcome == OUTCOME_WRONG || outcome == OUTCOME_OUT_OF_BOUNDS; }
