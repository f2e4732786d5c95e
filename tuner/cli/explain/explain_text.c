/* explain_text.c: writes sentences with figures about a winner, from the database. */
#include "tuner/cli/explain/explain_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/file/stencil.h"
#include "stencil/template/space.h"

/* A loss below this part is within the noise of the search. */
#define SMALL_LOSS 0.005

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

/* Append the values of a variant that differ from the defaults: "vector=4 block_x=32". Returns whether none
 * differs. */
static bool add_configuration(struct text *text, const struct template *template, const json_t *parameters) {
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
  const bool has_defaults = text->length == before;
  if (has_defaults) text_printf(text, " with its defaults");
  return has_defaults;
}

static void add_won(const struct explained *e, struct text *text) {
  const double time_ms = member_number(e->winner, "time_ms"), low_ms = member_number(e->winner, "low_ms");
  const double default_ms = member_number(e->winner, "default_ms"), bytes = member_number(e->winner, "bytes");
  text_printf(text, "won         %s", member_text(e->winner, "template_name"));
  const bool has_defaults = add_configuration(text, e->template, json_object_get(e->winner, "parameters"));
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
  if (has_defaults) text_printf(text, "; it is the default variant");
  else if (isfinite(default_ms)) text_printf(text, "; %.3g times as fast as the default variant", default_ms / time_ms);
  text_printf(text, "\n");
}

/* Say what the winner was ranked by if that is not time, and its energy. */
static void add_energy(const struct explained *e, struct text *text) {
  const double energy_mj = member_number(e->winner, "energy_mj");
  const double idle_w = e->run ? member_number(e->run, "idle_w") : NAN;
  const double limit_w = e->run ? member_number(e->run, "power_limit_w") : NAN;
  if (!isfinite(energy_mj)) return;
  text_printf(text, "energy      %.5g mJ an application", energy_mj);
  if (isfinite(idle_w)) text_printf(text, "; the waiting GPU draws %.4g W", idle_w);
  if (isfinite(limit_w)) text_printf(text, "; power limit %.4g W", limit_w);
  text_printf(text, "; ranked by %s\n", member_text(e->winner, "objective"));
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

/* As many decimals as a figure of three digits or a whole number has. */
static int decimals_of(double figure) { return figure == floor(figure) ? 0 : figure < 10 ? 2 : 1; }

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
    text_printf(text, "%s %.*f %s (winner: %.*f)", listed++ ? "," : "; it has", decimals_of(rows[i].other),
                rows[i].other, rows[i].what, decimals_of(rows[i].winner), rows[i].winner);
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
    if (strcmp(member_text(rival, "role"), "default") == 0) continue; /* this figure stands beside the time */
    text_printf(text, "%s %s ", listed++ ? "," : " the best of", member_text(rival, "template"));
    add_ratio(text, ratio);
    const json_t *finalist = finalist_of(e, member_whole(rival, "variant"));
    if (strcmp(member_text(rival, "phase"), "search") == 0) text_printf(text, " (in the search)");
    else if (json_is_true(json_object_get(finalist, "is_tie"))) text_printf(text, " (a tie)");
  }
  text_printf(text, listed ? "\n" : " no other one has a time in the database\n");
}

/* The loss by a change of one parameter, for sorting. */
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
    text_printf(text, "%s %s=%s costs %.1f %%",
                listed++ ? "," : " the fastest variant with another value:", losses[k].parameter, losses[k].value,
                100 * (losses[k].ratio - 1));
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
  const char *driver = member_text(e->winner, "driver");
  char kept[SPACE_COUNT_BYTES];
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
    if (isfinite(space)) text_printf(text, ", of %s that the rules keep", space_count_text((long)space, kept));
  } else {
    text_printf(text, "unknown: the database does not hold the variants that were tried");
  }
  text_printf(text, "; measured %.10s, driver %s, NVRTC %s\n", member_text(e->winner, "date"),
              *driver ? driver : "none", member_text(e->winner, "nvrtc"));
}

void explain_write(const struct explained *e, struct text *text) {
  text_printf(text, "%s %s ", member_text(e->stencil, "name"), member_text(e->problem, "dtype"));
  explain_grid(e, text);
  text_printf(text, ", %s, %s%s, on %s\n", member_text(e->problem, "launch"), member_text(e->problem, "cache"),
              json_is_true(json_object_get(e->problem, "is_reproducible")) ? ", reproducible" : "",
              member_text(e->device, "name"));
  add_won(e, text);
  add_energy(e, text);
  explain_bound(e, text);
  add_runner_up(e, text);
  add_templates(e, text);
  add_parameters(e, text);
  add_search(e, text);
  explain_next(e, text);
}
