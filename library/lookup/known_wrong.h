/* known_wrong.h: configurations that one database of a catalog knows to be wrong, so that no row of another serves
 * them. */
#ifndef LIBRARY_LOOKUP_KNOWN_WRONG_H
#define LIBRARY_LOOKUP_KNOWN_WRONG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "stencil/file/stencil.h"

struct catalog;
struct served;

/* A configuration on the problem where it is wrong, in whatever mode. Numbers are places in the catalog. */
struct refuted {
  uint32_t n[MAX_DIMS];
  int stencil, model, template_at;
  unsigned char dtype;
  const char *parameters; /* that text of the catalog's `texts`, so that places are compared, not letters */
  const char *date;       /* of the verdict */
};

/* Start with {0}, end with refuted_free. In order once the catalog is finished. */
struct refuted_list {
  struct refuted *list;
  int count, room;
};

/* Add one. HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status refuted_add(struct refuted_list *list, const struct refuted *refuted);

/* After the last one: put them in order. */
void refuted_finish(struct refuted_list *list);

/* The date of the newest verdict against a configuration on a problem; NULL where there is none. `date` of the question
 * is not read. */
const char *refuted_find(const struct refuted_list *list, const struct refuted *question);

/* How many configurations are known to be wrong on a problem. `template_at`, `parameters` and `date` of the question are not read. */
long refuted_count(const struct refuted_list *list, const struct refuted *question);

/* Whether what a row would serve was found to be wrong after the row was measured. */
bool refuted_row(const struct refuted_list *list, const struct served *row);

void refuted_free(struct refuted_list *list);

#endif
