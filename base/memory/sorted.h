/* sorted.h: orders of values, for qsort. */
#ifndef BASE_SORTED_H
#define BASE_SORTED_H

/* The order of two doubles that are no NaN. */
static inline int compare_doubles(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* In a comparison of two things: return which comes first, if these members of both differ. The smaller one does. */
#define ORDER_BY(left, right)                                \
  do {                                                       \
    if ((left) != (right)) return (left) < (right) ? -1 : 1; \
  } while (0)

#endif
