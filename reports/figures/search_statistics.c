/* search_statistics.c: computes statistics over all variants of a search. */
#include "reports/figures/search_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/sorted.h"

enum { DIGITS = 7, FEWEST_BINS = 8, MOST_BINS = 60 };

/* Count the outcomes of the searches that are in the database; else use the counts that their runs recorded; null if
 * there are none. */
json_t *outcomes_json(const struct variant_table *table) {
  long counts[OUTCOME_COUNT] = {0};
  bool is_here = searches_have_any(&table->searches);
  if (!is_here && !searches_recorded(&table->searches, counts)) return json_null();
  json_t *json = json_object();
  for (int i = 0; i < table->searched_count && is_here; i++) counts[table->searched[i]->outcome]++;
  for (int i = 0; i < OUTCOME_COUNT; i++) json_put(&json, outcome_name((enum outcome)i), json_integer(counts[i]));
  return json;
}

struct failure_group {
  const struct variant_row *example;
  long count;
};

static int by_outcome_and_count(const void *a, const void *b) {
  const struct failure_group *x = a, *y = b;
  if (x->example->outcome != y->example->outcome) return x->example->outcome < y->example->outcome ? -1 : 1;
  if (x->count != y->count) return x->count > y->count ? -1 : 1;
  return x->example->variant < y->example->variant ? -1 : 1;
}

/* Count failures, with an element for each pair of outcome and reason, including no reason. */
static struct failure_group *count_failures(const struct variant_table *table, int *group_count) {
  size_t each = (size_t)table->reasons.count + 1;
  struct failure_group *groups = calloc(each * OUTCOME_COUNT, sizeof *groups);
  int count = 0;
  if (!groups) return NULL;
  for (int i = 0; i < table->searched_count; i++) {
    const struct variant_row *row = table->searched[i];
    if (outcome_has_time(row->outcome)) continue;
    struct failure_group *group = &groups[each * row->outcome + (size_t)(row->reason + 1)];
    if (group->count++ == 0) group->example = row;
  }
  for (size_t i = 0; i < each * OUTCOME_COUNT; i++) {
    if (groups[i].count > 0) groups[count++] = groups[i];
  }
  qsort(groups, (size_t)count, sizeof *groups, by_outcome_and_count);
  *group_count = count;
  return groups;
}

/* The parameters of a row as names and values. */
static json_t *row_parameters_json(const struct variant_table *table, const struct variant_row *row) {
  json_t *json = json_array();
  const struct variant_template *template = &table->templates[row->template];
  for (int p = 0; p < template->parameters.count; p++) {
    if (row->values[p] == VALUE_NONE) continue;
    json_t *pair = json_array();
    json_add(&pair, text_json(template->parameters.list[p]));
    json_add(&pair, text_json(template->values[p].list[row->values[p]]));
    json_add(&json, pair);
  }
  return json;
}

/* If reasons contain numbers, each variant may have its own. So the most frequent reasons of each outcome are listed,
 * and the others are counted. */
json_t *failures_json(const struct variant_table *table) {
  enum { MOST = 50 };
  json_t *list = json_array(), *others = NULL;
  int count = 0, of_outcome = 0;
  long other_count = 0;
  struct failure_group *groups = count_failures(table, &count);
  if (!groups) json_decref(list), list = NULL;
  for (int i = 0; i < count; i++) {
    const struct variant_row *example = groups[i].example;
    bool is_first = i == 0 || groups[i - 1].example->outcome != example->outcome;
    if (is_first) of_outcome = 0, other_count = 0, others = NULL;
    if (of_outcome++ >= MOST) {
      other_count += groups[i].count;
      if (others) json_object_set_new(others, "count", json_integer(other_count)); /* this replaces the number */
    }
    if (of_outcome > MOST + 1) continue;
    json_t *entry = json_object();
    bool is_rest = of_outcome == MOST + 1;
    json_put(&entry, "outcome", text_json(outcome_name(example->outcome)));
    json_put(&entry, "reason",
             is_rest ? text_json("other reasons")
                     : text_json(example->reason < 0 ? "" : table->reasons.list[example->reason]));
    json_put(&entry, "count", json_integer(groups[i].count));
    json_put(&entry, "variant", json_integer(example->variant));
    json_put(&entry, "template", json_integer(example->template));
    json_put(&entry, "parameters", row_parameters_json(table, example));
    json_add(&list, entry);
    if (is_rest && list) others = entry;
  }
  free(groups);
  return list;
}

struct sums {
  long count;
  double sum, best_ms;
};

/* The share of the variance of log(time) that grouping by one parameter's values explains. */
static double explained_share(const struct sums *groups, int count, double total_squares) {
  long n = 0;
  double sum = 0, between = 0;
  for (int v = 0; v < count; v++) n += groups[v].count, sum += groups[v].sum;
  for (int v = 0; v < count; v++) {
    if (groups[v].count == 0) continue;
    double distance = groups[v].sum / (double)groups[v].count - sum / (double)n;
    between += (double)groups[v].count * distance * distance;
  }
  return total_squares > 0 ? fmin(1, between / total_squares) : NAN;
}

static double squares_about_mean(const struct variant_table *table, int template) {
  double mean = 0, squares = 0;
  long n = 0;
  for (int i = 0; i < table->searched_count; i++) { /* Welford's algorithm, which keeps precision */
    const struct variant_row *row = table->searched[i];
    if (row->template != template || !(row->median_ms > 0)) continue;
    double x = log(row->median_ms), before = x - mean;
    mean += before / (double)++n;
    squares += before * (x - mean);
  }
  return squares;
}

/* The median time over the variants with one value of a parameter. `times` has room for all rows. */
static double median_of_value(const struct variant_table *table, int template, int parameter, int value,
                              double *times) {
  size_t n = 0;
  for (int i = 0; i < table->searched_count; i++) {
    const struct variant_row *row = table->searched[i];
    if (row->template == template && row->values[parameter] == value && row->median_ms > 0) times[n++] = row->median_ms;
  }
  if (n == 0) return NAN;
  qsort(times, n, sizeof *times, compare_doubles);
  return n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
}

static json_t *effect_json(const struct variant_table *table, int template, int parameter, double squares,
                           double *times) {
  struct sums groups[VALUE_NONE];
  const struct texts *values = &table->templates[template].values[parameter];
  json_t *json = json_object(), *list = json_array();
  for (int v = 0; v < values->count; v++) groups[v] = (struct sums){.best_ms = INFINITY};
  for (int i = 0; i < table->searched_count; i++) {
    const struct variant_row *row = table->searched[i];
    if (row->template != template || !(row->median_ms > 0) || row->values[parameter] == VALUE_NONE) continue;
    struct sums *group = &groups[row->values[parameter]];
    group->count++;
    group->sum += log(row->median_ms);
    group->best_ms = fmin(group->best_ms, row->median_ms);
  }
  for (int v = 0; v < values->count; v++) {
    json_t *entry = json_object();
    json_put(&entry, "value", text_json(values->list[v]));
    json_put(&entry, "count", json_integer(groups[v].count));
    json_put(&entry, "best_ms", rounded_json(groups[v].best_ms, DIGITS));
    json_put(&entry, "median_ms", rounded_json(median_of_value(table, template, parameter, v, times), DIGITS));
    json_add(&list, entry);
  }
  json_put(&json, "template", json_integer(template));
  json_put(&json, "parameter", text_json(table->templates[template].parameters.list[parameter]));
  json_put(&json, "share", rounded_json(explained_share(groups, values->count, squares), DIGITS));
  json_put(&json, "values", list);
  return json;
}

json_t *effects_json(const struct variant_table *table) {
  json_t *list = json_array();
  double *times = malloc(((size_t)table->searched_count + 1) * sizeof *times);
  if (!times) json_decref(list), list = NULL;
  for (int t = 0; t < table->template_count && times; t++) {
    double squares = squares_about_mean(table, t);
    int count = table->templates[t].parameters.count;
    for (int p = 0; p < count; p++) json_add(&list, effect_json(table, t, p, squares, times));
  }
  free(times);
  return list;
}

static json_t *bins_json(const struct variant_table *table, int template, int bins, double low, double width) {
  long counts[MOST_BINS] = {0};
  json_t *list = json_array();
  for (int i = 0; i < table->searched_count; i++) {
    const struct variant_row *row = table->searched[i];
    if (row->template != template || !(row->median_ms > 0)) continue;
    int bin = width > 0 ? (int)(log(row->median_ms / low) / width) : 0;
    counts[bin < 0 ? 0 : bin >= bins ? bins - 1 : bin]++;
  }
  for (int i = 0; i < bins; i++) json_add(&list, json_integer(counts[i]));
  return list;
}

json_t *distribution_json(const struct variant_table *table) {
  double *times = malloc(((size_t)table->searched_count + 1) * sizeof *times);
  json_t *json = json_object(), *edges = json_array(), *counts = json_array();
  size_t n = 0;
  if (!times) json_decref(json), json = NULL;
  for (int i = 0; i < table->searched_count && times; i++) {
    if (table->searched[i]->median_ms > 0) times[n++] = table->searched[i]->median_ms;
  }
  if (n > 0) {
    qsort(times, n, sizeof *times, compare_doubles);
    int bins = (int)fmax(FEWEST_BINS, fmin(MOST_BINS, 2 * sqrt((double)n)));
    double low = times[0], width = log(times[n - 1] / low) / bins;
    for (int i = 0; i <= bins; i++) json_add(&edges, rounded_json(low * exp(width * i), DIGITS));
    for (int t = 0; t < table->template_count; t++) json_add(&counts, bins_json(table, t, bins, low, width));
  }
  json_put(&json, "count", json_integer((json_int_t)n));
  json_put(&json, "median_ms",
           rounded_json(n == 0  ? NAN
                        : n % 2 ? times[n / 2]
                                : (times[n / 2 - 1] + times[n / 2]) / 2,
                        DIGITS));
  json_put(&json, "edges_ms", edges);
  json_put(&json, "counts", counts);
  free(times);
  return json;
}

/* Make a list for each run: [number, at_s, best_ms] whenever the best time improved, and at the run's end. */
json_t *convergence_json(const struct variant_table *table) {
  json_t *list = json_array();
  for (int first = 0, end; first < table->improvement_count; first = end) {
    int64_t run = table->improvements[first].run;
    json_t *entry = json_object(), *points = json_array();
    for (end = first; end < table->improvement_count && table->improvements[end].run == run; end++) {
      const struct improvement *at = &table->improvements[end];
      json_t *point = json_array();
      json_add(&point, json_integer(at->number));
      json_add(&point, rounded_json(at->at_s, DIGITS));
      json_add(&point, rounded_json(at->best_ms, DIGITS));
      json_add(&points, point);
    }
    json_put(&entry, "run", json_integer(run));
    json_put(&entry, "points", points);
    json_add(&list, entry);
  }
  return list;
}
