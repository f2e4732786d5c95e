/* static_cost.c: how well numbers that are known before a compile rank the variants of recordings.
 *
 *   static_cost STARTER RECORDING...
 *
 * Each argument is a database. Prints a row of a table for each recording and way of ranking:
 *
 *   Spearman     the correlation of the ranks with those of the measured times, over all variants
 *   first 16     the best time of the recording over the best time among the 16 variants that rank first
 *   first 50     the same among 50
 *   better half  the same among 16 random variants of the half that ranks first
 *
 * Shares are means over 30 and 300 draws, because variants of equal rank are shuffled. The ways:
 *
 *   random      no order at all
 *   work        the templates' own estimates, where they give any
 *   predict     the model of library/predict, with its default coefficients
 *   fitted      the same, with the coefficients that the starter database holds
 *   NAME        the feature of this name alone (library/predict/static_cost.h)
 *   recordings  a sum of all features, whose weights are learnt from the recordings of other stencils
 *   starter     the same, learnt from the starter database's winners, finalists and defaults of other stencils
 *   both        the same, learnt from these two, which count about alike
 *   processes   the mean of ten Gaussian processes over the features, each of which has seen 240 random variants of
 *               other stencils' recordings
 *   itself      a sum whose weights are learnt from the recording itself: what such a sum can reach at best */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/numbers/random.h"
#include "db/store/query.h"
#include "library/predict/static_fit.h"
#include "tuner/cli/options/command_words.h"
#include "tuner/cli/options/templates.h"
#include "tuner/search/strategy/gaussian.h"

enum {
  MOST_RECORDINGS = 16,
  SHUFFLES = 30,
  DRAWS = 300,
  FIRST_VARIANTS = 16, /* of a search */
  PROCESSES = 10,
  PROCESS_POINTS = 240,     /* of each, */
  PROCESS_FIT_POINTS = 160, /* of these, those that length scales are fitted to */
  PROCESS_STEPS = 60,
  LEARNT_OF_A_RECORDING = 400, /* where the starter database counts, too, a recording counts as so many variants */
};
static const int shown_first[] = {FIRST_VARIANTS, 50};

/* How strongly weights are kept at 0. */
static const double pull = 0.002;

struct recording {
  char name[96];
  const char *stencil;
  struct static_times times;   /* of one problem */
  struct predict_model fitted; /* the coefficients that the starter database has for its GPU */
};

static void check_status(halotune_status status) {
  if (status == HALOTUNE_OK) return;
  fprintf(stderr, "static_cost: %s: %s\n", halotune_strstatus(status), fail_text());
  exit(1);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Keep the problem with the most variants: a recording may have another one beside it. */
static void keep_largest(struct static_times *times) {
  const struct static_problem *most = times->problems;
  for (int p = 1; p < times->problem_count; p++) {
    if (times->problems[p].end - times->problems[p].first > most->end - most->first) most = &times->problems[p];
  }
  if (times->problem_count == 0) check_status(fail(HALOTUNE_NOT_FOUND, "a recording has no problem with two variants"));
  const long count = most->end - most->first;
  memmove(times->list, times->list + most->first, (size_t)count * sizeof *times->list);
  times->problems[0] = *most;
  times->problems[0].first = 0;
  times->problems[0].end = times->count = count;
  times->problem_count = 1;
}

/* The coefficients that a database holds for a model of GPU; defaults stand for those that it lacks. */
static struct predict_model fitted_model(struct store *store, const char *device) {
  struct predict_model model = predict_default();
  sqlite3_stmt *query;
  check_status(query_prepare(store_connection(store),
                             "select p.coefficient, p.value from prediction p join device d on d.id = p.device_id"
                             " where d.name = ?1",
                             &query));
  sqlite3_bind_text(query, 1, device, -1, SQLITE_STATIC);
  while (sqlite3_step(query) == SQLITE_ROW) {
    for (int i = 0; i < PREDICT_COEFFICIENTS; i++) {
      if (strcmp(predict_names[i], column_text(query, 0)) == 0) model.coefficients[i] = sqlite3_column_double(query, 1);
    }
  }
  sqlite3_finalize(query);
  return model;
}

/* Read a recording, and the starter database's coefficients for its GPU. */
static void read_recording(const char *path, const struct templates *templates, struct store *starter,
                           struct recording *out) {
  struct store *store;
  sqlite3_stmt *query;
  check_status(store_open(path, STORE_READ, &store));
  check_status(static_times_read(store, templates->list, templates->count, &out->times));
  keep_largest(&out->times);
  out->stencil = out->times.problems->stencil;
  check_status(query_prepare(store_connection(store), "select name from device where id = ?1", &query));
  sqlite3_bind_int64(query, 1, out->times.problems->device);
  if (sqlite3_step(query) == SQLITE_ROW) out->fitted = fitted_model(starter, column_text(query, 0));
  sqlite3_finalize(query);
  store_close(store);
}

/* --- learning ---------------------------------------------------------------------------------------------------- */

/* Add all problems of a database but those of one stencil. */
static void learn_times(const struct static_times *times, const char *without, double most,
                        struct least_squares *sums) {
  for (int p = 0; p < times->problem_count; p++) {
    if (strcmp(times->problems[p].stencil, without) != 0) static_learn(times, &times->problems[p], most, sums);
  }
}

/* Features of all recordings, scaled to the range from 0 to 1. */
struct feature_range {
  double low[STATIC_COST_FEATURES], high[STATIC_COST_FEATURES];
};

static struct feature_range range_of(const struct recording list[], int count) {
  struct feature_range range;
  for (int f = 0; f < STATIC_COST_FEATURES; f++) {
    range.low[f] = INFINITY;
    range.high[f] = -INFINITY;
    for (int r = 0; r < count; r++) {
      for (long i = 0; i < list[r].times.count; i++) {
        const double value = list[r].times.list[i].features[f];
        range.low[f] = fmin(range.low[f], value);
        range.high[f] = fmax(range.high[f], value);
      }
    }
  }
  return range;
}

static void scale_features(const struct feature_range *range, const struct static_time *time,
                           double out[STATIC_COST_FEATURES]) {
  for (int f = 0; f < STATIC_COST_FEATURES; f++) {
    const double width = range->high[f] - range->low[f];
    out[f] = width > 0 ? (time->features[f] - range->low[f]) / width : 0;
  }
}

/* Show random variants of the recordings of other stencils to a process. Recordings take turns. */
static void teach_process(const struct recording list[], int count, const char *without,
                          const struct feature_range *range, uint64_t seed, struct gaussian *process) {
  for (uint64_t number = 0; gaussian_count(process) < PROCESS_POINTS && number < 2 * MOST_RECORDINGS * PROCESS_POINTS;
       number++) {
    const struct recording *recording = &list[number % (uint64_t)count];
    const uint64_t drawn = random_bits(seed, number) % (uint64_t)recording->times.count;
    double at[STATIC_COST_FEATURES];
    if (strcmp(recording->stencil, without) == 0) continue;
    scale_features(range, &recording->times.list[drawn], at);
    gaussian_add(process, at, static_clipped(&recording->times.list[drawn]));
  }
}

/* --- judging ----------------------------------------------------------------------------------------------------- */

struct ranked {
  double cost;
  uint64_t order; /* among equal costs */
  long number;
};

static int compare_ranked(const void *left, const void *right) {
  const struct ranked *a = left, *b = right;
  if (a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
  return (a->order > b->order) - (a->order < b->order);
}

static void *make_room(size_t count, size_t bytes) {
  void *room = calloc(count, bytes);
  if (!room) check_status(fail_memory());
  return room;
}

/* Sort variants by their costs; shuffle those of equal cost. */
static void sort_costs(const double costs[], long count, int shuffle, struct ranked list[]) {
  for (long i = 0; i < count; i++) {
    const uint64_t order = random_bits((uint64_t)shuffle, (uint64_t)i);
    list[i] = (struct ranked){.cost = costs[i], .order = order, .number = i};
  }
  qsort(list, (size_t)count, sizeof *list, compare_ranked);
}

/* Write the rank of each value; equal ones have the mean of their ranks. */
static void find_ranks(const double values[], long count, struct ranked room[], double out[]) {
  sort_costs(values, count, 0, room);
  for (long i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && room[end].cost == room[i].cost; end++) continue;
    for (long k = i; k < end; k++) out[room[k].number] = (double)(i + end - 1) / 2;
  }
}

/* Pearson's correlation; 0 where one side is constant. */
static double find_correlation(const double a[], const double b[], long count) {
  double mean_a = 0, mean_b = 0, squares_a = 0, squares_b = 0, products = 0;
  for (long i = 0; i < count; i++) {
    mean_a += a[i] / (double)count;
    mean_b += b[i] / (double)count;
  }
  for (long i = 0; i < count; i++) {
    squares_a += (a[i] - mean_a) * (a[i] - mean_a);
    squares_b += (b[i] - mean_b) * (b[i] - mean_b);
    products += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return squares_a > 0 && squares_b > 0 ? products / sqrt(squares_a * squares_b) : 0;
}

/* The share of the best among the variants that rank first. */
static double share_of_first(const double costs[], const double times[], long count, int first, struct ranked room[]) {
  double sum = 0;
  for (int shuffle = 1; shuffle <= SHUFFLES; shuffle++) {
    double best = INFINITY;
    sort_costs(costs, count, shuffle, room);
    for (long i = 0; i < count && i < first; i++) best = fmin(best, times[room[i].number]);
    sum += exp(-best);
  }
  return sum / SHUFFLES;
}

/* The share of the best among random variants of the half that ranks first. */
static double share_of_half(const double costs[], const double times[], long count, struct ranked room[]) {
  const uint64_t half = (uint64_t)(count + 1) / 2;
  double sum = 0;
  sort_costs(costs, count, 1, room);
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    double best = INFINITY;
    for (uint64_t i = 0; i < FIRST_VARIANTS; i++) best = fmin(best, times[room[random_bits(draw, i) % half].number]);
    sum += exp(-best);
  }
  return sum / DRAWS;
}

static void print_row(const struct recording *recording, const char *way, const double costs[]) {
  const long count = recording->times.count;
  struct ranked *room = make_room((size_t)count, sizeof *room);
  double *times = make_room(3 * (size_t)count, sizeof *times), *ranks = times + count, *time_ranks = ranks + count;
  for (long i = 0; i < count; i++) times[i] = recording->times.list[i].log_time;
  find_ranks(costs, count, room, ranks);
  find_ranks(times, count, room, time_ranks);
  printf("| %s | %s | %.2f |", recording->name, way, find_correlation(ranks, time_ranks, count));
  for (size_t i = 0; i < COUNT(shown_first); i++)
    printf(" %.3f |", share_of_first(costs, times, count, shown_first[i], room));
  printf(" %.3f |\n", share_of_half(costs, times, count, room));
  free(times);
  free(room);
}

/* Rank a recording by a sum of its features. */
static void judge_weights(const struct recording *recording, const char *way,
                          const double weights[STATIC_COST_FEATURES]) {
  double *costs = make_room((size_t)recording->times.count, sizeof *costs);
  for (long i = 0; i < recording->times.count; i++) {
    for (int f = 0; f < STATIC_COST_FEATURES; f++) costs[i] += weights[f] * recording->times.list[i].features[f];
  }
  print_row(recording, way, costs);
  free(costs);
}

/* Rank it by the sum that least squares found. */
static void judge_sums(const struct recording *recording, const char *way, const struct least_squares *sums) {
  static const double none[STATIC_COST_FEATURES] = {0};
  double weights[STATIC_COST_FEATURES];
  if (least_squares_solve(sums, none, pull, weights)) judge_weights(recording, way, weights);
  else fprintf(stderr, "%s, %s: there are no weights\n", recording->name, way);
}

/* Rank it by what needs no weights. */
static void judge_figures(const struct recording *recording) {
  enum { WORK, PREDICTED, FITTED, NO_ORDER, WAYS };
  static const char *const ways[WAYS] = {"work", "predict", "fitted", "random"};
  double *costs = make_room((size_t)recording->times.count, sizeof *costs);
  for (int way = 0; way < WAYS; way++) {
    bool is_given = true;
    for (long i = 0; i < recording->times.count; i++) {
      const struct static_time *time = &recording->times.list[i];
      struct predict_cost fitted = time->cost;
      predict_recost(&recording->fitted, &fitted);
      costs[i] = (const double[WAYS]){time->work, (double)time->cost.log_ms[LAUNCH_STREAM],
                                      (double)fitted.log_ms[LAUNCH_STREAM], 0}[way];
      is_given &= !isnan(costs[i]);
    }
    if (is_given) print_row(recording, ways[way], costs);
  }
  free(costs);
  for (int f = 0; f < STATIC_COST_FEATURES; f++) {
    double weights[STATIC_COST_FEATURES] = {0};
    weights[f] = 1;
    judge_weights(recording, static_cost_names[f], weights);
  }
}

/* Add what a process predicts to the costs. */
static void add_predictions(const struct static_times *times, const struct feature_range *range,
                            struct gaussian *process, double costs[]) {
  if (!gaussian_fit(process, PROCESS_FIT_POINTS, PROCESS_STEPS)) return;
  for (long i = 0; i < times->count; i++) {
    double at[STATIC_COST_FEATURES];
    scale_features(range, &times->list[i], at);
    costs[i] += gaussian_mean(process, at);
  }
}

static void judge_processes(const struct recording *recording, const struct recording list[], int count) {
  static const bool is_category[STATIC_COST_FEATURES];
  const struct feature_range range = range_of(list, count);
  double *costs = make_room((size_t)recording->times.count, sizeof *costs);
  for (uint64_t seed = 0; seed < PROCESSES; seed++) {
    struct gaussian *process;
    check_status(gaussian_make(STATIC_COST_FEATURES, is_category, &process));
    teach_process(list, count, recording->stencil, &range, seed, process);
    add_predictions(&recording->times, &range, process, costs);
    gaussian_free(process);
  }
  print_row(recording, "processes", costs);
  free(costs);
}

static void judge_recording(const struct recording *recording, const struct recording list[], int count,
                            const struct static_times *starter) {
  struct least_squares of_recordings = {.count = STATIC_COST_FEATURES}, of_starter = {.count = STATIC_COST_FEATURES},
                       of_both = {.count = STATIC_COST_FEATURES}, of_itself = {.count = STATIC_COST_FEATURES};
  const char *stencil = recording->stencil;
  for (int i = 0; i < count; i++) {
    learn_times(&list[i].times, stencil, STATIC_OF_A_PROBLEM, &of_recordings);
    learn_times(&list[i].times, stencil, LEARNT_OF_A_RECORDING, &of_both);
  }
  learn_times(starter, stencil, STATIC_OF_A_PROBLEM, &of_starter);
  learn_times(starter, stencil, STATIC_OF_A_PROBLEM, &of_both);
  static_learn(&recording->times, recording->times.problems, STATIC_OF_A_PROBLEM, &of_itself);
  judge_figures(recording);
  judge_sums(recording, "recordings", &of_recordings);
  judge_sums(recording, "starter", &of_starter);
  judge_sums(recording, "both", &of_both);
  judge_processes(recording, list, count);
  judge_sums(recording, "itself", &of_itself);
}

/* Print the weights that all problems give. */
static void print_weights(const struct recording list[], int count, const struct static_times *starter) {
  static const double none[STATIC_COST_FEATURES] = {0};
  struct least_squares sums = {.count = STATIC_COST_FEATURES};
  double weights[STATIC_COST_FEATURES];
  for (int i = 0; i < count; i++) learn_times(&list[i].times, "", LEARNT_OF_A_RECORDING, &sums);
  learn_times(starter, "", STATIC_OF_A_PROBLEM, &sums);
  if (!least_squares_solve(&sums, none, pull, weights)) return;
  printf("\n| feature | weight that both give, with no stencil left out |\n| --- | ---: |\n");
  for (int f = 0; f < STATIC_COST_FEATURES; f++) printf("| %s | %.3f |\n", static_cost_names[f], weights[f]);
}

/* "box27-f32-512x512x512-nvidia-h200" for the path of recording-box27-f32-512x512x512-nvidia-h200.db. */
static void name_recording(const char *path, struct recording *out) {
  static const char beginning[] = "recording-";
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  if (strncmp(name, beginning, strlen(beginning)) == 0) name += strlen(beginning);
  snprintf(out->name, sizeof out->name, "%.*s", (int)strcspn(name, "."), name);
}

int main(int argc, char **argv) {
  static struct recording list[MOST_RECORDINGS];
  static struct static_times starter_times;
  static struct templates templates;
  const struct invocation invocation = {.command = &command_tune};
  const int count = argc - 2;
  struct store *starter;
  if (count < 1 || count > MOST_RECORDINGS) {
    fprintf(stderr, "static_cost STARTER RECORDING...\n");
    return 2;
  }
  check_status(templates_open(&invocation, &templates));
  check_status(store_open(argv[1], STORE_READ, &starter));
  check_status(static_times_read(starter, templates.list, templates.count, &starter_times));
  for (int i = 0; i < count; i++) {
    read_recording(argv[2 + i], &templates, starter, &list[i]);
    name_recording(argv[2 + i], &list[i]);
  }
  store_close(starter);
  printf("| recording | ranked by | Spearman | first 16 | first 50 | better half |\n"
         "| --- | --- | ---: | ---: | ---: | ---: |\n");
  for (int i = 0; i < count; i++) judge_recording(&list[i], list, count, &starter_times);
  print_weights(list, count, &starter_times);
  for (int i = 0; i < count; i++) static_times_free(&list[i].times);
  static_times_free(&starter_times);
  return 0;
}
