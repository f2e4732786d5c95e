/* explain_text.c: writes what the database tells about a winner, as sentences with figures. */
#include "tuner/cli/explain/explain_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/file/stencil.h"

/* A loss below this part is within the noise of the search. */
#define SMALL_LOSS 0.005

const char *pair_value(const json_t *pairs, const char *name) {
  size_t i;
  json_t *pair;
  json_array_foreach(pairs, i, pair) {
    const char *key = json_string_value(json_array_get(pair, 0)), *value = json_string_value(json_array_get(pair, 1));
    if (key && value && strcmp(key, name) == 0) return value;
  }
  return "";
}

/* The position of a template in the problem's `templates`; -1 if the search did not try it. */
static int template_position(const struct explained *e, int64_t id) {
  size_t i;
  json_t *template;
  json_array_foreach(json_object_get(e->problem, "templates"), i, template) {
    if (member_whole(template, "id") == id) return (int)i;
  }
  return -1;
}

double best_with_value(const struct explained *e, const char *parameter, const char *value, const char **found) {
  const int position = template_position(e, member_whole(e->winner, "template"));
  const char *own = pair_value(json_object_get(e->winner, "parameters"), parameter);
  double best_ms = NAN;
  size_t i, k;
  json_t *effect, *entry;
  json_array_foreach(json_object_get(e->problem, "effects"), i, effect) {
    if (member_whole(effect, "template") != position || strcmp(member_text(effect, "parameter"), parameter) != 0)
      continue;
    json_array_foreach(json_object_get(effect, "values"), k, entry) {
      const char *word = member_text(entry, "value");
      const double time_ms = member_number(entry, "best_ms");
      if (value ? strcmp(word, value) != 0 : strcmp(word, own) == 0) continue;
      if (!(time_ms > 0) || best_ms <= time_ms) continue;
      best_ms = time_ms;
      if (found) *found = word;
    }
  }
  return best_ms;
}

/* Append "1.2 % slower", or "as fast" below a tenth of a percent. */
static void add_ratio(struct text *text, double ratio) {
  const double percent = 100 * (ratio - 1);
  if (fabs(percent) < 0.05) text_printf(text, "as fast");
  else if (ratio >= 2) text_printf(text, "%.3g times the time", ratio);
  else text_printf(text, "%.1f %% %s", fabs(percent), percent > 0 ? "slower" : "faster");
}

/* Append the values of a variant that differ from the defaults: "vector=4 block_x=32". */
static void add_configuration(struct text *text, const struct template *template, const json_t *parameters) {
  size_t i;
  json_t *pair;
  const size_t before = text->length;
  json_array_foreach(parameters, i, pair) {
    const char *name = json_string_value(json_array_get(pair, 0)), *value = json_string_value(json_array_get(pair, 1));
    const int at = template && name ? template_parameter(template, name, strlen(name)) : -1;
    if (!name || !value) continue;
    if (at >= 0 && strcmp(template->parameters[at].words[template->parameters[at].default_value], value) == 0) continue;
    text_printf(text, " %s=%s", name, value);
  }
  if (text->length == before) text_printf(text, " with its defaults");
}

static void add_won(const struct explained *e, struct text *text) {
  const double time_ms = member_number(e->winner, "time_ms"), low_ms = member_number(e->winner, "low_ms");
  const double default_ms = member_number(e->winner, "default_ms"), bytes = member_number(e->winner, "bytes");
  text_printf(text, "won         %s", member_text(e->winner, "template_name"));
  add_configuration(text, e->template, json_object_get(e->winner, "parameters"));
  if (e->is_stale)
    text_printf(text,
                "\nstale       the installed template %s has changed since; 'halotune db refresh' makes the winner "
                "current again if its code is the same, else tune it again",
                member_text(e->winner, "template_name"));
  text_printf(text, "\ntime        %.6g ms", time_ms);
  if (isfinite(low_ms)) text_printf(text, " (95 %%: %.6g to %.6g)", low_ms, member_number(e->winner, "high_ms"));
  if (e->steps > 1) text_printf(text, " for %d steps, %.5g ms a step", e->steps, time_ms / e->steps);
  if (e->has_roof) {
    text_printf(text, ": %.4g GStencil/s, %.0f GB/s", e->points * e->steps / time_ms * 1e-6, bytes / time_ms * 1e-6);
  } else {
    text_printf(text, " on the CPU, which says nothing about a GPU");
  }
  if (isfinite(default_ms)) text_printf(text, "; %.3g times as fast as the default variant", default_ms / time_ms);
  text_printf(text, "\n");
}

/* A resource, and the share of it that the winner is known to need at least. */
struct share {
  const char *name;
  double share; /* NAN: unknown */
};
enum { BYTES, ARITHMETIC, ISSUE, LAUNCH, SHARES };

/* Instructions of warps over those that the schedulers can issue in the time of the winner. Index arithmetic and stores
 * are not known, so this is a lower bound. */
static double issue_share(const struct explained *e) {
  enum { SCHEDULERS = 4 };
  const double warp_size = member_number(e->device, "warp_size"), time_ms = member_number(e->winner, "time_ms");
  double loads = member_number(json_object_get(e->winner, "figures"), "loads_per_point");
  if (!isfinite(loads)) loads = 0;
  const double each = member_number(e->stencil, "instructions_per_point") * e->steps + loads;
  return e->points * each / warp_size /
         (member_number(e->device, "sm_count") * SCHEDULERS * member_number(e->device, "clock_khz") * time_ms);
}

static void find_shares(const struct explained *e, struct share out[SHARES]) {
  const double time_ms = member_number(e->winner, "time_ms");
  const double peak_gflops = member_number(json_object_get(e->device, "peak_gflops"), member_text(e->problem, "dtype"));
  const double fused = 2 * member_number(e->stencil, "instructions_per_point") * e->points * e->steps;
  out[BYTES] = (struct share){"bytes", member_number(e->winner, "roof_ratio")};
  out[ARITHMETIC] = (struct share){"arithmetic", fused / time_ms * 1e-6 / peak_gflops};
  out[ISSUE] = (struct share){"instructions", issue_share(e)};
  out[LAUNCH] = (struct share){"the launch", member_number(e->winner, "empty_ms") / time_ms};
}

static void add_share(struct text *text, const struct share *share, int which) {
  static const char *const sentences[SHARES] = {
      [BYTES] = "it moves the bytes that it must at %.3f of the rate of the fastest copy",
      [ARITHMETIC] = "arithmetic alone takes at least %.2f of the peak rate",
      [ISSUE] = "instructions take at least %.2f of what the multiprocessors can issue",
      [LAUNCH] = "an empty launch takes %.2f of the time",
  };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  text_printf(text, sentences[which], share->share);
#pragma GCC diagnostic pop
}

/* Append what the winner's own figures say about halos and occupancy. */
static void add_figures(const struct explained *e, struct text *text) {
  const json_t *figures = json_object_get(e->winner, "figures");
  const double over_read = member_number(figures, "over_read"), loads = member_number(figures, "loads_per_point");
  const double conflicts = member_number(figures, "bank_conflicts"), time_ms = member_number(e->winner, "time_ms");
  const double read_bytes =
      member_number(json_object_get(e->stencil, "read_bytes_per_point"), member_text(e->problem, "dtype"));
  text_printf(text, "figures    ");
  if (isfinite(over_read)) {
    text_printf(text, " blocks read their inputs %.3g times", over_read);
    if (e->has_roof)
      text_printf(text, " (%.0f GB/s, halos from the L2 cache)", over_read * read_bytes * e->points / time_ms * 1e-6);
    text_printf(text, ",");
  }
  if (isfinite(loads)) text_printf(text, " %.3g loads a point,", loads);
  if (isfinite(conflicts) && conflicts > 1)
    text_printf(text, " bank conflicts repeat an access %.3g times,", conflicts);
  text_printf(text, " %lld registers, %lld bytes of shared memory, occupancy %.2f",
              (long long)member_whole(e->winner, "registers"), (long long)member_whole(e->winner, "shared_bytes"),
              member_number(e->winner, "occupancy"));
  if (isfinite(over_read) && !json_is_true(json_object_get(figures, "is_counted")))
    text_printf(text, " (reads and loads by the template's rules)");
  text_printf(text, "\n");
}

static void add_bound(const struct explained *e, struct text *text) {
  struct share shares[SHARES];
  int most = -1, listed = 0;
  if (!e->has_roof) {
    text_printf(text, "bound by    unknown: times of the emulation do not tell\n");
    add_figures(e, text);
    return;
  }
  find_shares(e, shares);
  for (int i = 0; i < SHARES; i++) {
    if (isfinite(shares[i].share) && (most < 0 || shares[i].share > shares[most].share)) most = i;
  }
  /* the copy waits for its launch, too, so that its rate does not tell of bytes */
  if (shares[LAUNCH].share > 0.25) most = LAUNCH;
  const bool is_bound = most == LAUNCH || (most >= 0 && shares[most].share >= 0.5);
  text_printf(text, "bound by    %s: ", is_bound ? shares[most].name : "latency");
  if (is_bound) add_share(text, &shares[most], most);
  else text_printf(text, "nothing is near its limit, so that warps wait");
  for (int i = 0; i < SHARES; i++) {
    if (!isfinite(shares[i].share) || (is_bound && i == most)) continue;
    text_printf(text, listed++ ? ", " : "; ");
    add_share(text, &shares[i], i);
  }
  text_printf(text, "\n");
  add_figures(e, text);
}

/* The position of a variant in the columns of the document; -1 if they do not have it. */
static long column_position(const struct explained *e, int64_t variant) {
  size_t i;
  json_t *id;
  json_array_foreach(json_object_get(json_object_get(e->problem, "variants"), "variant"), i, id) {
    if (json_integer_value(id) == variant) return (long)i;
  }
  return -1;
}

static double column_value(const struct explained *e, const char *column, long at) {
  const json_t *value = json_array_get(json_object_get(json_object_get(e->problem, "variants"), column), (size_t)at);
  return at >= 0 && json_is_number(value) ? json_number_value(value) : NAN;
}

/* Append how a finalist's figures differ from the winner's. */
static void add_figure_differences(const struct explained *e, const json_t *finalist, struct text *text) {
  const json_t *figures = json_object_get(finalist, "figures"), *own = json_object_get(e->winner, "figures");
  const long at = column_position(e, member_whole(finalist, "variant"));
  const struct {
    const char *what;
    double other, winner;
  } rows[] = {
      {"registers", column_value(e, "registers", at), member_number(e->winner, "registers")},
      {"spilled bytes", column_value(e, "spill_bytes", at), 0},
      {"bytes of shared memory", column_value(e, "shared_bytes", at), member_number(e->winner, "shared_bytes")},
      {"occupancy", column_value(e, "occupancy", at), member_number(e->winner, "occupancy")},
      {"loads a point", member_number(figures, "loads_per_point"), member_number(own, "loads_per_point")},
      {"times its inputs read", member_number(figures, "over_read"), member_number(own, "over_read")},
  };
  int listed = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!isfinite(rows[i].other) || !isfinite(rows[i].winner)) continue;
    if (fabs(rows[i].other - rows[i].winner) <= 0.005 * fabs(rows[i].winner)) continue;
    text_printf(text, "%s %.3g %s (winner: %.3g)", listed++ ? "," : "; it has", rows[i].other, rows[i].what,
                rows[i].winner);
  }
}

/* Append the parameters that differ from the winner's: "vector=4 (2), block_x=32 (64)". */
static int add_parameter_differences(const struct explained *e, const json_t *finalist, struct text *text) {
  const json_t *own = json_object_get(e->winner, "parameters");
  size_t i;
  json_t *pair;
  int listed = 0;
  json_array_foreach(json_object_get(finalist, "parameters"), i, pair) {
    const char *name = json_string_value(json_array_get(pair, 0)), *value = json_string_value(json_array_get(pair, 1));
    if (!name || !value || strcmp(pair_value(own, name), value) == 0) continue;
    text_printf(text, "%s%s=%s (winner: %s)", listed++ ? ", " : " with ", name, value, pair_value(own, name));
  }
  return listed;
}

static const json_t *finalist_of(const struct explained *e, int64_t variant) {
  size_t i;
  json_t *finalist;
  json_array_foreach(json_object_get(e->problem, "finalists"), i, finalist) {
    if (member_whole(finalist, "variant") == variant) return finalist;
  }
  return NULL;
}

static const json_t *rival_with_role(const struct explained *e, const char *role) {
  size_t i;
  json_t *rival;
  json_array_foreach(json_object_get(e->problem, "rivals"), i, rival) {
    if (strcmp(member_text(rival, "role"), role) == 0) return rival;
  }
  return NULL;
}

/* The newest template with this name; NULL if there is none. */
static const struct template *template_named(const struct explained *e, const char *name) {
  const struct template *found = NULL;
  for (int i = 0; i < e->definitions->template_count; i++) {
    if (strcmp(e->definitions->templates[i].name, name) == 0) found = e->definitions->templates[i].template;
  }
  return found;
}

static void add_runner_up(const struct explained *e, struct text *text) {
  const json_t *rival = rival_with_role(e, "runner_up");
  const json_t *finalist = rival ? finalist_of(e, member_whole(rival, "variant")) : NULL;
  if (!finalist) {
    text_printf(text, "runner-up   the database has none: its final rounds are gone, or had one variant\n");
    return;
  }
  const double low = member_number(rival, "ratio_low"), high = member_number(rival, "ratio_high");
  const bool is_same = strcmp(member_text(finalist, "template"), member_text(e->winner, "template_name")) == 0;
  text_printf(text, "runner-up   %s", member_text(finalist, "template"));
  if (is_same) add_parameter_differences(e, finalist, text);
  else
    add_configuration(text, template_named(e, member_text(finalist, "template")),
                      json_object_get(finalist, "parameters"));
  text_printf(text, ": ");
  add_ratio(text, member_number(rival, "ratio"));
  if (isfinite(low))
    text_printf(text, " in the same rounds (95 %%: %+.2f to %+.2f %%)", 100 * (low - 1), 100 * (high - 1));
  if (json_is_true(json_object_get(finalist, "is_tie")))
    text_printf(text, ", a tie, in which the default wins, then fewer registers, then less shared memory");
  add_figure_differences(e, finalist, text);
  text_printf(text, "\n");
}

static void add_templates(const struct explained *e, struct text *text) {
  size_t i;
  json_t *rival;
  int listed = 0;
  text_printf(text, "templates  ");
  json_array_foreach(json_object_get(e->problem, "rivals"), i, rival) {
    const double ratio = member_number(rival, "ratio");
    if (strcmp(member_text(rival, "template"), member_text(e->winner, "template_name")) == 0 || !isfinite(ratio))
      continue;
    if (strcmp(member_text(rival, "role"), "default") == 0) continue; /* it stands beside the time */
    text_printf(text, "%s %s ", listed++ ? "," : " the best of", member_text(rival, "template"));
    add_ratio(text, ratio);
    if (strcmp(member_text(rival, "phase"), "search") == 0) text_printf(text, " (in the search)");
  }
  text_printf(text, listed ? "\n" : " no other one has a time\n");
}

/* What the loss of a parameter's value is, for sorting. */
struct loss {
  const char *parameter, *value;
  double ratio; /* best time with another value, over the best with the winner's; NAN: no other value has a time */
};

static int by_ratio(const void *a, const void *b) {
  const double x = ((const struct loss *)a)->ratio, y = ((const struct loss *)b)->ratio;
  return x > y ? -1 : x < y;
}

static void add_parameters(const struct explained *e, struct text *text) {
  const json_t *parameters = json_object_get(e->winner, "parameters");
  struct loss losses[MAX_PARAMETERS];
  int count = 0, listed = 0, small = 0;
  size_t i;
  json_t *pair;
  if (!json_is_true(json_object_get(e->problem, "has_search"))) {
    text_printf(text, "parameters  unknown: the database holds the finalists of the search, not the search\n");
    return;
  }
  json_array_foreach(parameters, i, pair) {
    const char *name = json_string_value(json_array_get(pair, 0)), *value = json_string_value(json_array_get(pair, 1));
    if (!name || !value || count == MAX_PARAMETERS) continue;
    struct loss *loss = &losses[count];
    *loss = (struct loss){.parameter = name, .value = ""};
    loss->ratio = best_with_value(e, name, NULL, &loss->value) / best_with_value(e, name, value, NULL);
    count += isfinite(loss->ratio);
  }
  qsort(losses, (size_t)count, sizeof *losses, by_ratio);
  text_printf(text, "parameters ");
  for (int k = 0; k < count && losses[k].ratio - 1 >= SMALL_LOSS; k++) {
    text_printf(text, "%s %s=%s costs %.1f %%", listed++ ? "," : " the best other value of each:", losses[k].parameter,
                losses[k].value, 100 * (losses[k].ratio - 1));
  }
  for (int k = listed; k < count; k++)
    text_printf(text, "%s %s",
                small++  ? ","
                : listed ? "; less than 0.5 %:"
                         : " less than 0.5 %:",
                losses[k].parameter);
  text_printf(text, listed + small ? "\n" : " unknown: no other value has a time\n");
}

static void add_search(const struct explained *e, struct text *text) {
  json_t *outcomes = json_object_get(e->problem, "outcomes");
  const double space = e->run ? member_number(e->run, "space") : NAN;
  long long tried = 0, timed = 0;
  const char *name;
  json_t *value;
  json_object_foreach(outcomes, name, value) {
    tried += json_integer_value(value);
    if (strcmp(name, "measured") == 0 || strcmp(name, "screened") == 0) timed += json_integer_value(value);
  }
  text_printf(text, "search      ");
  if (tried > 0) {
    text_printf(text, "%lld variants tried, %lld right and timed, %lld failed or left out", tried, timed,
                tried - timed);
    if (isfinite(space)) text_printf(text, ", of %.4g that the rules keep", space);
  } else {
    text_printf(text, "unknown: the database does not hold what was tried");
  }
  text_printf(text, "; measured %.10s, driver %s, NVRTC %s\n", member_text(e->winner, "date"),
              member_text(e->winner, "driver"), member_text(e->winner, "nvrtc"));
}

void explain_write(const struct explained *e, struct text *text) {
  text_printf(text, "%s %s ", member_text(e->stencil, "name"), member_text(e->problem, "dtype"));
  explain_grid(e, text);
  text_printf(text, ", %s, %s%s, on %s\n", member_text(e->problem, "launch"), member_text(e->problem, "cache"),
              json_is_true(json_object_get(e->problem, "is_reproducible")) ? ", reproducible" : "",
              member_text(e->device, "name"));
  add_won(e, text);
  add_bound(e, text);
  add_runner_up(e, text);
  add_templates(e, text);
  add_parameters(e, text);
  add_search(e, text);
  explain_next(e, text);
}
