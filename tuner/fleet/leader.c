/* leader.c: what each member has, who gets the next variant, and what comes back. */
#include "tuner/fleet/leader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "tuner/measure/sampling/statistics.h"

enum {
  SEND_MS = 10000, /* a member that does not read for so long is gone */
  LAST_WORD_MS = 1000,
  LOOK_EVERY_MS = 50, /* after members that hang */
  WORDS_BYTES = 256
};

enum member_state {
  MEMBER_UNKNOWN,   /* has not said who it is */
  MEMBER_IDLE,      /* welcome; has no task, or could not set it up */
  MEMBER_PREPARING, /* sets its device up */
  MEMBER_READY,     /* and has done so; the search has not begun */
  MEMBER_SEARCHING,
  MEMBER_SETTLING, /* was told that the search is over */
  MEMBER_SETTLED,
  MEMBER_IN_FINALS,
  MEMBER_ALONE, /* runs a task alone */
  MEMBER_GONE,
};

struct member {
  enum member_state state;
  struct fleet_hello hello;
  int away;          /* variants that it has */
  double heard_ms;   /* when it said something, or got its first variant */
  double anchor_ms;  /* of its anchor at first; NaN while unknown */
  double scale;      /* of its newest result */
  long results;      /* of this task */
  double *times_ms;  /* of the finalists; NULL: it did not run them */
  bool is_left_out;  /* its GPU is out of line */
  bool is_uncounted; /* takes no part in this task: refused, gone before, or alone with another one */
  bool is_late;      /* came when the search had begun: the finals do not wait for its set-up */
  int alone_task;    /* while it is MEMBER_ALONE */
  bool is_told_stop; /* then: it shall end that task soon */
  bool cannot_alone; /* it has declined such a task */
  char why[WORDS_BYTES];
};

/* What a ticket stands for. */
struct given {
  struct proposal proposal;
  const struct template *template;
  struct trial *trial; /* NULL: it was taken back */
  int rank;
};

struct back {
  struct trial *trial;
  bool is_lost;
};

struct leader {
  struct leader_options options;
  struct member *members; /* by rank; [0] is not used */
  int size, next;         /* next: who is asked first for room */
  long task;
  struct crew_start start;
  bool is_started, is_awaiting; /* the search has begun; nothing is left to do but to wait for set-ups */
  double own_anchor_ms;
  double own_scale;             /* how slow the device is now, against when the search began */
  char device_why[WORDS_BYTES]; /* why the device runs no more variants; "" if it does */
  struct given *given;          /* by ticket, from 1 */
  long given_count, given_capacity;
  int away;
  struct back *back; /* a queue: results and lost variants that were not taken yet */
  long back_first, back_count, back_capacity;
  struct crew_settled *settled;
  long settled_count, settled_capacity;
  int finalists, winner;
  double winner_own_ms, spread;
  long lost;
  double looked_ms, listened_ms;    /* when it looked for hangs last, and listened last */
  struct text message;              /* that was received last */
  struct text task_message;         /* of the task in hand */
  bool is_open;                     /* members may still come to the task in hand */
  const struct leader_alone *alone; /* NULL: nobody runs a task alone */
};

static double now_ms(const struct leader *leader) { return time_now_ms(&leader->options.time); }

static bool is_stopped(const struct leader *leader) { return leader->options.stop && *leader->options.stop; }

static const struct fleet_link *link_of(const struct leader *leader) { return leader->options.link; }

static halotune_status send_text(struct leader *leader, int rank, struct text *message) {
  const struct fleet_link *link = link_of(leader);
  halotune_status status = text_ok(message) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) status = link->table->send(link->state, rank, message->bytes, message->length, SEND_MS);
  text_free(message);
  return status;
}

/* Send a message that is only a head. */
static halotune_status send_word(struct leader *leader, int rank, enum fleet_kind kind) {
  struct text message = {0};
  fleet_head_write(&message, kind, leader->task);
  return send_text(leader, rank, &message);
}

static halotune_status put_back(struct leader *leader, struct trial *trial, bool is_lost) {
  if (!array_room(leader->back, leader->back_count, leader->back_capacity)) {
    trial_free(trial);
    return fail_memory();
  }
  leader->back[leader->back_count++] = (struct back){trial, is_lost};
  return HALOTUNE_OK;
}

/* A member has nothing any more: what it had comes back. */
static halotune_status take_from(struct leader *leader, int rank) {
  struct member *member = &leader->members[rank];
  halotune_status status = HALOTUNE_OK;
  for (long t = leader->given_count; member->away > 0 && t > 0; t--) {
    struct given *given = &leader->given[t - 1];
    if (!given->trial || given->rank != rank) continue;
    struct trial *trial = given->trial;
    given->trial = NULL;
    member->away--;
    leader->away--;
    leader->lost++;
    const halotune_status added = put_back(leader, trial, true);
    if (status == HALOTUNE_OK) status = added;
  }
  return status;
}

/* A member takes no part any more. The first reason stays. */
__attribute__((format(printf, 3, 4))) static halotune_status lose(struct leader *leader, int rank, const char *format,
                                                                  ...) {
  struct member *member = &leader->members[rank];
  char why[WORDS_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  if (!member->why[0]) printable_copy(member->why, sizeof member->why, why); /* they may be a member's words */
  if (member->state == MEMBER_ALONE && leader->alone)
    leader->alone->done(leader->alone->context, member->alone_task, &member->hello, NULL, member->why);
  member->state = MEMBER_GONE;
  return take_from(leader, rank);
}

/* The same, of one that is still there. It is told, because where the link ends no process, it has to end itself. */
static halotune_status dismiss(struct leader *leader, int rank, const char *why) {
  const struct fleet_link *link = link_of(leader);
  struct text message = {0};
  fleet_head_write(&message, FLEET_REFUSED, leader->task);
  pack_text(&message, why);
  if (text_ok(&message)) link->table->send(link->state, rank, message.bytes, message.length, LAST_WORD_MS);
  text_free(&message);
  if (link->table->drop) link->table->drop(link->state, rank);
  return lose(leader, rank, "%s", why);
}

static halotune_status talks_nonsense(struct leader *leader, int rank) {
  return dismiss(leader, rank, "it answered what no member answers");
}

/* Whether another member, or the leader, has this GPU. Emulations and recordings have none. */
static int who_has(const struct leader *leader, int rank) {
  const struct fleet_hello *hello = &leader->members[rank].hello;
  if (leader->options.may_share || hello->is_emulation || hello->is_recording) return -1;
  if (strcmp(leader->options.own.uuid, hello->uuid) == 0) return 0;
  for (int other = 1; other < leader->size; other++) {
    const struct member *member = &leader->members[other];
    const bool takes_part = member->state != MEMBER_UNKNOWN && member->state != MEMBER_GONE;
    if (other != rank && takes_part && strcmp(member->hello.uuid, hello->uuid) == 0) return other;
  }
  return -1;
}

static halotune_status refuse(struct leader *leader, int rank, const char *why) {
  struct text message = {0};
  leader->members[rank].is_uncounted = true;
  fleet_head_write(&message, FLEET_REFUSED, leader->task);
  pack_text(&message, why);
  halotune_status status = send_text(leader, rank, &message);
  const halotune_status lost = lose(leader, rank, "%s", why);
  return status == HALOTUNE_OK ? lost : status;
}

static halotune_status take_hello(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  struct text why = {0};
  if (member->state != MEMBER_UNKNOWN) return talks_nonsense(leader, rank);
  if (!fleet_hello_read(in, &member->hello)) {
    if (member->hello.version[0])
      text_printf(&why, "it has Halotune %s, and the leader %s", member->hello.version, leader->options.own.version);
    else text_printf(&why, "it is no Halotune of this version");
  } else {
    struct text unlike = {0};
    if (!fleet_is_like(&leader->options.own, &member->hello, &unlike)) text_printf(&why, "it %s", text_string(&unlike));
    text_free(&unlike);
    const int owner = who_has(leader, rank);
    if (owner >= 0 && why.length == 0)
      text_printf(&why, "it has the same GPU as rank %d, %s", owner, member->hello.uuid);
  }
  member->state = MEMBER_IDLE;
  member->heard_ms = now_ms(leader);
  halotune_status status =
      why.length > 0 ? refuse(leader, rank, text_string(&why)) : send_word(leader, rank, FLEET_WELCOME);
  text_free(&why);
  return status;
}

/* Give a member the task in hand. */
static halotune_status send_task(struct leader *leader, int rank) {
  struct member *member = &leader->members[rank];
  struct text copy = {0};
  text_add(&copy, leader->task_message.bytes, leader->task_message.length);
  member->state = MEMBER_PREPARING;
  member->heard_ms = now_ms(leader);
  member->anchor_ms = NAN;
  member->scale = 1;
  member->results = 0;
  member->is_left_out = member->is_uncounted = false;
  member->is_late = leader->is_started;
  member->why[0] = '\0';
  return send_text(leader, rank, &copy);
}

/* Give a member that has nothing to do a task of its own, else the task in hand. */
static halotune_status employ(struct leader *leader, int rank) {
  struct member *member = &leader->members[rank];
  struct text message = {0}, what = {0};
  halotune_status status = HALOTUNE_OK;
  if (member->state != MEMBER_IDLE || is_stopped(leader)) return HALOTUNE_OK;
  const int task = leader->alone && !member->cannot_alone
                       ? leader->alone->choose(leader->alone->context, &member->hello, &what)
                       : -1;
  if (task >= 0) {
    fleet_head_write(&message, FLEET_ALONE, leader->task);
    pack_text(&message, text_string(&what));
    member->state = MEMBER_ALONE;
    member->heard_ms = now_ms(leader);
    member->alone_task = task;
    member->is_told_stop = false;
    status = send_text(leader, rank, &message);
  } else if (leader->is_open && member->is_uncounted) {
    status = send_task(leader, rank);
  }
  text_free(&what);
  return status;
}

/* A member is done with its own task, or cannot do it. */
static halotune_status take_done(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  if (member->state != MEMBER_ALONE) return talks_nonsense(leader, rank);
  const struct leader_alone *alone = leader->alone;
  const bool can_do = unpack_u64(in) == 1, was_stopped = unpack_u64(in) == 1; /* by a signal for itself */
  char why[WORDS_BYTES];
  printable_copy(why, sizeof why, unpack_text(in));
  if (in->failed) return talks_nonsense(leader, rank);
  if (can_do && was_stopped && !is_stopped(leader)) return lose(leader, rank, "it was told to stop");
  if (!alone->done(alone->context, member->alone_task, &member->hello, can_do ? in : NULL, why))
    return talks_nonsense(leader, rank);
  member->state = MEMBER_IDLE;
  member->cannot_alone = !can_do;
  return employ(leader, rank);
}

static halotune_status send_start(struct leader *leader, int rank) {
  struct text message = {0};
  fleet_head_write(&message, FLEET_START, leader->task);
  fleet_start_write(&message, &leader->start);
  leader->members[rank].state = MEMBER_SEARCHING;
  return send_text(leader, rank, &message);
}

static halotune_status take_ready(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  const bool is_ready = unpack_u64(in) == 1;
  const char *why = unpack_text(in);
  if (in->failed || member->state != MEMBER_PREPARING) return talks_nonsense(leader, rank);
  member->state = is_ready ? MEMBER_READY : MEMBER_IDLE;
  if (!is_ready) printable_copy(member->why, sizeof member->why, why);
  return is_ready && leader->is_started ? send_start(leader, rank) : HALOTUNE_OK;
}

/* A member's time over the device's of the same variant; NaN while one of them is unknown. */
static double factor_of(const struct leader *leader, const struct member *member) {
  const struct fleet_hello *hello = &member->hello;
  if (hello->is_emulation) return NAN; /* its times say nothing */
  return member->anchor_ms / leader->own_anchor_ms;
}

/* How slow a member's GPU is now, against the device when the search began. */
static double slowness(const struct leader *leader, const struct member *member) {
  return factor_of(leader, member) * member->scale;
}

/* The median of how slow the GPUs of the team are, with the device.
 *   out  NaN where no member tells */
static halotune_status find_median(const struct leader *leader, double *out) {
  int count = 0;
  double *all = calloc((size_t)leader->size + 1, sizeof *all);
  if (!all) return fail_memory();
  all[count++] = leader->own_scale;
  for (int r = 1; r < leader->size; r++) {
    const struct member *other = &leader->members[r];
    if (other->state == MEMBER_GONE || other->is_uncounted || other->is_left_out || isnan(slowness(leader, other)))
      continue;
    all[count++] = slowness(leader, other);
  }
  *out = count > 2 ? median_of(all, count) : count == 2 ? fmin(all[0], all[1]) : NAN;
  free(all);
  return HALOTUNE_OK;
}

static void words_of_slow(double ratio, char out[WORDS_BYTES]) {
  snprintf(out, WORDS_BYTES, "it is %.1f %% slower than the team's median", (ratio - 1) * 100);
}

/* Leave the device out of the search where the others are faster. */
static void judge_device(struct leader *leader, double median) {
  if (leader->device_why[0] || !(leader->own_scale > FLEET_SLOW_RATIO * median)) return;
  words_of_slow(leader->own_scale / median, leader->device_why);
}

/* Leave out a member whose GPU is out of line, or the device itself. */
static halotune_status judge_speed(struct leader *leader, int rank) {
  struct member *member = &leader->members[rank];
  const double own = slowness(leader, member);
  double median;
  if (isnan(own) || member->is_left_out) return HALOTUNE_OK;
  const halotune_status status = find_median(leader, &median);
  if (status != HALOTUNE_OK) return status;
  judge_device(leader, median);
  if (!(own > FLEET_SLOW_RATIO * median)) return HALOTUNE_OK;
  member->is_left_out = true;
  words_of_slow(own / median, member->why);
  return take_from(leader, rank);
}

static halotune_status take_anchored(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  const double anchor_ms = unpack_double(in);
  if (in->failed || !(isnan(anchor_ms) || fleet_is_time(anchor_ms)))
    return talks_nonsense(leader, rank); /* NaN: it has none */
  member->anchor_ms = anchor_ms;
  return judge_speed(leader, rank);
}

/* Give a trial a member's result, in the device's time. */
static halotune_status fill_trial(struct leader *leader, const struct member *member, const struct fleet_result *from,
                                  struct trial *trial) {
  const double factor = factor_of(leader, member), divisor = factor > 0 ? factor : 1;
  struct measurement *result = &trial->result;
  struct timing *timing = &result->timing;
  *result = from->result;
  snprintf(trial->reason, sizeof trial->reason, "%s", from->result.reason);
  result->reason = trial->reason;
  snprintf(result->gpu, sizeof result->gpu, "%s", member->hello.uuid);
  trial->is_over = true;
  trial->away_scale = from->scale;
  trial->has_code = from->has_code;
  trial->code = from->code;
  trial->generated.hash = from->source;
  double *const times_ms[] = {&timing->median_ms, &timing->minimum_ms, &timing->low_ms, &timing->high_ms};
  for (size_t i = 0; i < sizeof times_ms / sizeof *times_ms; i++) *times_ms[i] /= divisor;
  free(trial->samples);
  trial->samples = NULL;
  const void *samples = timing->samples; /* anywhere in the message */
  timing->samples = NULL;
  if (!samples) return HALOTUNE_OK;
  const size_t bytes = (size_t)timing->sample_count * sizeof *trial->samples;
  trial->samples = malloc(bytes);
  if (!trial->samples) return fail_memory();
  memcpy(trial->samples, samples, bytes);
  for (int i = 0; i < timing->sample_count; i++) trial->samples[i] = (float)((double)trial->samples[i] / divisor);
  timing->samples = trial->samples;
  return HALOTUNE_OK;
}

static halotune_status take_result(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  struct fleet_result result;
  const bool has_task = member->state >= MEMBER_SEARCHING && member->state <= MEMBER_SETTLED;
  if (!has_task || !fleet_result_read(in, &result) || result.ticket > leader->given_count)
    return talks_nonsense(leader, rank);
  struct given *given = &leader->given[result.ticket - 1];
  if (given->rank != rank) return member->is_left_out ? HALOTUNE_OK : talks_nonsense(leader, rank);
  if (member->state != MEMBER_SEARCHING) return HALOTUNE_OK; /* on its way when the search ended */
  if (member->is_left_out) return HALOTUNE_OK;
  struct trial *trial = given->trial;
  halotune_status status = HALOTUNE_OK;
  if (trial) {
    given->trial = NULL;
    member->away--;
    leader->away--;
    member->results++;
  } else {
    status = trial_begin_away(given->template, &given->proposal, &trial);
  }
  if (status == HALOTUNE_OK) status = fill_trial(leader, member, &result, trial);
  if (status != HALOTUNE_OK) {
    trial_free(trial);
    return status;
  }
  member->scale = result.scale;
  status = put_back(leader, trial, false);
  return status == HALOTUNE_OK ? judge_speed(leader, rank) : status;
}

static halotune_status take_settled(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  if (member->state != MEMBER_SETTLING) return talks_nonsense(leader, rank);
  const uint64_t count = unpack_u64(in);
  for (uint64_t i = 0; i < count && !in->failed; i++) {
    struct crew_settled one = {.ticket = (long)unpack_u64(in)};
    one.scale = unpack_double(in);
    one.is_marked = unpack_u64(in) != 0;
    const bool is_own =
        one.ticket > 0 && one.ticket <= leader->given_count && leader->given[one.ticket - 1].rank == rank;
    if (in->failed || !is_own || !fleet_is_time(one.scale)) return talks_nonsense(leader, rank);
    if (member->is_left_out) continue;
    if (!array_room(leader->settled, leader->settled_count, leader->settled_capacity)) return fail_memory();
    leader->settled[leader->settled_count++] = one;
  }
  if (in->failed) return talks_nonsense(leader, rank);
  member->state = MEMBER_SETTLED;
  return HALOTUNE_OK;
}

static halotune_status take_times(struct leader *leader, int rank, struct unpack *in) {
  struct member *member = &leader->members[rank];
  if (member->state != MEMBER_IN_FINALS || unpack_u64(in) != (uint64_t)leader->finalists)
    return talks_nonsense(leader, rank);
  double *times_ms = calloc((size_t)leader->finalists + 1, sizeof *times_ms);
  if (!times_ms) return fail_memory();
  for (int i = 0; i < leader->finalists; i++) {
    times_ms[i] = unpack_double(in);
    if (!fleet_is_time(times_ms[i])) times_ms[i] = NAN;
  }
  free(member->times_ms);
  member->times_ms = times_ms;
  member->state = MEMBER_SETTLED;
  return in->failed ? talks_nonsense(leader, rank) : HALOTUNE_OK;
}

static halotune_status take_message(struct leader *leader, int rank) {
  struct member *member = &leader->members[rank];
  struct unpack in = {.at = leader->message.bytes, .left = leader->message.length};
  struct fleet_head head;
  if (!fleet_head_read(&in, &head)) return talks_nonsense(leader, rank);
  member->heard_ms = now_ms(leader);
  if (head.kind == FLEET_HELLO) return take_hello(leader, rank, &in);
  if (head.kind == FLEET_LEAVING) return lose(leader, rank, "%s", unpack_text(&in));
  if (head.kind == FLEET_DONE) return take_done(leader, rank, &in);
  if (head.kind == FLEET_ALIVE || head.task != leader->task) return HALOTUNE_OK; /* or of an earlier task */
  switch ((int)head.kind) {
  case FLEET_READY: return take_ready(leader, rank, &in);
  case FLEET_ANCHORED: return take_anchored(leader, rank, &in);
  case FLEET_RESULT: return take_result(leader, rank, &in);
  case FLEET_SETTLED: return take_settled(leader, rank, &in);
  case FLEET_TIMES: return take_times(leader, rank, &in);
  default: return talks_nonsense(leader, rank);
  }
}

/* Whether a member owes an answer. */
static bool owes(const struct leader *leader, const struct member *member) {
  return (member->state == MEMBER_PREPARING && leader->is_awaiting && !member->is_late) ||
         (member->state == MEMBER_SEARCHING && member->away > 0) || member->state == MEMBER_SETTLING ||
         member->state == MEMBER_IN_FINALS || member->state == MEMBER_ALONE;
}

/* Drop members that owe an answer and have been silent for too long. */
static halotune_status look_for_hangs(struct leader *leader) {
  const double at_ms = now_ms(leader);
  halotune_status status = HALOTUNE_OK;
  if (at_ms - leader->looked_ms < LOOK_EVERY_MS) return HALOTUNE_OK;
  leader->looked_ms = at_ms;
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    const struct member *member = &leader->members[rank];
    char why[WORDS_BYTES];
    if (!owes(leader, member) || at_ms - member->heard_ms < leader->options.patience_ms) continue;
    snprintf(why, sizeof why, "it said nothing for %.0f s", (at_ms - member->heard_ms) * 1e-3);
    status = dismiss(leader, rank, why);
  }
  return status;
}

/* A leader that was stopped or busy for long has not listened, and its members may have been stopped with it. Of such
 * a time nothing counts as their silence. Shorter ones count, else a busy leader would never drop a member. */
static void forgive_gap(struct leader *leader) {
  const double at_ms = now_ms(leader), gap_ms = at_ms - leader->listened_ms;
  if (gap_ms < 0.5 * leader->options.patience_ms) return;
  for (int rank = 1; rank < leader->size; rank++) {
    struct member *member = &leader->members[rank];
    member->heard_ms = fmin(member->heard_ms + gap_ms, at_ms);
  }
}

/* Take one message. Only where none waits is a member's silence known.
 *   had  receives whether there was one */
static halotune_status listen(struct leader *leader, int timeout_ms, bool *had) {
  const struct fleet_link *link = link_of(leader);
  int rank;
  bool is_gone;
  *had = false;
  forgive_gap(leader);
  halotune_status status = link->table->receive(link->state, timeout_ms, &rank, &is_gone, &leader->message);
  leader->listened_ms = now_ms(leader);
  if (status != HALOTUNE_OK) return status;
  if (rank > 0 && rank < leader->size) {
    *had = true;
    const bool takes_part = leader->members[rank].state != MEMBER_GONE;
    if (is_gone && takes_part) status = lose(leader, rank, "its process has ended");
    else if (takes_part) status = take_message(leader, rank);
  }
  return status == HALOTUNE_OK && !*had ? look_for_hangs(leader) : status;
}

static halotune_status crew_begin(void *state, const struct crew_task *task) {
  struct leader *leader = state;
  halotune_status status = HALOTUNE_OK;
  if (task->template_count > FLEET_MOST_TEMPLATES)
    return fail(HALOTUNE_ARGUMENT, "a team takes at most %d templates, not %d: name fewer with --template",
                FLEET_MOST_TEMPLATES, task->template_count);
  leader->task++;
  leader->is_started = false;
  leader->device_why[0] = '\0';
  leader->own_scale = 1;
  leader->own_anchor_ms = leader->spread = NAN;
  leader->lost = leader->settled_count = leader->given_count = 0;
  leader->winner = -1;
  leader->task_message.length = 0;
  fleet_head_write(&leader->task_message, FLEET_TASK, leader->task);
  fleet_task_write(&leader->task_message, task);
  if (!text_ok(&leader->task_message)) return fail_memory();
  leader->is_open = true;
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    leader->members[rank].is_uncounted = true;
    if (leader->members[rank].state == MEMBER_IDLE) status = send_task(leader, rank);
  }
  return status;
}

static halotune_status crew_start(void *state, const struct crew_start *start) {
  struct leader *leader = state;
  halotune_status status = HALOTUNE_OK;
  leader->start = *start;
  leader->is_started = true;
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    if (leader->members[rank].state == MEMBER_READY) status = send_start(leader, rank);
  }
  return status;
}

static void crew_anchored(void *state, double anchor_ms) { ((struct leader *)state)->own_anchor_ms = anchor_ms; }

static halotune_status crew_device_scaled(void *state, double scale) {
  struct leader *leader = state;
  double median;
  leader->own_scale = scale;
  const halotune_status status = find_median(leader, &median);
  if (status == HALOTUNE_OK) judge_device(leader, median);
  return status;
}

static int room_of(const struct member *member) {
  const bool takes_part = member->state == MEMBER_SEARCHING && !member->is_left_out;
  return takes_part && member->away < member->hello.room ? member->hello.room - member->away : 0;
}

static int crew_room(void *state) {
  const struct leader *leader = state;
  int room = 0;
  for (int rank = 1; rank < leader->size; rank++) room += room_of(&leader->members[rank]);
  return room;
}

static int crew_away(void *state) {
  const struct leader *leader = state;
  return leader->away + (int)(leader->back_count - leader->back_first);
}

static int crew_device_most(void *state) {
  const struct leader *leader = state;
  return leader->device_why[0] ? 0 : leader->options.own.room;
}

/* The member with the most room for variants; 0 if none has room. Members with equal room take turns. */
static int choose_member(struct leader *leader) {
  int best = 0, most = 0;
  for (int i = 0; i < leader->size; i++) {
    const int rank = (leader->next + i) % leader->size;
    const int room = rank > 0 ? room_of(&leader->members[rank]) : 0;
    if (room <= most) continue;
    best = rank;
    most = room;
  }
  leader->next = best + 1;
  return best;
}

static halotune_status crew_put(void *state, struct trial *trial, double best_ms) {
  struct leader *leader = state;
  struct text message = {0};
  const int rank = choose_member(leader);
  if (rank == 0 || !array_room(leader->given, leader->given_count, leader->given_capacity)) {
    trial_free(trial);
    return rank == 0 ? fail(HALOTUNE_ARGUMENT, "no member wants a variant") : fail_memory();
  }
  struct member *member = &leader->members[rank];
  trial->proposal.ticket = leader->given_count + 1;
  leader->given[leader->given_count++] = (struct given){trial->proposal, trial->template, trial, rank};
  if (member->away++ == 0) member->heard_ms = now_ms(leader);
  leader->away++;
  fleet_head_write(&message, FLEET_VARIANT, leader->task);
  fleet_proposal_write(&message, &trial->proposal);
  pack_double(&message, best_ms);
  return send_text(leader, rank, &message);
}

static halotune_status crew_take(void *state, int timeout_ms, struct trial **out, bool *is_lost) {
  struct leader *leader = state;
  const double until_ms = now_ms(leader) + timeout_ms;
  halotune_status status = HALOTUNE_OK;
  bool had = true;
  *out = NULL;
  *is_lost = false;
  while (status == HALOTUNE_OK && leader->back_first == leader->back_count) {
    const double left_ms = until_ms - now_ms(leader);
    if (!had && left_ms <= 0) return HALOTUNE_OK;
    status = listen(leader, left_ms > 0 ? (int)ceil(left_ms) : 0, &had);
  }
  if (status != HALOTUNE_OK) return status;
  const struct back *back = &leader->back[leader->back_first++];
  *out = back->trial;
  *is_lost = back->is_lost;
  if (leader->back_first == leader->back_count) leader->back_first = leader->back_count = 0;
  return HALOTUNE_OK;
}

/* Forget what is away, and what came back and was not taken. */
static void forget_away(struct leader *leader) {
  for (long i = 0; i < leader->given_count; i++) {
    trial_free(leader->given[i].trial);
    leader->given[i].trial = NULL;
  }
  for (long i = leader->back_first; i < leader->back_count; i++) trial_free(leader->back[i].trial);
  leader->back_first = leader->back_count = 0;
  leader->away = 0;
  for (int rank = 1; rank < leader->size; rank++) leader->members[rank].away = 0;
}

static halotune_status crew_stop(void *state) {
  struct leader *leader = state;
  halotune_status status = HALOTUNE_OK;
  leader->is_open = false;
  forget_away(leader);
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    struct member *member = &leader->members[rank];
    if (member->state != MEMBER_SEARCHING) continue;
    member->state = MEMBER_SETTLING;
    member->heard_ms = now_ms(leader);
    status = send_word(leader, rank, FLEET_STOP);
  }
  return status;
}

static bool anyone_is(const struct leader *leader, enum member_state state) {
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    if (member->state == state && !(state == MEMBER_PREPARING && member->is_late)) return true;
  }
  return false;
}

/* Wait until no member is in a state. A member that is silent for too long is left out. */
static halotune_status await_nobody(struct leader *leader, enum member_state state) {
  halotune_status status = HALOTUNE_OK;
  bool had;
  while (status == HALOTUNE_OK && anyone_is(leader, state) && !is_stopped(leader))
    status = listen(leader, LOOK_EVERY_MS, &had);
  return status;
}

/* Members that were still setting up when the search ended take part in the finals, but for those that came late. */
static halotune_status crew_settle(void *state, const struct crew_settled **list, long *count) {
  struct leader *leader = state;
  leader->is_open = false;
  leader->is_awaiting = true;
  halotune_status status = await_nobody(leader, MEMBER_PREPARING);
  leader->is_awaiting = false;
  if (status == HALOTUNE_OK) status = crew_stop(leader);
  if (status == HALOTUNE_OK) status = await_nobody(leader, MEMBER_SETTLING);
  *list = leader->settled;
  *count = leader->settled_count;
  return status;
}

static halotune_status crew_finals_begin(void *state, const struct proposal *proposals, int count, uint64_t seed) {
  struct leader *leader = state;
  struct text message = {0};
  halotune_status status = HALOTUNE_OK;
  leader->finalists = count;
  fleet_head_write(&message, FLEET_FINALS, leader->task);
  pack_u64(&message, seed);
  pack_u64(&message, (uint64_t)count);
  for (int i = 0; i < count; i++) fleet_proposal_write(&message, &proposals[i]);
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    struct member *member = &leader->members[rank];
    if (member->state != MEMBER_SETTLED || member->is_left_out) continue;
    struct text copy = {0};
    text_add(&copy, message.bytes, message.length);
    free(member->times_ms);
    member->times_ms = NULL;
    member->state = MEMBER_IN_FINALS;
    member->heard_ms = now_ms(leader);
    status = send_text(leader, rank, &copy);
  }
  text_free(&message);
  return status;
}

static bool has_times(const struct member *member) { return member->times_ms && !member->is_left_out; }

/* Whether the device's times of the finalists count: not where it was left out, unless they are the only ones. */
static bool device_counts(const struct leader *leader) {
  bool is_alone = true;
  for (int rank = 1; rank < leader->size; rank++) is_alone = is_alone && !has_times(&leader->members[rank]);
  return is_alone || !leader->device_why[0];
}

static halotune_status crew_finals_take(void *state, const double *own_ms, double *weights) {
  struct leader *leader = state;
  halotune_status status = await_nobody(leader, MEMBER_IN_FINALS);
  if (status != HALOTUNE_OK) return status;
  const bool counts = device_counts(leader);
  int unit = 0; /* the finalist to which all are compared: one that every GPU has */
  while (unit < leader->finalists) {
    bool has_all = !isnan(own_ms[unit]);
    for (int rank = 1; rank < leader->size; rank++) {
      const struct member *member = &leader->members[rank];
      has_all = has_all && (!has_times(member) || !isnan(member->times_ms[unit]));
    }
    if (has_all) break;
    unit++;
  }
  for (int i = 0; i < leader->finalists && unit < leader->finalists; i++) {
    const double own = own_ms[i] / own_ms[unit];
    double sum = counts ? own : 0;
    int count = counts;
    for (int rank = 1; rank < leader->size; rank++) {
      const struct member *member = &leader->members[rank];
      if (!has_times(member) || isnan(member->times_ms[i])) continue;
      sum += member->times_ms[i] / member->times_ms[unit];
      count++;
    }
    if (count > 0 && !isnan(sum)) weights[i] = sum / count / own;
  }
  return HALOTUNE_OK;
}

static void crew_won(void *state, int finalist, double own_ms, struct text *words) {
  struct leader *leader = state;
  const bool counts = device_counts(leader);
  double least = counts ? own_ms : INFINITY, most = counts ? own_ms : 0;
  int count = counts;
  leader->winner = finalist;
  leader->winner_own_ms = own_ms;
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    if (!has_times(member) || isnan(member->times_ms[finalist])) continue;
    least = fmin(least, member->times_ms[finalist]);
    most = fmax(most, member->times_ms[finalist]);
    count++;
  }
  leader->spread = count > 1 ? most / least - 1 : NAN;
  if (count > 1)
    text_printf(words, "on %d GPUs the winner took %.5g to %.5g ms, a spread of %.2f %%\n", count, least, most,
                leader->spread * 100);
  if (leader->device_why[0])
    text_printf(words, "the leader (%s) was left out: %s\n", leader->options.own.uuid, leader->device_why);
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    if (member->why[0] && !member->is_uncounted)
      text_printf(words, "member %d (%s) was left out: %s\n", rank, member->hello.uuid, member->why);
  }
}

static struct crew_gpu gpu_of(const struct leader *leader, const struct member *member) {
  struct crew_gpu gpu = {.results = member->results, .factor = factor_of(leader, member), .winner_ms = NAN};
  snprintf(gpu.name, sizeof gpu.name, "%.*s", (int)sizeof gpu.name - 1, member->hello.device);
  snprintf(gpu.uuid, sizeof gpu.uuid, "%s", member->hello.uuid);
  snprintf(gpu.host, sizeof gpu.host, "%s", member->hello.host);
  snprintf(gpu.left_out, sizeof gpu.left_out, "%s", member->why);
  if (has_times(member) && leader->winner >= 0) gpu.winner_ms = member->times_ms[leader->winner];
  return gpu;
}

static void report(const struct leader *leader, struct crew_report *out) {
  const struct fleet_hello *own = &leader->options.own;
  *out = (struct crew_report){.count = 1, .shown = 1, .lost = leader->lost, .spread = leader->spread};
  struct crew_gpu *device = &out->gpus[0];
  *device = (struct crew_gpu){.factor = NAN, .winner_ms = leader->winner >= 0 ? leader->winner_own_ms : NAN};
  snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1, own->device);
  snprintf(device->uuid, sizeof device->uuid, "%s", own->uuid);
  snprintf(device->host, sizeof device->host, "%s", own->host);
  snprintf(device->left_out, sizeof device->left_out, "%s", leader->device_why);
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    if (member->is_uncounted || member->state == MEMBER_UNKNOWN) continue;
    if (member->is_late && member->state == MEMBER_PREPARING) continue; /* it came too late */
    out->count++;
    if (!isnan(factor_of(leader, member))) device->factor = 1; /* what others are compared with */
    if (out->shown < CREW_MOST_SHOWN) out->gpus[out->shown++] = gpu_of(leader, member);
  }
}

static halotune_status crew_end(void *state, struct crew_report *out) {
  struct leader *leader = state;
  halotune_status status = HALOTUNE_OK;
  if (out) report(leader, out);
  forget_away(leader);
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    struct member *member = &leader->members[rank];
    free(member->times_ms);
    member->times_ms = NULL;
    if (member->state == MEMBER_GONE || member->state == MEMBER_UNKNOWN || member->state == MEMBER_IDLE ||
        member->state == MEMBER_ALONE)
      continue;
    member->state = MEMBER_IDLE;
    status = send_word(leader, rank, FLEET_END);
  }
  leader->is_started = leader->is_open = false;
  leader->task++; /* answers that are on their way are no longer about a task in hand */
  return status;
}

static const struct crew_table table = {.begin = crew_begin,
                                        .start = crew_start,
                                        .anchored = crew_anchored,
                                        .device_scaled = crew_device_scaled,
                                        .device_most = crew_device_most,
                                        .room = crew_room,
                                        .away = crew_away,
                                        .put = crew_put,
                                        .take = crew_take,
                                        .stop = crew_stop,
                                        .settle = crew_settle,
                                        .finals_begin = crew_finals_begin,
                                        .finals_take = crew_finals_take,
                                        .won = crew_won,
                                        .end = crew_end};

halotune_status leader_open(const struct leader_options *options, struct leader **out) {
  struct leader *leader = *out = calloc(1, sizeof *leader);
  if (!leader) return fail_memory();
  leader->options = *options;
  leader->size = options->link->size;
  leader->winner = -1;
  leader->listened_ms = now_ms(leader);
  leader->members = calloc((size_t)leader->size + 1, sizeof *leader->members);
  if (leader->members) return HALOTUNE_OK;
  free(leader);
  *out = NULL;
  return fail_memory();
}

struct crew leader_crew(struct leader *leader) {
  return (struct crew){&table, leader};
}

int leader_gather(struct leader *leader, int timeout_ms, struct text *words) {
  const double until_ms = now_ms(leader) + timeout_ms;
  int count = 0;
  bool had;
  while (anyone_is(leader, MEMBER_UNKNOWN)) {
    const double left_ms = until_ms - now_ms(leader);
    if (left_ms <= 0) break;
    if (listen(leader, (int)fmin(ceil(left_ms), LOOK_EVERY_MS), &had) != HALOTUNE_OK) return -1;
  }
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    count += member->state == MEMBER_IDLE;
    if (member->state == MEMBER_IDLE) continue;
    text_printf(words, "member %d takes no part: %s\n", rank,
                member->why[0] ? member->why : "it has not said who it is in time");
  }
  return count;
}

int leader_count(const struct leader *leader, const char *host) {
  int count = 0;
  for (int rank = 1; rank < leader->size; rank++) {
    const struct member *member = &leader->members[rank];
    const bool takes_part = member->state != MEMBER_UNKNOWN && member->state != MEMBER_GONE;
    count += takes_part && (!host || strcmp(member->hello.host, host) == 0);
  }
  return count;
}

void leader_offer_alone(struct leader *leader, const struct leader_alone *alone) { leader->alone = alone; }

halotune_status leader_look(struct leader *leader) {
  bool had = true;
  halotune_status status = HALOTUNE_OK;
  while (had && status == HALOTUNE_OK) status = listen(leader, 0, &had);
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) status = employ(leader, rank);
  return status;
}

/* Tell members that run tasks alone to end them soon. */
static halotune_status stop_alone(struct leader *leader) {
  halotune_status status = HALOTUNE_OK;
  for (int rank = 1; rank < leader->size && status == HALOTUNE_OK; rank++) {
    struct member *member = &leader->members[rank];
    if (member->state != MEMBER_ALONE || member->is_told_stop) continue;
    member->is_told_stop = true;
    status = send_word(leader, rank, FLEET_STOP);
  }
  return status;
}

static int count_in(const struct leader *leader, enum member_state state) {
  int count = 0;
  for (int rank = 1; rank < leader->size; rank++) count += leader->members[rank].state == state;
  return count;
}

halotune_status leader_await_alone(struct leader *leader, bool *had) {
  const int before = count_in(leader, MEMBER_ALONE);
  halotune_status status = HALOTUNE_OK;
  bool heard;
  *had = before > 0;
  while (status == HALOTUNE_OK) {
    const int count = count_in(leader, MEMBER_ALONE);
    if (count == 0 || (count < before && !is_stopped(leader))) break;
    if (is_stopped(leader)) status = stop_alone(leader);
    if (status == HALOTUNE_OK) status = listen(leader, LOOK_EVERY_MS, &heard);
  }
  return status;
}

void leader_close(struct leader *leader) {
  if (!leader) return;
  forget_away(leader);
  for (int rank = 1; rank < leader->size; rank++) {
    if (leader->members[rank].state != MEMBER_GONE) send_word(leader, rank, FLEET_HOME);
    free(leader->members[rank].times_ms);
  }
  free(leader->members);
  free(leader->given);
  free(leader->back);
  free(leader->settled);
  text_free(&leader->message);
  text_free(&leader->task_message);
  free(leader);
}
