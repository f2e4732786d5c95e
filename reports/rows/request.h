/* request.h: what a report is about. */
#ifndef REPORTS_ROWS_REQUEST_H
#define REPORTS_ROWS_REQUEST_H

/* Texts are only read during a call. */
struct report_request {
  const char *database;  /* the file's path, as the report shows it */
  const char *stencil;   /* a stencil's name; NULL: all */
  const char *device;    /* a GPU's UUID, or a part of its name in any case; NULL: all */
  const char *generated; /* the date that the report shows */
  int most_variants;     /* in the document. Where the database has more, each problem shows a choice. 0: the default */
};

enum { REPORT_MOST_VARIANTS = 100000 };

#endif
