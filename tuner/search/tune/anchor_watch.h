/* anchor_watch.h: watches the GPU during a search: which variant is the anchor (anchor.h), and which one takes its
 * place. */
#ifndef SEARCH_TUNE_ANCHOR_WATCH_H
#define SEARCH_TUNE_ANCHOR_WATCH_H

#include "tuner/measure/sampling/anchor.h"
#include "tuner/search/tune/search_inputs.h"

enum {
  SLOT_ANCHOR = 0, /* a slot of the backend */
  /* At most so many variants are the anchor in the default's place, one after the other. Each was right and timed
   * before. A variant that is too slow for an anchor gives way to one that is five times as fast, so a few are
   * enough. */
  MOST_STAND_INS = 8
};

struct watch {
  struct anchor *anchor;   /* readings of the anchor so far; NULL: there was no anchor yet */
  bool is_blind;           /* no variant is loaded as the anchor now */
  double begin_ms;         /* when the watch began, on the schedule's clock */
  double default_ms;       /* time of the default variant as the anchor at the start; NaN if it was not the anchor */
  bool has_default_failed; /* it did not work as the anchor */
  struct trial *stand_in;  /* the variant that is loaded in the default's place; NULL: the default, or nothing */
  int64_t stand_ins[MOST_STAND_INS]; /* the variants that took its place so far */
  int stand_in_count;
  bool is_stand_in_called; /* the next stand-in is with the compilers */
};

/* Whether the default variant is too slow for an anchor. */
bool watch_is_default_slow(const struct search_inputs *in);

/* Load the default variant as the anchor. A slow default is not an anchor before it is known that nothing is faster.
 * Earlier results are not adjusted by the time of a slow default, which may be that of a single cold sample.
 * Returns HALOTUNE_OK, also without an anchor; else what the backend returns. watch_close(out) is right then. */
halotune_status watch_open(const struct search_inputs *in, struct watch *out);

/* How slow the GPU is now; 1 without an anchor. */
double watch_scale(const struct watch *watch);

/* Whether a reading has to be taken before the next variant is measured. */
bool watch_is_due(const struct watch *watch);

/* Take a reading, if there is an anchor. If the anchor fails, the search goes on without it. */
halotune_status watch_read(struct watch *watch);

/* If the anchor is missing or too slow, begin a trial of the best variant to take its place.
 *   out  the caller's, to be compiled and given to watch_take; NULL for none
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status watch_call_stand_in(const struct search_inputs *in, struct watch *watch, struct trial **out);

/* Load a stand-in as the anchor. A failure here is not a result of the variant, which has one already. The watch is
 * blind then, since the former anchor is unloaded in any case.
 *   trial  of watch_call_stand_in, compiled or over; belongs to the watch from now on */
halotune_status watch_take(const struct search_inputs *in, struct watch *watch, struct trial *trial);

/* Unload the anchor. Returns the backend's status. */
halotune_status watch_close(const struct search_inputs *in, struct watch *watch);

#endif
