/* request.h: what a report is about, as the caller asks for it. */
#ifndef REPORTS_ROWS_REQUEST_H
#define REPORTS_ROWS_REQUEST_H

/* The texts are only read during a call. */
struct report_request {
  const char *database;  /* the file's path, as the report shows it */
  const char *stencil;   /* a stencil's name; NULL: all */
  const char *device;    /* a GPU's UUID, or a part of its name in any case; NULL: all */
  const char *generated; /* the date that the report shows */
  /* the most variants in the document; if the database has more, each problem shows a selection; 0: the default */
  int most_variants;
};

enum { REPORT_MOST_VARIANTS = 100000 };

#endif
