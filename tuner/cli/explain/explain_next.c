/* explain_next.c: derives from the database what to try next. */
#include <math.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/file/stencil.h"
#include "tuner/cli/explain/explain_choice.h"
#include "tuner/cli/explain/explain_text.h"

enum { FEW_VARIANTS = 300, MOST_HINTS = 4 };

/* The hints so far, one on a line. */
struct hints {
  const struct explained *e;
  struct text *text;
  int count;
};

/* Begin a hint. Returns false if there are enough. */
static bool begin_hint(struct hints *hints) {
  if (hints->count == MOST_HINTS) return false;
  text_printf(hints->text, "%s", hints->count++ == 0 ? "try next    " : "            ");
  return true;
}

void explain_grid(const struct explained *e, struct text *text) {
  static const char *const axes[MAX_DIMS] = {"nx", "ny", "nz"};
  const int dims = (int)member_whole(e->stencil, "dims");
  for (int i = 0; i < dims && i < MAX_DIMS; i++)
    text_printf(text, "%s%lld", i ? "x" : "", (long long)member_whole(e->problem, axes[i]));
}

/* Append "halotune tune star7 --dtype f32 --grid 512x512x512", with the mode if it is not the usual one, and the
 * database if the user named one. Each text of the database is one word of the shell: who copies the command executes
 * it.
 *   steps  time steps of a launch; 1 is the usual number */
static void add_command(const struct explained *e, int steps, struct text *text) {
  text_printf(text, "halotune tune ");
  text_shell_path(text, e->typed);
  text_printf(text, " --dtype ");
  text_shell_word(text, member_text(e->problem, "dtype"));
  text_printf(text, " --grid ");
  explain_grid(e, text);
  if (strcmp(member_text(e->problem, "cache"), "steady") != 0) {
    text_printf(text, " --cache ");
    text_shell_word(text, member_text(e->problem, "cache"));
  }
  if (json_is_true(json_object_get(e->problem, "is_reproducible"))) text_printf(text, " --reproducible");
  if (steps > 1) text_printf(text, " --steps %d", steps);
  if (json_is_true(json_object_get(e->device, "is_emulation"))) text_printf(text, " --backend host");
  if (!e->named) return;
  text_printf(text, " --db ");
  text_shell_word(text, e->named);
}

/* Suggest a longer search if the search was cut short, tried little, or found its best near its end. */
static void hint_longer(struct hints *hints) {
  const struct explained *e = hints->e;
  const double budget_s = e->run ? member_number(e->run, "budget_s") : NAN;
  const bool is_partial = e->run && strcmp(member_text(e->run, "state"), "complete") != 0;
  const json_t *of_run = NULL;
  size_t i;
  json_t *entry;
  json_array_foreach(json_object_get(e->problem, "convergence"), i, entry) {
    if (e->run && member_whole(entry, "run") == member_whole(e->run, "id")) of_run = json_object_get(entry, "points");
  }
  /* the last point is the end of the run, the one before it the last improvement */
  const size_t points = json_array_size(of_run);
  const json_t *end = points > 1 ? json_array_get(of_run, points - 1) : NULL;
  const json_t *improved = points > 1 ? json_array_get(of_run, points - 2) : NULL;
  const double tried = json_number_value(json_array_get(end, 0)), at = json_number_value(json_array_get(improved, 0));
  const bool is_late = end && at > 0.8 * tried;
  if (!is_partial && !is_late && !(end && tried < FEW_VARIANTS)) return;
  if (!begin_hint(hints)) return;
  if (is_partial) text_printf(hints->text, "the search ended early (%s)", member_text(e->run, "reason"));
  else if (is_late) text_printf(hints->text, "the search found its best as number %.0f of %.0f", at, tried);
  else text_printf(hints->text, "the search tried only %.0f variants", tried);
  text_printf(hints->text, ": search longer, ");
  add_command(e, e->steps, hints->text);
  if (budget_s > 0) text_printf(hints->text, " --budget %.0fs", 3 * budget_s);
  text_printf(hints->text, "\n");
}

/* Whether another problem differs from the explained one in its number of time steps alone. The GPU may be another one
 * of the same model, whose results a lookup takes, too. */
static bool differs_in_steps(const struct explained *e, const json_t *problem) {
  static const char *const wholes[] = {"nx", "ny", "nz"}, *const texts[] = {"dtype", "launch", "cache"};
  const json_t *device = row_with_id(json_object_get(e->document, "devices"), member_whole(problem, "device"));
  bool is_same = json_is_true(json_object_get(problem, "is_reproducible")) ==
                     json_is_true(json_object_get(e->problem, "is_reproducible")) &&
                 strcmp(member_text(device, "name"), member_text(e->device, "name")) == 0;
  for (size_t i = 0; i < COUNT(wholes); i++)
    is_same = is_same && member_whole(problem, wholes[i]) == member_whole(e->problem, wholes[i]);
  for (size_t i = 0; i < COUNT(texts); i++)
    is_same = is_same && strcmp(member_text(problem, texts[i]), member_text(e->problem, texts[i])) == 0;
  return is_same && member_whole(problem, "steps") != member_whole(e->problem, "steps");
}

/* Suggest another number of time steps of a launch if it is faster in the database or was not tried. */
static void hint_steps(struct hints *hints) {
  const struct explained *e = hints->e;
  const double own_ms = member_number(e->winner, "time_ms") / e->steps;
  const json_t *best = NULL;
  double best_ms = own_ms;
  bool any = false;
  size_t i;
  json_t *problem;
  const bool can_iterate = json_is_object(json_object_get(e->stencil, "unknown_bytes_per_point"));
  if (!can_iterate || !e->has_roof) return;
  json_array_foreach(json_object_get(e->document, "problems"), i, problem) {
    const double time_ms = member_number(json_object_get(problem, "winner"), "time_ms");
    const double steps = member_number(problem, "steps");
    if (!isfinite(time_ms) || !differs_in_steps(e, problem)) continue;
    any = any || steps > 1;
    if (time_ms / steps < best_ms) best = problem, best_ms = time_ms / steps;
  }
  if (best && begin_hint(hints)) {
    text_printf(hints->text,
                "%lld steps a launch take %.5g ms a step, %.2f times as fast: explain and query know --steps %lld\n",
                (long long)member_whole(best, "steps"), best_ms, own_ms / best_ms,
                (long long)member_whole(best, "steps"));
  } else if (!any && e->steps == 1 && begin_hint(hints)) {
    const double left = 1 - member_number(e->winner, "roof_ratio");
    if (left > 0 && left < 0.2)
      text_printf(hints->text, "one step a launch is within %.1f %% of the fastest copy; ", 100 * left);
    text_printf(hints->text, "several time steps in a launch: the database has no such result for this grid: ");
    add_command(e, 4, hints->text);
    text_printf(hints->text, "\n");
  }
}

/* Suggest larger values of a numeric parameter that matters and whose best value is the largest that the template
 * offers. */
static void hint_ends(struct hints *hints) {
  const struct explained *e = hints->e;
  int listed = 0;
  for (int i = 0; e->template && i < e->template->parameter_count; i++) {
    const struct parameter *parameter = &e->template->parameters[i];
    const char *own = pair_value(json_object_get(e->winner, "parameters"), parameter->name), *before = NULL;
    double value = NAN, below = -INFINITY;
    bool is_largest = !parameter->is_word && parameter->value_count > 2;
    for (int v = 0; v < parameter->value_count; v++) {
      if (strcmp(parameter->words[v], own) == 0) value = parameter->values[v];
    }
    for (int v = 0; v < parameter->value_count; v++) {
      is_largest = is_largest && parameter->values[v] <= value;
      if (parameter->values[v] < value && parameter->values[v] > below)
        below = parameter->values[v], before = parameter->words[v];
    }
    if (!is_largest || !before) continue;
    const double loss =
        best_with_value(e, parameter->name, before, NULL) / best_with_value(e, parameter->name, own, NULL);
    if (!(loss > 1.01)) continue;
    if (listed == 0 && !begin_hint(hints)) return;
    text_printf(hints->text, "%s%s=%s is the largest that %s offers, and %s costs %.1f %%", listed++ ? "; " : "",
                parameter->name, own, e->template->name, before, 100 * (loss - 1));
  }
  if (listed > 0) text_printf(hints->text, ": more values in the template\n");
}

static void hint_launch(struct hints *hints) {
  const struct explained *e = hints->e;
  const double share = member_number(e->winner, "empty_ms") / member_number(e->winner, "time_ms");
  if (!(share > 0.2) || !e->has_roof || !begin_hint(hints)) return;
  const bool is_stream = strcmp(member_text(e->problem, "launch"), "stream") == 0;
  text_printf(hints->text, "launches take %.0f %% of the time%s\n", fmin(100, 100 * share),
              is_stream ? ": --launch graph" : ", in a graph: a larger grid, or more steps a launch");
}

static void hint_emulation(struct hints *hints) {
  if (hints->e->has_roof || !begin_hint(hints)) return;
  text_printf(hints->text, "a GPU: ");
  add_command(hints->e, hints->e->steps, hints->text);
  text_printf(hints->text, "\n");
}

static void hint_nothing(struct hints *hints) {
  const struct explained *e = hints->e;
  const bool is_fused = e->steps > 1; /* a copy is not a roof of several steps */
  const double share = is_fused ? member_number(json_object_get(e->winner, "step_roof"), "share")
                                : member_number(e->winner, "roof_ratio");
  if (hints->count > 0 || !begin_hint(hints)) return;
  if (share >= 0.9 && is_fused) text_printf(hints->text, "nothing: it has %.2f of the roof of its steps\n", share);
  else if (share >= 0.9995) text_printf(hints->text, "nothing: it is as fast as the fastest copy\n");
  else if (share >= 0.9)
    text_printf(hints->text, "nothing: the fastest copy takes only %.1f %% less time\n", 100 * (1 - share));
  else text_printf(hints->text, "another template: the search has found what these offer\n");
}

void explain_next(const struct explained *e, struct text *text) {
  struct hints hints = {e, text, 0};
  hint_emulation(&hints);
  hint_longer(&hints);
  hint_steps(&hints);
  hint_launch(&hints);
  hint_ends(&hints);
  hint_nothing(&hints);
}
