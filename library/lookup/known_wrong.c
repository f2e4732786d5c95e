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

/* Compare everything but the date. */
static int compare_refuted(const void *left, const void *right) {
  const struct refuted *a = left, *b = right;
  const int order = compare_problems(a, b);
  if (order != 0) return order;
  ORDER_BY(a->template_at, b->template_at);
  ORDER_BY((uintptr_t)a->parameters, (uintptr_t)b->parameters);
  return 0;
}

/* For equal configurations the newest verdict comes first. */
static int compare_dates(const void *left, const void *right) {
  int order = compare_refuted(left, right);
  return order != 0 ? order : strcmp(((const struct refuted *)right)->date, ((const struct refuted *)left)->date);
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
    if (!newest || compare_refuted(newest, &list->list[i]) != 0) {
      list->list[kept++] = list->list[i];
      continue;
    }
    if (list->list[i].first < newest->first) newest->first = list->list[i].first;
    if (list->list[i].last > newest->last) newest->last = list->list[i].last;
  }
  list->count = kept;
}

static const struct refuted *find_refuted(const struct refuted_list *list, const struct refuted *question) {
  if (list->count == 0) return NULL;
  return bsearch(question, list->list, (size_t)list->count, sizeof *list->list, compare_refuted);
}

const char *refuted_find(const struct refuted_list *list, const struct refuted *question) {
  const struct refuted *found = find_refuted(list, question);
  return found ? found->date : NULL;
}

long refuted_count(const struct refuted_list *list, const struct refuted *question) {
  long count = 0;
  for (int i = 0; i < list->count; i++) count += compare_problems(&list->list[i], question) == 0;
  return count;
}

bool refuted_since(const struct refuted_list *list, const struct refuted *question) {
  const char *date = refuted_find(list, question);
  return date && strcmp(date, date_decides(list->now, question->date)) >= 0;
}

bool refuted_elsewhere(const struct refuted_list *list, const struct refuted *question) {
  const struct refuted *found = find_refuted(list, question);
  return found && (found->first != question->first || found->last != question->last);
}

void refuted_free(struct refuted_list *list) {
  free(list->list);
  *list = (struct refuted_list){0};
}
