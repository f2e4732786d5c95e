/* request.h: the subject of a report, as the caller requests it. */
#ifndef REPORTS_ROWS_REQUEST_H
#define REPORTS_ROWS_REQUEST_H

#include <stdbool.h>

struct access;
struct variant_spec;

/* Counts the memory accesses of variants, to replace the rules of thumb of their templates. */
struct report_counter {
  /* Replace those figures of a variant that can be counted.
   *   source_hash  the identity of its source, from the database
   * Returns false if the variant could not be counted; the figures then do not change. */
  bool (*count)(void *context, const struct variant_spec *spec, const char *source_hash, struct access *access);
  void *context;
};

/* The texts are only read during a call. */
struct report_request {
  const char *database;  /* the file's path, as the report shows it */
  const char *stencil;   /* a stencil's name; NULL: all */
  bool is_of_file;       /* the name comes from a file, so no other name is suggested if the database lacks it */
  const char *device;    /* a GPU's UUID, or a part of its name in any case; NULL: all */
  const char *generated; /* the date that the report shows */
  /* the most variants in the document; if the database has more, each problem shows a selection; 0: the default */
  int most_variants;
  /* counts accesses of winners and finalists; NULL: all figures are rules of thumb */
  const struct report_counter *counter;
};

enum { REPORT_MOST_VARIANTS = 100000 };

#endif
