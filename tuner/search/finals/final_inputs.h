/* final_inputs.h: what the final phase of a run reads, what it changes, and what it gives. */
#ifndef SEARCH_FINALS_FINAL_INPUTS_H
#define SEARCH_FINALS_FINAL_INPUTS_H

#include "stencil/file/grid_text.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/search/roof/roof.h"
#include "tuner/search/run/crew.h"
#include "tuner/search/run/run_progress.h"
#include "tuner/search/run/run_rows.h"
#include "tuner/search/run/schedule.h"
#include "tuner/search/run/tally.h"
#include "tuner/search/variants/twins.h"

struct final_inputs {
  /* Read. */
  const struct task *task;
  const struct search_space *space;
  const struct schedule *schedule;
  const struct run_rows *rows; /* the run is in the store */
  const struct twins *twins;
  const struct roof_inputs *roof;
  double scale;     /* anchor_scale() at the end of the search */
  double memcpy_ms; /* time of the driver's copy before the search; NaN where it was not measured */
  uint64_t seed;
  enum objective objective; /* what ranks the finalists */
  bool fills;               /* the search ended by time: the finals use the rest of the time for more rounds */
  enum launch_mode launch;  /* the launch mode of the problem that is on the device */
  enum cache_mode cache;
  /* Changed. */
  struct backend_handle *backend; /* all slots are empty before and after */
  struct pipeline *pipeline;      /* empty before and after */
  const struct crew *crew;        /* runs the finalists as well; NULL for none */
  struct timed_list *timed;       /* gets sorted, and receives the newest outcomes */
  struct tally *tally;
  struct run_progress *progress;
};

/* The result of the phase. */
struct final_winner {
  bool exists;     /* false: the members below mean nothing, except `other_processes` */
  bool is_hinted;  /* it was a hint before it was measured (hints.h) */
  bool is_current; /* a lookup serves it from now on */
  char template_name[64];
  char parameters[1024]; /* "block_x=32 storage=planes" */
  /* the other grid on which it was verified: "509x251x499"; "" where its rules keep no such grid, or where the
   * compiler crashed or took too long there */
  char second_grid[GRID_TEXT_BYTES];
  /* points of an output at which other variants were compared, because the GPU has no memory for the whole reference;
   * the winner was compared at all. 0: all variants were */
  long long drawn_points;
  struct timing timing;                                                              /* without samples */
  double default_ms, roof_ms, roof_ratio, roof_ratio_low, roof_ratio_high, empty_ms; /* NaN where not measured */
  double energy_mj, energy_low_mj, energy_high_mj; /* energy of one application; NaN where not measured */
  double idle_w;                                   /* power of the GPU while nothing ran; NaN where not measured */
  int finalists, ties;
  int other_processes; /* processes that computed on the GPU when the finals began */
};

#endif
