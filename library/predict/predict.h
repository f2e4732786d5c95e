/* predict.h: the time of a variant on a grid and a GPU where nobody measured it, from its time where somebody did.
 *
 * The measured time is multiplied by the ratio of a small physical model at the two places: bytes over the rates of
 * memory and L2 cache, blocks over multiprocessors, edges of tiles, alignment of rows, the rate at which the GPU starts
 * blocks, and the time of a launch. The model's coefficients are data. A database holds those that fit its own
 * measurements best; see fit.h. */
#ifndef LIBRARY_PREDICT_PREDICT_H
#define LIBRARY_PREDICT_PREDICT_H

#include "db/store/store.h"
#include "library/predict/blocks.h"
#include "library/predict/shape.h"

/* What a prediction knows of a GPU. A number that is not known is 0. */
struct predict_gpu {
  double sm_count;
  double memory_gbs; /* peak rate of the memory, in 10^9 bytes a second */
  double l2_bytes;
  double copy_gbs; /* rate of the fastest copy that was measured; 0: the peak rate stands for it */
  int capability;  /* compute capability times ten: 90. 0 for an emulation: no arithmetic bounds its times */
};

/* The coefficients. Each row: name, default, meaning. A default is used where a database has no coefficients of its
 * own. The time is the product of the base time and, for each coefficient, of exp(coefficient * feature). The time of a
 * launch is added. A prediction is never below two bounds: the time of a launch and of the start of its blocks; and the
 * time of the arithmetic, or of a copy of the bytes that the L2 cache cannot hold. If the measured launch needed only a
 * share of a bound, the prediction may be as low as this share. */
#define PREDICT_LIST(X)                                                                                    \
  X(cache, 0.10, "log2 of bytes over the L2 cache, between -2 and 1")                                      \
  X(fill, 0.33, "log of the threads that the GPU holds over those of the launch, where it is not full")    \
  X(idle, 0.46, "log of the multiprocessors over the blocks, where some have none; see predict.c")         \
  X(tail, 0.28, "log of whole waves of blocks over waves")                                                 \
  X(edge, 0.60, "log of the points of all tiles over the points of the grid")                              \
  X(reread, 0.11, "log of the planes that a block reads over those that it computes")                      \
  X(row, 0.04, "log2 of 128 points over the points of a row, where it is shorter")                         \
  X(unaligned_128, 0.00, "1 where rows do not begin at multiples of 128 bytes")                            \
  X(unaligned_32, 0.01, "1 where rows do not begin at multiples of 32 bytes")                              \
  X(sigma, 0.065, "relative error of a prediction for a problem that is like the measured one")            \
  X(sigma_change, 0.17, "what the rest of the model's change adds to the error, as a share of the change") \
  X(sigma_fill, 0.10, "what the change of the feature fill adds to the error, as a share of the change")   \
  X(sigma_launch, 0.40, "what the launch adds to the error, for the change of its share of the time")      \
  X(sigma_apart, 0.10, "what a grid far from the measured one adds to the error: see predict_nearness")    \
  X(sigma_unsteady, 0.12, "what an unsteady variant adds to the error, times the launch's share of the time")
#define PREDICT_AS_ENUMERATOR(name, value, about) PREDICT_##name,
enum predict_coefficient { PREDICT_LIST(PREDICT_AS_ENUMERATOR) PREDICT_COEFFICIENTS };
#undef PREDICT_AS_ENUMERATOR
enum { PREDICT_FEATURES = PREDICT_sigma }; /* coefficients before `sigma` are of features, the others of errors */

enum { PREDICT_ERRORS = PREDICT_COEFFICIENTS - PREDICT_FEATURES };

extern const char *const predict_names[PREDICT_COEFFICIENTS];

struct predict_model {
  double coefficients[PREDICT_COEFFICIENTS];
};

/* The model of the default coefficients. */
struct predict_model predict_default(void);

/* Whether all coefficients are finite and within the range that makes sense: features from -3 to 3, errors from 0 to
 * 3. A caller uses the defaults otherwise, and says so. */
bool predict_is_sensible(const struct predict_model *model);

/* The size of a problem: logarithms to base 2 of its bytes, and of its points in x, y and z. */
enum { PREDICT_SIZES = 1 + MAX_DIMS };
struct predict_size {
  float log2[PREDICT_SIZES];
  float unaligned; /* 1 if rows do not begin at multiples of 128 bytes, else 0 */
};

/* How near two problems are: 1 for the same, 0.65 if one has eight times the planes of the other, 0.83 if only the
 * rows of one begin at multiples of 128 bytes. */
static inline float predict_nearness(const struct predict_size *a, const struct predict_size *b) {
  const float of_bytes = 0.04F, of_x = 0.075F, of_y_and_z = 0.02F,
              of_rows = 0.2F; /* chosen on an H200, as in trend.c */
  const float bytes = a->log2[0] - b->log2[0], x = a->log2[1] - b->log2[1], y = a->log2[2] - b->log2[2],
              z = a->log2[3] - b->log2[3], rows = a->unaligned - b->unaligned;
  return 1 / (1 + of_bytes * bytes * bytes + of_x * x * x + of_y_and_z * (y * y + z * z) + of_rows * rows * rows);
}

/* What the model says of a variant on a problem. Two of these give a prediction. */
struct predict_cost {
  float log_ms[LAUNCH_MODE_COUNT]; /* logarithm of the model's time in milliseconds, in each launch mode */
  struct predict_size size;        /* of the problem */
  float log_streaming_ms;          /* logarithm of the time that the memory takes for the bytes */
  float dispatch_ms;               /* time in which the GPU starts the blocks; 0: nothing is known of them */
  float log_least_ms; /* logarithm of the time of a copy of the bytes that must move, or of the arithmetic; -INFINITY:
                         neither is known. Weights that repeat count as grouped */
  float launch_share[LAUNCH_MODE_COUNT]; /* of the launch in the model's time */
  float factor;                          /* the sum of all coefficients times features */
  float unsteady;                        /* of the variant: see predict_shape */
  float features[PREDICT_FEATURES];
};

/* Whether blocks can only add to a model's time: none of their coefficients is negative. Then the cost that all
 * variants have in common is a bound of each. */
bool predict_blocks_cost(const struct predict_model *model);

/* Compute the cost again with other coefficients. */
void predict_recost(const struct predict_model *model, struct predict_cost *cost);

struct prediction {
  double time_ms;
  double error; /* relative, one standard deviation: 0.1 is 10 % */
};

/* The time of a launch that computes nearly nothing, in milliseconds. */
extern const float predict_launch_ms[LAUNCH_MODE_COUNT];

/* What all variants have in common on a problem and a GPU. */
struct predict_place {
  const struct predict_work *work;
  double sm_count;
  struct predict_cost common; /* cost of a variant of which nothing is known */
  /* log_least_ms of variants that won for another stencil: of one that cannot group weights, and of one that can. They
   * reach a smaller share of the peak rate of arithmetic */
  float log_borrowed_ms[2];
};

/* Compute it. `work` must live as long as the place is used. */
void predict_place_of(const struct predict_model *model, const struct predict_work *work, const struct predict_gpu *gpu,
                      struct predict_place *out);

/* Compute the model's time of a variant in a place. Takes tens of nanoseconds. */
void predict_cost_in(const struct predict_model *model, const struct predict_shape *shape,
                     const struct predict_place *place, struct predict_cost *out);

/* The same for one variant. */
void predict_cost(const struct predict_model *model, const struct predict_shape *shape, const struct predict_work *work,
                  const struct predict_gpu *gpu, struct predict_cost *out);

/* Compute the model's time of a variant in a place from its terms.
 *   terms  of the first variant of its list
 *   at     the variant's place in the list */
void predict_cost_of_blocks(const struct predict_model *model, const struct block_terms *terms, int at,
                            const struct predict_place *place, struct predict_cost *out);

/* A launch takes at least the time of an empty one and of the start of its blocks, and at least the time of a copy of
 * the bytes that must move or of the arithmetic, whichever is longer. The members are logarithms of these two times in
 * milliseconds, or of shares of them. */
struct predict_bounds {
  float log_start, log_work;
};
struct predict_bounds predict_bounds_of(const struct predict_cost *asked, enum launch_mode to);

/* The shares of its bounds that a measured variant needed: 1 at most. */
struct predict_bounds predict_shares_of(double time_ms, const struct predict_cost *measured, enum launch_mode from);

/* The logarithm of the least time of a variant in milliseconds, from the bounds of the asked problem and the variant's
 * shares. */
static inline float predict_log_least(struct predict_bounds shares, struct predict_bounds bounds) {
  const float start = shares.log_start + bounds.log_start, work = shares.log_work + bounds.log_work;
  return start > work ? start : work;
}

/* Predict the time of a variant.
 *   time_ms   its measured time, of one application, in launch mode `from`
 *   measured  its cost on the problem and GPU of the measurement
 *   asked     its cost on the problem and GPU that are asked for, in launch mode `to`
 *   trend     the trend of trend.h at the asked grid, less that at the measured one; 0: there is none
 *   kin_error what to add to the error, because the stencil, the GPU or a mode is another: 0 for the same */
struct prediction predict(const struct predict_model *model, double time_ms, const struct predict_cost *measured,
                          enum launch_mode from, const struct predict_cost *asked, enum launch_mode to, double trend,
                          double kin_error);

/* On what the error of a prediction depends: see the coefficients. */
void predict_error_features(const struct predict_cost *measured, enum launch_mode from,
                            const struct predict_cost *asked, enum launch_mode to, float out[PREDICT_ERRORS]);

#endif
