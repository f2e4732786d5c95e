/* merge_options.h: the options of a merge, and what it reports. */
#ifndef DB_EXCHANGE_MERGE_OPTIONS_H
#define DB_EXCHANGE_MERGE_OPTIONS_H

#include "db/exchange/find_template.h"
#include "db/store/store.h"

/* Two databases have different current bests of one problem. Valid during the call of conflict(). */
struct merge_conflict {
  const char *stencil, *dtype, *device, *launch, *cache;
  struct grid grid;
  int steps; /* time steps of a launch */
  double ours_ms, theirs_ms;
  bool is_taken;   /* the best of the other database is current now */
  const char *why; /* "newer, measured with the same driver and NVRTC" */
};

/* Where rows come from: the columns of the table `origin`. */
struct origin {
  const char *kind;     /* "imported" or "shipped" */
  const char *name;     /* name of the file; one printable line */
  const char *signer;   /* the name that the user gave to the key that signed the document, or "" */
  const char *key;      /* that public key in hexadecimal digits, or "" */
  const char *document; /* the document's identity in hexadecimal digits, or "" */
};

/* Rows that were there before, from another signer. Valid during the call of met(), which is called once for each
 * signer. */
struct merge_met {
  const char *signer; /* the name; "": documents without a signature */
  long rows;          /* runs, bests and coefficients that both gave: they stay that signer's */
  long varying;       /* GPUs and templates that both gave, with other content: that signer's stays (varying_rows.h) */
};

struct merge_options {
  struct origin origin; /* origin of the rows that the merge adds */
  bool without_code;    /* take no machine code: it is compiled when it is first needed */
  void (*conflict)(void *context, const struct merge_conflict *conflict); /* NULL: conflicts are not told */
  void (*met)(void *context, const struct merge_met *met);                /* NULL: rows of other signers are not told */
  void *context;
  find_template *find; /* finds installed templates, whose text goes before another of the same identity; NULL: none */
};

struct merge_counts {
  long runs, measurements, bests; /* rows that were not there before */
  long taken, kept;               /* conflicts that the other database's best has won, and those that ours has won */
  long retired;                   /* our bests that are no longer served, because the other database knows that they are
                                     wrong */
  long refuted;                   /* bests of the other database that are not served, because they are known to be
                                     wrong */
  long left;                      /* coefficients of the other database that are not taken, because ours come from
                                     another fit */
  long foreign;                   /* results and bests of the other database that are not taken, because ours has
                                     their run from someone else, or they end a run before its wrong verdict */
  long future;                    /* runs and results of the other database that are not taken, because they lie in the
                                     future of this machine's clock */
};

#endif
