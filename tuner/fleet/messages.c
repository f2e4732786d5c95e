/* messages.c: one function writes a message, one reads it. */
#include "tuner/fleet/messages.h"

#include "include/halotune.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"

static const uint64_t magic = 0x484c544e54454d31; /* also shows the order of bytes */

enum { MOST_SAMPLES = 1 << 20, MOST_ROOM = 1 << 12 };

void fleet_head_write(struct text *out, enum fleet_kind kind, long task) {
  pack_u64(out, (uint64_t)kind);
  pack_u64(out, (uint64_t)task);
}

bool fleet_head_read(struct unpack *in, struct fleet_head *out) {
  const uint64_t kind = unpack_u64(in);
  out->task = (long)unpack_u64(in);
  out->kind = (enum fleet_kind)kind;
  return !in->failed && kind >= FLEET_HELLO && kind < FLEET_KIND_END;
}

/* Read a number of a range. A number outside of it makes the whole message invalid. */
static int64_t read_within(struct unpack *in, int64_t least, int64_t most) {
  const int64_t number = (int64_t)unpack_u64(in);
  if (number >= least && number <= most) return number;
  in->failed = true;
  return least;
}

static bool read_flag(struct unpack *in) { return read_within(in, 0, 1) != 0; }

/* Read a name. It must be one printable line, because it is stored and printed. */
static void read_name(struct unpack *in, char *out, size_t bytes) {
  const char *name = unpack_text(in);
  *out = '\0';
  if (is_printable_line(name)) snprintf(out, bytes, "%s", name);
  else in->failed = true;
}

void fleet_hello_write(struct text *out, const struct fleet_hello *hello) {
  pack_u64(out, magic);
  pack_text(out, hello->version);
  pack_u64(out, FLEET_PROTOCOL);
  const char *const texts[] = {hello->driver, hello->nvrtc, hello->host, hello->device, hello->uuid};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) pack_text(out, texts[i]);
  const int numbers[] = {hello->capability,   hello->sm_count,     hello->ordinal,
                         hello->is_emulation, hello->is_recording, hello->room};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) pack_u64(out, (uint64_t)numbers[i]);
}

bool fleet_hello_read(struct unpack *in, struct fleet_hello *out) {
  *out = (struct fleet_hello){.ordinal = 0};
  if (unpack_u64(in) != magic) return false;
  read_name(in, out->version, sizeof out->version);
  if (unpack_u64(in) != FLEET_PROTOCOL) return false;
  read_name(in, out->driver, sizeof out->driver);
  read_name(in, out->nvrtc, sizeof out->nvrtc);
  read_name(in, out->host, sizeof out->host);
  read_name(in, out->device, sizeof out->device);
  read_name(in, out->uuid, sizeof out->uuid);
  out->capability = (int)read_within(in, 0, 1 << 20);
  out->sm_count = (int)read_within(in, 0, 1 << 20);
  out->ordinal = (int)read_within(in, 0, 1 << 20);
  out->is_emulation = read_flag(in);
  out->is_recording = read_flag(in);
  out->room = (int)read_within(in, 1, MOST_ROOM);
  return !in->failed;
}

bool fleet_is_like(const struct fleet_hello *leader, const struct fleet_hello *member, struct text *why) {
  const struct {
    const char *what, *leaders, *members;
  } rows[] = {
      {"Halotune", leader->version, member->version},
      {"the GPU", leader->device, member->device},
      {"driver", leader->driver, member->driver},
      {"NVRTC", leader->nvrtc, member->nvrtc},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strcmp(rows[i].leaders, rows[i].members) == 0) continue;
    text_printf(why, "has %s %s, and the leader %s", rows[i].what, rows[i].members[0] ? rows[i].members : "(unknown)",
                rows[i].leaders);
    return false;
  }
  if (leader->capability == member->capability && leader->sm_count == member->sm_count) return true;
  text_printf(why, "has a GPU with %d multiprocessors of sm_%d, and the leader %d of sm_%d", member->sm_count,
              member->capability, leader->sm_count, leader->capability);
  return false;
}

void fleet_task_write(struct text *out, const struct crew_task *from) {
  const struct task *task = from->task;
  char hex[IDENTITY_HEX_BYTES];
  const size_t count = task->coefficients ? (size_t)task->stencil->coefficient_count : 0;
  identity_hex(task->analysis->hash, hex);
  pack_text(out, task->stencil_text);
  pack_text(out, hex);
  pack_u64(out, task->dtype);
  for (int axis = 0; axis < MAX_DIMS; axis++) pack_u64(out, (uint64_t)task->grid.n[axis]);
  pack_u64(out, from->cache);
  pack_u64(out, task->reproducible);
  pack_u64(out, (uint64_t)task->launch_steps);
  pack_bytes(out, task->coefficients, count * sizeof *task->coefficients);
  pack_u64(out, (uint64_t)from->template_count);
  for (int i = 0; i < from->template_count; i++) {
    identity_hex(from->templates[i]->hash, hex);
    pack_text(out, from->templates[i]->name);
    pack_text(out, hex);
  }
}

bool fleet_task_read(struct unpack *in, struct fleet_task *out) {
  size_t bytes;
  *out = (struct fleet_task){.stencil_text = unpack_text(in)};
  out->stencil_hash = unpack_text(in);
  out->dtype = (enum dtype)read_within(in, 0, DTYPE_COUNT - 1);
  for (int axis = 0; axis < MAX_DIMS; axis++) out->grid.n[axis] = (long)read_within(in, 1, INT64_MAX);
  out->cache = (enum cache_mode)read_within(in, 0, CACHE_MODE_COUNT - 1);
  out->reproducible = read_flag(in);
  out->launch_steps = (int)read_within(in, 0, LAUNCH_MOST_STEPS);
  out->coefficients = unpack_bytes(in, &bytes);
  out->coefficient_count = (int)(bytes / sizeof(double));
  out->template_count = (int)read_within(in, 0, FLEET_MOST_TEMPLATES);
  for (int i = 0; i < out->template_count && !in->failed; i++) {
    out->template_names[i] = unpack_text(in);
    out->template_hashes[i] = unpack_text(in);
  }
  return !in->failed;
}

void fleet_proposal_write(struct text *out, const struct proposal *proposal) {
  pack_u64(out, (uint64_t)proposal->ticket);
  pack_u64(out, (uint64_t)proposal->template_index);
  pack_bytes(out, proposal->configuration.choice, sizeof proposal->configuration.choice);
}

bool fleet_proposal_read(struct unpack *in, struct proposal *out) {
  size_t bytes;
  memset(out, 0, sizeof *out);
  out->ticket = (long)read_within(in, 0, INT64_MAX);
  out->template_index = (int)read_within(in, 0, FLEET_MOST_TEMPLATES - 1);
  const char *choice = unpack_bytes(in, &bytes);
  if (in->failed || bytes != sizeof out->configuration.choice) return false;
  memcpy(out->configuration.choice, choice, bytes);
  return true;
}

void fleet_start_write(struct text *out, const struct crew_start *start) {
  static const struct proposal none;
  pack_u64(out, start->launch);
  pack_u64(out, (uint64_t)start->space->count);
  for (int i = 0; i < start->space->count; i++) pack_text(out, start->space->templates[i]->name);
  pack_u64(out, start->first != NULL);
  fleet_proposal_write(out, start->first ? start->first : &none);
}

bool fleet_start_read(struct unpack *in, struct fleet_start *out) {
  *out = (struct fleet_start){.launch = (enum launch_mode)read_within(in, 0, LAUNCH_MODE_COUNT - 1)};
  out->template_count = (int)read_within(in, 0, FLEET_MOST_TEMPLATES);
  for (int i = 0; i < out->template_count && !in->failed; i++) out->templates[i] = unpack_text(in);
  out->has_first = read_flag(in);
  return fleet_proposal_read(in, &out->first) && !in->failed;
}

static void reading_write(struct text *out, const struct gpu_reading *reading) {
  pack_bytes(out, reading, sizeof *reading);
}

/* Read a struct that pack_bytes wrote. */
static void struct_read(struct unpack *in, void *out, size_t size) {
  size_t bytes;
  const char *from = unpack_bytes(in, &bytes);
  if (!in->failed && bytes == size) memcpy(out, from, bytes);
  else in->failed = true;
}

void fleet_result_write(struct text *out, const struct trial *trial, double scale) {
  const struct measurement *result = &trial->result;
  const struct timing *timing = &result->timing;
  struct identity code;
  const bool has_code = trial_code(trial, &code);
  const size_t samples = timing->samples && timing->sample_count > 0 ? (size_t)timing->sample_count : 0;
  pack_u64(out, (uint64_t)trial->proposal.ticket);
  pack_double(out, scale);
  pack_u64(out, has_code);
  pack_bytes(out, &code, sizeof code);
  pack_bytes(out, &trial->generated.hash, sizeof trial->generated.hash);
  pack_u64(out, result->outcome);
  pack_text(out, result->reason);
  pack_u64(out, (uint64_t)timing->sample_count);
  const double reals[] = {timing->median_ms,       timing->minimum_ms, timing->low_ms,
                          timing->high_ms,         result->rms_error,  result->max_error,
                          result->max_error_units, result->occupancy,  result->compile_ms};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) pack_double(out, reals[i]);
  pack_bytes(out, timing->samples, samples * sizeof *timing->samples);
  const long numbers[] = {result->registers, result->shared_bytes, result->spill_bytes, result->blocks_per_sm,
                          result->threads,   result->blocks,       result->attempts,    result->is_marked};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) pack_u64(out, (uint64_t)numbers[i]);
  reading_write(out, &result->before);
  reading_write(out, &result->after);
}

bool fleet_is_time(double number) { return number >= 1e-9 && number <= 1e12; }

/* Whether the times can be those of a GPU. If the outcome has times, they are positive and in order. The bounds of the
 * median may be missing. */
static bool times_make_sense(const struct measurement *result) {
  const struct timing *timing = &result->timing;
  for (int i = 0; i < timing->sample_count && timing->samples; i++) {
    float sample;
    /* the address may be unaligned */
    memcpy(&sample, (const char *)timing->samples + (size_t)i * sizeof sample, sizeof sample);
    if (!fleet_is_time((double)sample)) return false;
  }
  if (!outcome_has_time(result->outcome)) return true;
  const double low = isnan(timing->low_ms) ? timing->minimum_ms : timing->low_ms;
  const double high = isnan(timing->high_ms) ? timing->median_ms : timing->high_ms;
  return fleet_is_time(timing->minimum_ms) && fleet_is_time(low) && fleet_is_time(high) &&
         timing->minimum_ms <= timing->median_ms && low <= timing->median_ms && timing->median_ms <= high &&
         timing->sample_count > 0;
}

bool fleet_result_read(struct unpack *in, struct fleet_result *out) {
  size_t bytes;
  *out = (struct fleet_result){.ticket = (long)read_within(in, 1, INT64_MAX)};
  struct measurement *result = &out->result;
  struct timing *timing = &result->timing;
  out->scale = unpack_double(in);
  out->has_code = read_flag(in);
  struct_read(in, &out->code, sizeof out->code);
  struct_read(in, &out->source, sizeof out->source);
  result->outcome = (enum outcome)read_within(in, 0, OUTCOME_COUNT - 1);
  result->reason = unpack_text(in);
  timing->sample_count = (int)read_within(in, 0, MOST_SAMPLES);
  double *const reals[] = {&timing->median_ms,       &timing->minimum_ms, &timing->low_ms,
                           &timing->high_ms,         &result->rms_error,  &result->max_error,
                           &result->max_error_units, &result->occupancy,  &result->compile_ms};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) *reals[i] = unpack_double(in);
  const char *samples = unpack_bytes(in, &bytes);
  timing->samples = (const float *)(const void *)samples;
  if (bytes == 0) timing->samples = NULL;
  else if (bytes != (size_t)timing->sample_count * sizeof *timing->samples) return false;
  int *const numbers[] = {&result->registers, &result->shared_bytes, &result->spill_bytes, &result->blocks_per_sm};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = (int)read_within(in, -1, INT32_MAX);
  result->threads = (long)read_within(in, -1, INT64_MAX);
  result->blocks = (long)read_within(in, -1, INT64_MAX);
  result->attempts = (int)read_within(in, 0, INT32_MAX);
  result->is_marked = read_flag(in);
  struct_read(in, &result->before, sizeof result->before);
  struct_read(in, &result->after, sizeof result->after);
  return !in->failed && fleet_is_time(out->scale) && times_make_sense(result);
}
