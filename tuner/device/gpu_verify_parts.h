/* gpu_verify_parts.h: checks of a session that has fields alone, without copies of inputs and without a whole
 * reference; and what both kinds of checks share. */
#ifndef DEVICE_GPU_VERIFY_PARTS_H
#define DEVICE_GPU_VERIFY_PARTS_H

#include "tuner/device/gpu_session.h"

/* Read both numbers at a bad point of an output.
 *   got, want  addresses of what the variant wrote, in the element's type, and of the reference */
halotune_status gpu_read_bad(struct gpu_session *s, int output, CUdeviceptr got, CUdeviceptr want,
                             struct gpu_look_back *out);

/* Check an input and its guards.
 *   look  counts 32-bit words
 *   out   its two indexes are those of words; it counts elements */
halotune_status gpu_parts_look_at_input(struct gpu_session *s, int buffer, const struct gpu_look *look,
                                        struct gpu_found *out);

/* Compare outputs, at any addresses, with the reference: in the drawn boxes, or at all points if `compares_all`.
 *   looks  of each output, with the box that a launch writes
 *   out    its outputs have findings of a check of all points for finite numbers, or nothing. If that found bad points,
 *          nothing is compared, and their values are read. Otherwise receives the number of points that are compared,
 *          those in two boxes twice, and what was found there */
halotune_status gpu_parts_compare(struct gpu_session *s, const CUdeviceptr outputs[], const struct gpu_look looks[],
                                  struct gpu_look_back *out);

#endif
