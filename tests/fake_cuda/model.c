/* model.c: the time of a launch on a virtual clock. Without $HALOTUNE_FAKE_MODEL there is no noise, and the time is
 * that of moving the bytes to which the kernel has pointers, times a factor that depends on its cubin. The file has
 * lines of these forms:
 *   seed N                       of the factors and of the noise; 1
 *   base_us T                    the time of the best; else that of its bytes
 *   spread A POWER               factors are 1 + A*u^POWER, with u uniform from 0 to 1; 1 1
 *   slower F WORD                kernels whose source contains the word take F times as long; up to 4 lines
 *   launch_us T                  the gap between launches in a stream; 2
 *   graph_us T                   the gap between launches in a graph; 0.8
 *   independent SD               each launch's time has a normal error with this deviation
 *   correlated SD TAU_MS         an error that changes slowly: first-order autoregressive with this decay time
 *   ramp A TAU_MS                slower by A at first, decaying: clocks that speed up
 *   drift A PERIOD_MS            a slow sine with this amplitude; its phase depends on the seed
 *   trend A                      slower by A each second
 *   outliers P LOW HIGH HOLD_MS  at each launch, with probability P, everything is LOW to HIGH times slower for HOLD_MS
 *   throttle A EVERY_MS FOR_MS   slower by A for FOR_MS of each EVERY_MS; NVML reports it */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/random.h"
#include "tests/fake_cuda/fake.h"

enum { MOST_SLOWER = 4, WORD_BYTES = 64 };

struct slower {
  double factor;
  char word[WORD_BYTES];
};

static struct model {
  bool is_read;
  struct slower slower[MOST_SLOWER];
  int slower_count;
  double seed, base_us, spread[2], launch_us, graph_us;
  double independent, correlated[2], ramp[2], drift[2], trend, outliers[4], throttle[3];
} the_model = {.seed = 1, .spread = {1, 1}, .launch_us = 2, .graph_us = 0.8};

static const double bytes_per_us = 4290e3, shortest_us = 1, heat_slowdown = 0.2;

__attribute__((noreturn)) static void refuse(const char *path, const char *line) {
  fprintf(stderr, "fake driver: %s: not understood: %s\n", path, line);
  abort();
}

/* Read `count` numbers. Returns false if the text has other contents. */
static bool read_numbers(const char *text, double *values, int count) {
  char *end;
  for (int i = 0; i < count; i++, text = end) {
    values[i] = strtod(text, &end);
    if (end == text) return false;
  }
  return text[strspn(text, " \t\n")] == '\0';
}

/* Read "F WORD". Returns false for other texts, or if there are too many. */
static bool read_slower(const char *text, struct model *model) {
  struct slower *slower = &model->slower[model->slower_count];
  char *end;
  if (model->slower_count == MOST_SLOWER) return false;
  slower->factor = strtod(text, &end);
  const char *word = end + strspn(end, " ");
  const size_t length = strcspn(word, " \t\n");
  if (end == text || length == 0 || length >= WORD_BYTES) return false;
  memcpy(slower->word, word, length);
  model->slower_count++;
  return true;
}

static void read_line(struct model *model, const char *path, const char *line) {
  const struct {
    const char *name;
    double *values;
    int count;
  } rows[] = {{"seed", &model->seed, 1},
              {"base_us", &model->base_us, 1},
              {"spread", model->spread, 2},
              {"launch_us", &model->launch_us, 1},
              {"graph_us", &model->graph_us, 1},
              {"independent", &model->independent, 1},
              {"correlated", model->correlated, 2},
              {"ramp", model->ramp, 2},
              {"drift", model->drift, 2},
              {"trend", &model->trend, 1},
              {"outliers", model->outliers, 4},
              {"throttle", model->throttle, 3}};
  size_t length = strcspn(line, " \t\n");
  if (length == 0 || *line == '#') return;
  if (strncmp(line, "slower ", 7) == 0) {
    if (!read_slower(line + length, model)) refuse(path, line);
    return;
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strlen(rows[i].name) != length || strncmp(line, rows[i].name, length) != 0) continue;
    if (!read_numbers(line + length, rows[i].values, rows[i].count)) refuse(path, line);
    return;
  }
  refuse(path, line);
}

static const struct model *model_get(void) {
  char line[256];
  if (the_model.is_read) return &the_model;
  the_model.is_read = true;
  const char *path = getenv("HALOTUNE_FAKE_MODEL");
  if (!path || !*path) return &the_model;
  FILE *file = fopen(path, "re");
  if (!file) refuse(path, "no such file");
  while (fgets(line, sizeof line, file)) read_line(&the_model, path, line);
  fclose(file);
  return &the_model;
}

static double uniform_of(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

static double uniform(const struct model *model) {
  return uniform_of(random_bits((uint64_t)model->seed * 0x2545f4914f6cdd1dull, fake_state()->random_index++));
}

static double normal(const struct model *model) {
  double radius = sqrt(-2 * log(1 - uniform(model)));
  return radius * cos(2 * M_PI * uniform(model));
}

double model_factor(struct hash cubin, const char *source) {
  const struct model *model = model_get();
  double u = uniform_of(random_bits(cubin.high ^ (uint64_t)model->seed, cubin.low & 0xffff));
  double factor = 1 + model->spread[0] * pow(u, model->spread[1]);
  for (int i = 0; i < model->slower_count; i++) {
    if (strstr(source, model->slower[i].word)) factor *= model->slower[i].factor;
  }
  return factor;
}

double model_time_us(double factor, double bytes) {
  const struct model *model = model_get();
  if (bytes == 0) return shortest_us;
  return factor * (model->base_us > 0 ? model->base_us : fmax(shortest_us, bytes / bytes_per_us));
}

double model_gap_us(bool is_graph) { return is_graph ? model_get()->graph_us : model_get()->launch_us; }

/* First-order autoregressive noise: at any later time it is normally distributed, and correlated with its past as the
 * decay says. */
static double correlated_now(const struct model *model, struct fake_state *state) {
  if (model->correlated[0] == 0) return 0;
  double kept = exp(-(state->clock_us - state->correlated_at_us) * 1e-3 / model->correlated[1]);
  if (state->correlated_at_us == 0) kept = 0;
  state->correlated = state->correlated * kept + sqrt(1 - kept * kept) * normal(model);
  state->correlated_at_us = state->clock_us;
  return model->correlated[0] * state->correlated;
}

static double outlier_now(const struct model *model, struct fake_state *state) {
  const double *outliers = model->outliers;
  if (outliers[0] > 0 && state->clock_us >= state->outlier_until_us && uniform(model) < outliers[0]) {
    state->outlier_until_us = state->clock_us + 1e3 * outliers[3];
    state->outlier_factor = outliers[1] + (outliers[2] - outliers[1]) * uniform(model);
  }
  return state->clock_us < state->outlier_until_us ? state->outlier_factor : 1;
}

/* The present slowdown by throttling, from 0 to 1. */
static double throttle_now(const struct model *model, const struct fake_state *state) {
  if (state->clock_us < state->throttled_until_us) return heat_slowdown;
  bool now = model->throttle[1] > 0 && fmod(state->clock_us * 1e-3, model->throttle[1]) < model->throttle[2];
  return now ? model->throttle[0] : 0;
}

static double ramp_now(const struct model *model, const struct fake_state *state) {
  return model->ramp[0] == 0 ? 0 : model->ramp[0] * exp(-state->clock_us * 1e-3 / model->ramp[1]);
}

/* Let time pass in which the GPU draws this power. The counter of energy shows a new value where its time has come. */
static void pass_at(struct fake_state *state, double time_us, double power_w) {
  const double count_every_us = fmax((double)fake_number("HALOTUNE_FAKE_ENERGY", 20000), 1);
  state->clock_us += time_us;
  state->energy_mj += power_w * time_us * 1e-3;
  if (state->clock_us - state->counted_at_us < count_every_us) return;
  state->counted_at_us = count_every_us * floor(state->clock_us / count_every_us);
  state->counted_mj = state->energy_mj;
}

double model_energy_mj(void) {
  static const double idle_us = 1e3, idle_w = 90;
  struct fake_state *state = fake_state();
  if (state->clock_us == state->read_at_us) pass_at(state, idle_us, idle_w);
  state->read_at_us = state->clock_us;
  return state->counted_mj;
}

void model_pass(double time_us) {
  static const double work_w = 350;
  const struct model *model = model_get();
  struct fake_state *state = fake_state();
  double factor = (1 + ramp_now(model, state)) * (1 + throttle_now(model, state)) * outlier_now(model, state);
  factor *= 1 + model->trend * state->clock_us * 1e-6;
  if (model->drift[0] > 0) {
    double phase = uniform_of(random_bits((uint64_t)model->seed, 7));
    factor *= 1 + model->drift[0] * sin(2 * M_PI * (state->clock_us * 1e-3 / model->drift[1] + phase));
  }
  double off = correlated_now(model, state);
  if (model->independent > 0) off += model->independent * normal(model);
  pass_at(state, time_us * factor * fmax(0.1, 1 + off), work_w);
}

bool model_is_throttled(void) { return throttle_now(model_get(), fake_state()) > 0; }

int model_clock_mhz(void) {
  enum { FULL_MHZ = 1980 };
  const struct fake_state *state = fake_state();
  return (int)(FULL_MHZ / (1 + ramp_now(model_get(), state)) / (1 + throttle_now(model_get(), state)));
}
