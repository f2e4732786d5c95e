/* known_wrong.c: keeps the verdicts in a sorted list, which is mostly empty. */
#include "library/lookup/known_wrong.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/memory/sorted.h"
#include "base/text/date.h"

static int compare_problems(const struct refuted *a, const struct refuted *b) {
  ORDER_BY(a->stencil, b->stencil);
  ORDER_BY(a->model, b->model);
  ORDER_BY(a->dtype, b->dtype);
  for (int axis = 0; axis < MAX_DIMS; axis++) ORDER_BY(a->n[axis], b->n[axis]);
  return 0;
}

/* Compare everything but name, giver and date. */
static int compare_refuted(const void *left, const void *right) {
  const struct refuted *a = left, *b = right;
  const int order = compare_problems(a, b);
  if (order != 0) return order;
  ORDER_BY(a->template_at, b->template_at);
  ORDER_BY((uintptr_t)a->parameters, (uintptr_t)b->parameters);
  return 0;
}

/* For equal configurations, names and givers the newest verdict comes first. */
static int compare_dates(const void *left, const void *right) {
  const struct refuted *a = left, *b = right;
  const int order = compare_refuted(left, right);
  if (order != 0) return order;
  ORDER_BY(a->named, b->named);
  ORDER_BY(a->is_own, b->is_own);
  return strcmp(b->date, a->date);
}

const char *date_decides(const char *now, const char *date) { return strcmp(date, now) > 0 ? "0" : date; }

void refuted_set_now(struct refuted_list *list) { date_now(list->now); }

halotune_status refuted_add(struct refuted_list *list, const struct refuted *refuted) {
  if (!array_room(list->list, list->count, list->room)) return fail_memory();
  list->list[list->count++] = *refuted;
  return HALOTUNE_OK;
}

void refuted_finish(struct refuted_list *list) {
  int kept = 0;
  if (list->count > 1) qsort(list->list, (size_t)list->count, sizeof *list->list, compare_dates);
  for (int i = 0; i < list->count; i++) {
    struct refuted *newest = kept > 0 ? &list->list[kept - 1] : NULL;
    const bool is_same = newest && newest->named == list->list[i].named && newest->is_own == list->list[i].is_own &&
                         compare_refuted(newest, &list->list[i]) == 0;
    if (!is_same) {
      list->list[kept++] = list->list[i];
      continue;
    }
    if (list->list[i].first < newest->first) newest->first = list->list[i].first;
    if (list->list[i].last > newest->last) newest->last = list->list[i].last;
  }
  list->count = kept;
}

/* The first verdict against a configuration; NULL if there is none. */
static const struct refuted *first_refuted(const struct refuted_list *list, const struct refuted *question) {
  if (list->count == 0) return NULL;
  const struct refuted *found = bsearch(question, list->list, (size_t)list->count, sizeof *list->list, compare_refuted);
  while (found && found > list->list && compare_refuted(found - 1, question) == 0) found--;
  return found;
}

/* The verdict behind this one against the same configuration, of another name or giver; NULL if there is none. */
static const struct refuted *next_refuted(const struct refuted_list *list, const struct refuted *at) {
  const struct refuted *next = at + 1;
  return next < list->list + list->count && compare_refuted(at, next) == 0 ? next : NULL;
}

/* Whether the files of two names disagree about a row: its own file is as good as the other one. */
static bool is_dispute(const struct refuted *verdict, const struct refuted *row) {
  return verdict->is_own && verdict->named != row->named && (row->is_own || row->is_shipped);
}

/* Whether a verdict counts in a lookup. One under the name that is asked for always does. */
static bool counts_for(const struct refuted *verdict, const struct refuted *question) {
  return verdict->named == question->asked || !is_dispute(verdict, question);
}

bool refuted_has(const struct refuted_list *list, const struct refuted *question) {
  for (const struct refuted *at = first_refuted(list, question); at; at = next_refuted(list, at)) {
    if (counts_for(at, question)) return true;
  }
  return false;
}

long refuted_count(const struct refuted_list *list, const struct refuted *question) {
  long count = 0;
  bool is_counted = false; /* the configuration of this verdict */
  for (int i = 0; i < list->count; i++) {
    if (i == 0 || compare_refuted(&list->list[i - 1], &list->list[i]) != 0) is_counted = false;
    if (is_counted || compare_problems(&list->list[i], question) != 0 || !counts_for(&list->list[i], question))
      continue;
    is_counted = true;
    count++;
  }
  return count;
}

enum row_state refuted_row(const struct refuted_list *list, const struct refuted *question, bool is_any) {
  const char *date = date_decides(list->now, question->date);
  enum row_state state = ROW_HOLDS;
  for (const struct refuted *at = first_refuted(list, question); at; at = next_refuted(list, at)) {
    const bool is_elsewhere = at->first != question->first || at->last != question->last;
    if (is_dispute(at, question)) {
      state = ROW_IS_DISPUTED;
      continue;
    }
    if (is_any || strcmp(at->date, date) >= 0) return ROW_IS_WRONG;
    if (!question->is_own && (at->named != question->named || is_elsewhere)) return ROW_IS_WRONG;
  }
  return state;
}

void refuted_free(struct refuted_list *list) {
  free(list->list);
  *list = (struct refuted_list){0};
}
