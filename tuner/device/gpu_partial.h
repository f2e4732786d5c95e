/* gpu_partial.h: the reference of one part of the grid at a time, in memory of limited size. The part moves over the
 * grid, so that fields that fill the GPU's memory can be compared, too. */
#ifndef DEVICE_GPU_PARTIAL_H
#define DEVICE_GPU_PARTIAL_H

#include "tuner/device/gpu_reference_steps.h"
#include "tuner/verify/box_pieces.h"

/* A step computes a point so often at most, on average over a box. */
#define GPU_PARTIAL_MOST_REPEATS 8

/* Start with {0}; end with gpu_partial_close. */
struct gpu_partial {
  struct gpu_checker *checker; /* NULL: not open */
  struct gpu_steps steps;
  long capacity; /* points of a place */
  struct gpu_place places[2];
  struct box part; /* the part whose reference is in the first place; empty: none */
};

/* Allocate the memory.
 *   whole       the box that the part will move over; more memory than for this box is not taken
 *   most_bytes  how much memory it may take
 * Returns HALOTUNE_OK; HALOTUNE_MEMORY if that is too little: points would be computed too often; HALOTUNE_NO_GPU.
 * gpu_partial_close is right in each case. */
halotune_status gpu_partial_open(struct gpu_checker *checker, const struct gpu_steps *steps, const struct box *whole,
                                 size_t most_bytes, struct gpu_partial *out);
void gpu_partial_close(struct gpu_partial *partial);

/* Cut a box into pieces that fit. */
struct box_pieces gpu_partial_pieces(const struct gpu_partial *partial, const struct box *box);

/* Move the part to a piece: compute its reference, and wait.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT if the element type cannot hold the reference of a point; HALOTUNE_NO_GPU. */
halotune_status gpu_partial_move(struct gpu_partial *partial, const struct box *piece);

/* Move the part over boxes, piece by piece.
 *   visit  called at each piece; NULL: nobody is. Another status than HALOTUNE_OK ends the way
 * Returns that status, or what gpu_partial_move returns. */
halotune_status gpu_partial_visit(struct gpu_partial *partial, const struct box boxes[], int count,
                                  halotune_status (*visit)(void *context, const struct box *piece), void *context);

/* The index of a point of the present piece in the first place. */
long gpu_partial_index(const struct gpu_partial *partial, const long point[MAX_DIMS]);

#endif
