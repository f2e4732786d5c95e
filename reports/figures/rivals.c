/* rivals.c: chooses the variants with which the winner is compared. */
#include "reports/figures/rivals.h"

#include <math.h>
#include <string.h>

enum { TIME_DIGITS = 7 };

/* The growing list, and the variant with which all others are compared. */
struct rivals {
  const struct variant_table *table;
  const struct definitions *definitions;
  const json_t *finalists; /* finalists of the winner's run; NULL without a winner */
  int64_t first;           /* the winner, or the fastest variant; 0 while the list is empty */
  const char *first_template;
  double first_final_ms; /* NAN if there is no winner */
  json_t *list;
};

static const json_t *finalist_of(const struct rivals *rivals, int64_t variant) {
  size_t i;
  json_t *finalist;
  json_array_foreach(rivals->finalists, i, finalist) {
    if (member_whole(finalist, "variant") == variant) return finalist;
  }
  return NULL;
}

static bool is_listed(const struct rivals *rivals, int64_t variant) {
  size_t i;
  json_t *entry;
  json_array_foreach(rivals->list, i, entry) {
    if (member_whole(entry, "variant") == variant) return true;
  }
  return false;
}

/* Find the timed result of a variant in a run. If `run` is 0, find the newest in any run: of this user, if there is
 * one. */
static const struct variant_row *timed_row(const struct variant_table *table, int64_t variant, int64_t run) {
  const struct variant_row *found = NULL;
  for (int i = 0; i < table->count; i++) {
    const struct variant_row *row = &table->rows[i];
    bool fits = row->variant == variant && row->median_ms > 0 && (run == 0 || row->run == run);
    const bool is_better =
        !found || row->is_own > found->is_own || (row->is_own == found->is_own && row->run > found->run);
    if (fits && is_better) found = row;
  }
  return found;
}

/* Find results of both variants in the newest run that timed both, of this user if there is one; else the newest result
 * of each. NULL for a variant without a time. */
static void pair_rows(const struct variant_table *table, int64_t variant, int64_t first, const struct variant_row **row,
                      const struct variant_row **first_row) {
  *row = timed_row(table, variant, 0);
  *first_row = timed_row(table, first, 0);
  if (!*row || !*first_row || (*row)->run == (*first_row)->run) return;
  const struct variant_row *found = NULL, *found_first = NULL;
  for (int i = table->searches.count - 1; i >= 0 && !(found && found->is_own); i--) {
    int64_t run = table->searches.list[i].run;
    const struct variant_row *a = timed_row(table, variant, run), *b = timed_row(table, first, run);
    if (a && b && (!found || a->is_own)) found = a, found_first = b;
  }
  if (found) *row = found, *first_row = found_first;
}

static void put_final(json_t **entry, const struct rivals *rivals, const json_t *finalist) {
  json_put(entry, "phase", json_string("final"));
  json_put(entry, "run", json_integer(member_whole(finalist, "run")));
  json_put(entry, "first_run", json_integer(member_whole(finalist, "run")));
  json_put(entry, "time_ms", number_json(member_number(finalist, "median_ms")));
  json_put(entry, "first_ms", number_json(rivals->first_final_ms));
  json_put(entry, "ratio", number_json(member_number(finalist, "ratio")));
  json_put(entry, "ratio_low", number_json(member_number(finalist, "ratio_low")));
  json_put(entry, "ratio_high", number_json(member_number(finalist, "ratio_high")));
}

static void put_search(json_t **entry, const struct rivals *rivals, int64_t variant) {
  const struct variant_row *row, *first;
  pair_rows(rivals->table, variant, rivals->first, &row, &first);
  bool has_both = row && first;
  json_put(entry, "phase", json_string("search"));
  json_put(entry, "run", row ? json_integer(row->run) : json_null());
  json_put(entry, "first_run", first ? json_integer(first->run) : json_null());
  json_put(entry, "time_ms", row ? rounded_json(row->median_ms, TIME_DIGITS) : json_null());
  json_put(entry, "first_ms", first ? rounded_json(first->median_ms, TIME_DIGITS) : json_null());
  json_put(entry, "ratio", has_both ? rounded_json(row->median_ms / first->median_ms, TIME_DIGITS) : json_null());
  json_put(entry, "ratio_low", json_null());
  json_put(entry, "ratio_high", json_null());
}

static void rivals_add(struct rivals *rivals, const char *role, int64_t variant, const char *template) {
  if (is_listed(rivals, variant)) return;
  const json_t *finalist = finalist_of(rivals, variant);
  json_t *entry = json_object();
  json_put(&entry, "role", json_string(role));
  json_put(&entry, "variant", json_integer(variant));
  json_put(&entry, "template", text_json(template));
  if (finalist) put_final(&entry, rivals, finalist);
  else put_search(&entry, rivals, variant);
  json_add(&rivals->list, entry);
}

/* Add the winner. A winner that was imported without its final rounds has a time, but no other time to compare it
 * with. */
static void add_winner(struct rivals *rivals, const json_t *winner) {
  rivals->first = member_whole(winner, "variant");
  rivals->first_template = member_text(winner, "template_name");
  rivals->first_final_ms = member_number(winner, "time_ms");
  json_t *entry = json_object();
  json_put(&entry, "role", json_string("winner"));
  json_put(&entry, "variant", json_integer(rivals->first));
  json_put(&entry, "template", text_json(rivals->first_template));
  json_put(&entry, "phase", json_string("final"));
  json_put(&entry, "run", json_incref(json_object_get(winner, "run")));
  json_put(&entry, "first_run", json_incref(json_object_get(winner, "run")));
  json_put(&entry, "time_ms", number_json(rivals->first_final_ms));
  json_put(&entry, "first_ms", number_json(rivals->first_final_ms));
  json_put(&entry, "ratio", number_json(1));
  json_put(&entry, "ratio_low", json_null());
  json_put(&entry, "ratio_high", json_null());
  json_add(&rivals->list, entry);
}

static const char *template_name(const struct rivals *rivals, int template) {
  const struct known_template *known = definitions_template(rivals->definitions, rivals->table->templates[template].id);
  return known ? known->name : "";
}

/* Find the fastest result of a template, or of all templates if `template` is negative. */
static const struct variant_row *fastest_row(const struct variant_table *table, int template) {
  const struct variant_row *found = NULL;
  for (int i = 0; i < table->order_count; i++) {
    const struct variant_row *row = table->order[i];
    bool fits = row->median_ms > 0 && (template <0 || row->template == template);
    if (fits && (!found || row->median_ms < found->median_ms)) found = row;
  }
  return found;
}

/* Find the first finalist of a template in the order of ranks. The default is skipped, because it runs in the final
 * rounds however slow it is. */
static const json_t *best_finalist(const struct rivals *rivals, const char *template) {
  size_t i;
  json_t *finalist;
  json_array_foreach(rivals->finalists, i, finalist) {
    bool is_default = json_is_true(json_object_get(finalist, "is_default"));
    if (!is_default && strcmp(member_text(finalist, "template"), template) == 0) return finalist;
  }
  return NULL;
}

/* Add the best variant of each other template. Final times are more accurate than those of the search, so they count
 * first. */
static void add_best_of_templates(struct rivals *rivals) {
  size_t i;
  json_t *finalist;
  for (int t = 0; t < rivals->table->template_count; t++) {
    const char *name = template_name(rivals, t);
    const struct variant_row *row = fastest_row(rivals->table, t);
    const json_t *best = best_finalist(rivals, name);
    if (strcmp(name, rivals->first_template) == 0) continue;
    if (best) rivals_add(rivals, "best_of_template", member_whole(best, "variant"), name);
    else if (row) rivals_add(rivals, "best_of_template", row->variant, name);
  }
  json_array_foreach(rivals->finalists, i, finalist) { /* templates that have no result in the search */
    const char *name = member_text(finalist, "template");
    if (strcmp(name, rivals->first_template) == 0 || best_finalist(rivals, name) != finalist) continue;
    rivals_add(rivals, "best_of_template", member_whole(finalist, "variant"), name);
  }
}

static void add_finalists(struct rivals *rivals, const char *role, bool (*fits)(const json_t *finalist)) {
  size_t i;
  json_t *finalist;
  json_array_foreach(rivals->finalists, i, finalist) {
    if (fits(finalist)) {
      rivals_add(rivals, role, member_whole(finalist, "variant"), member_text(finalist, "template"));
    }
  }
}

static bool is_second(const json_t *finalist) { return member_whole(finalist, "rank") == 2; }
static bool is_default(const json_t *finalist) { return json_is_true(json_object_get(finalist, "is_default")); }

json_t *rivals_json(const struct variant_table *table, const struct definitions *definitions, const json_t *winner,
                    const json_t *finalists) {
  struct rivals rivals = {.table = table,
                          .definitions = definitions,
                          .finalists = json_is_object(winner) ? finalists : NULL,
                          .first_template = "",
                          .first_final_ms = NAN,
                          .list = json_array()};
  const struct variant_row *fastest = fastest_row(table, -1);
  if (json_is_object(winner)) {
    add_winner(&rivals, winner);
  } else if (fastest) {
    rivals.first = fastest->variant;
    rivals.first_template = template_name(&rivals, fastest->template);
    rivals_add(&rivals, "fastest", fastest->variant, rivals.first_template);
  } else {
    return rivals.list;
  }
  add_finalists(&rivals, "runner_up", is_second);
  add_best_of_templates(&rivals);
  add_finalists(&rivals, "default", is_default);
  return rivals.list;
}
