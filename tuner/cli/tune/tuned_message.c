/* tuned_message.c: each list names the members of a row once, for both directions. */
#include "tuner/cli/tune/tuned_message.h"

#include <limits.h>
#include <stdio.h>

#include "base/text/utf8.h"

enum { MOST_ROWS = 64 };

#define FLAGS(X)        \
  X(reproducible)       \
  X(is_recorded)        \
  X(is_emulated)        \
  X(is_done)            \
  X(is_refused)         \
  X(is_optional)        \
  X(result.is_complete) \
  X(result.is_exhausted) X(result.winner.exists) X(result.winner.is_hinted) X(result.winner.is_current)
#define TEXTS(X)               \
  X(result.reason)             \
  X(result.remark)             \
  X(result.tally.first_reason) \
  X(result.winner.template_name) X(result.winner.parameters) X(result.winner.second_grid)
#define REALS(X)                     \
  X(result.setup_s)                  \
  X(result.search_s)                 \
  X(result.final_s)                  \
  X(result.winner.timing.median_ms)  \
  X(result.winner.timing.minimum_ms) \
  X(result.winner.timing.low_ms)     \
  X(result.winner.timing.high_ms)    \
  X(result.winner.default_ms)        \
  X(result.winner.roof_ms)           \
  X(result.winner.roof_ratio)        \
  X(result.winner.roof_ratio_low)    \
  X(result.winner.roof_ratio_high)   \
  X(result.winner.empty_ms)          \
  X(result.winner.energy_mj)         \
  X(result.winner.energy_low_mj) X(result.winner.energy_high_mj) X(result.winner.idle_w)
/* Member, type, and the greatest number that it may be. */
#define NUMBERS(X)                                               \
  X(task.launch_steps, int, LAUNCH_MOST_STEPS)                   \
  X(result.launch, enum launch_mode, LAUNCH_MODE_COUNT - 1)      \
  X(result.bytes, long long, LLONG_MAX)                          \
  X(result.winner.drawn_points, long long, LLONG_MAX)            \
  X(result.tally.tried, long, LONG_MAX)                          \
  X(result.tally.recalled, long, LONG_MAX)                       \
  X(result.tally.twins, long, LONG_MAX)                          \
  X(result.tally.hinted, long, LONG_MAX)                         \
  X(result.tally.first_failure, enum outcome, OUTCOME_COUNT - 1) \
  X(result.winner.timing.sample_count, int, INT_MAX)             \
  X(result.winner.finalists, int, INT_MAX)                       \
  X(result.winner.ties, int, INT_MAX)                            \
  X(result.winner.other_processes, int, INT_MAX)

halotune_status tuned_write(struct text *out, const struct tuned_list *rows) {
  if (rows->count > MOST_ROWS)
    return fail(HALOTUNE_ARGUMENT, "a task has %d numbers of steps, and its leader takes %d at most", rows->count,
                MOST_ROWS);
  pack_u64(out, (uint64_t)rows->count);
  for (int i = 0; i < rows->count; i++) {
    const struct tuned *row = &rows->rows[i];
#define AS_FLAG(member) pack_u64(out, row->member);
#define AS_TEXT(member) pack_text(out, row->member);
#define AS_REAL(member) pack_double(out, row->member);
#define AS_NUMBER(member, type, most) pack_u64(out, (uint64_t)row->member);
    FLAGS(AS_FLAG)
    TEXTS(AS_TEXT)
    REALS(AS_REAL)
    NUMBERS(AS_NUMBER)
#undef AS_FLAG
#undef AS_TEXT
#undef AS_REAL
#undef AS_NUMBER
    for (int k = 0; k < OUTCOME_COUNT; k++) pack_u64(out, (uint64_t)row->result.tally.outcomes[k]);
  }
  return text_ok(out) ? HALOTUNE_OK : fail_memory();
}

static uint64_t read_number(struct unpack *in, uint64_t most) {
  const uint64_t number = unpack_u64(in);
  if (number <= most) return number;
  in->failed = true;
  return 0;
}

static void row_read(struct unpack *in, struct tuned *row) {
#define AS_FLAG(member) row->member = read_number(in, 1) == 1;
#define AS_TEXT(member) printable_copy(row->member, sizeof row->member, unpack_text(in));
#define AS_REAL(member) row->member = unpack_double(in);
#define AS_NUMBER(member, type, most) row->member = (type)read_number(in, (uint64_t)(most));
  FLAGS(AS_FLAG)
  TEXTS(AS_TEXT)
  REALS(AS_REAL)
  NUMBERS(AS_NUMBER)
#undef AS_FLAG
#undef AS_TEXT
#undef AS_REAL
#undef AS_NUMBER
  for (int k = 0; k < OUTCOME_COUNT; k++) row->result.tally.outcomes[k] = (long)read_number(in, LONG_MAX);
}

bool tuned_read(struct unpack *in, const struct planned_task *planned, struct tuned_list *rows) {
  const uint64_t count = read_number(in, MOST_ROWS);
  for (uint64_t i = 0; i < count && !in->failed; i++) {
    struct tuned *row = tuned_add(rows, planned);
    if (!row) return false;
    row_read(in, row);
  }
  return !in->failed && in->left == 0;
}
