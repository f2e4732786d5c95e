/* facts.h: the numbers that a template's rules and launch geometry may use besides its own parameters. */
#ifndef STENCIL_TEMPLATE_FACTS_H
#define STENCIL_TEMPLATE_FACTS_H

#include "stencil/launch/domain.h"
#include "stencil/launch/stages.h"

/* The limits that a device sets for kernels. */
struct device_limits {
  int capability;       /* 90 for sm_90 */
  int max_threads;      /* per block */
  int max_threads_sm;   /* per multiprocessor */
  int max_registers;    /* per thread */
  int registers_sm;     /* per multiprocessor */
  int max_shared_bytes; /* per block, after the kernel opts in */
  int warp_size;
  int multiprocessors; /* of the whole device */
};

/* The name of each fact as rules spell it, and its description. docs/templates.md lists the same. */
#define FACT_LIST(X)                                                                                                  \
  X(dims, "dimensions of the stencil")                                                                                \
  X(inputs, "number of inputs")                                                                                       \
  X(outputs, "number of outputs")                                                                                     \
  X(staged, "inputs that are read beyond the point itself")                                                           \
  X(coefficient_count, "number of coefficients")                                                                      \
  X(taps, "points that an update reads, over all inputs")                                                             \
  X(instructions, "instructions of an update; a fused multiply-add counts once")                                      \
  X(groups_of_2, "aligned pairs in x that two neighbours read together")                                              \
  X(groups_of_4, "aligned groups of four in x that four neighbours read together")                                    \
  X(forms, "sums of weighted taps into which the update is split, see add_plane; 0 where it is not split")            \
  X(sum_operations, "multiply-adds for each point of these sums: one for each weight")                                \
  X(grouped_operations, "operations for each point of these sums where weights that repeat are grouped")              \
  X(partial_sums, "partial sums for each point that a march keeps from one plane to the next")                        \
  X(kept_planes, "planes until the rest of the update reads staged inputs at the point; 0 where it reads none later") \
  X(is_sum, "1 where each output is a sum of weighted taps and nothing else")                                         \
  X(steps_one_field, "1 where steps change the one staged input and nothing else, and every input is whole")          \
  X(uses_axes, "1 where the update needs the coordinates of a point, and not only its place in memory")               \
  X(radius, "the largest reach along any axis")                                                                       \
  X(low_x, "reach towards smaller x; where a time step is a chain of updates, the longest of any")                    \
  X(low_y, "reach towards smaller y")                                                                                 \
  X(low_z, "reach towards smaller z")                                                                                 \
  X(high_x, "reach towards larger x")                                                                                 \
  X(high_y, "reach towards larger y")                                                                                 \
  X(high_z, "reach towards larger z")                                                                                 \
  X(step_stages, "stages of a time step: 1, or more where a step is a chain of updates")                              \
  X(step_low_x, "reach of all stages of a time step together towards smaller x")                                      \
  X(step_low_y, "the same towards smaller y")                                                                         \
  X(step_low_z, "the same towards smaller z")                                                                         \
  X(step_high_x, "the same towards larger x")                                                                         \
  X(step_high_y, "the same towards larger y")                                                                         \
  X(step_high_z, "the same towards larger z")                                                                         \
  X(iterates, "1 where a launch may make several time steps: `iterate`, no `in_place`, "                              \
              "no number of a point along a `periodic_endpoint` axis")                                                \
  X(stage_buffers, "inputs that change from step to step, and outputs that become inputs")                            \
  X(carried_on, "outputs that become inputs of the next step")                                                        \
  X(near_inputs, "inputs that change, and of which some step reads neighbours")                                       \
  X(is_scan, "1 for a prefix sum")                                                                                    \
  X(is_pointwise, "1 where only the point itself is read")                                                            \
  X(is_pencil, "1 where all taps lie along one axis")                                                                 \
  X(is_star, "1 for a star")                                                                                          \
  X(is_box, "1 for a box")                                                                                            \
  X(taps_on_axes, "1 where every tap lies on an axis through the point: no tap needs a corner of a halo")             \
  X(axis, "axis of a pencil or scan: 0, 1, 2 for x, y, z; -1 without one")                                            \
  X(boundary_x, "one of skip, periodic, periodic_endpoint, clamp, zero; -1 without plain_boundary")                   \
  X(boundary_y, "the same in y")                                                                                      \
  X(boundary_z, "the same in z")                                                                                      \
  X(plain_boundary, "1 where one of these rules holds at both ends of each axis, for all inputs and outputs")         \
  X(shared_images, "1 where a point beyond the grid has the same image for all inputs")                               \
  X(fills_ends, "1 where a tap beyond the grid reads anything but 0")                                                 \
  X(far_ends, "1 where a tap beyond the grid reads at the other end of the grid")                                     \
  X(whole_images_x, "1 where the image of a whole vector beyond the grid in x is a whole vector, or there is none")   \
  X(mirrors_x, "1 where taps beyond an end in x read mirror images")                                                  \
  X(mirrors_y, "the same in y")                                                                                       \
  X(mirrors_z, "the same in z")                                                                                       \
  X(own_margins, "1 where an output leaves out other points than those from which taps reach beyond the grid")        \
  X(element_bytes, "4 for f32, 8 for f64")                                                                            \
  X(nx, "extent of the grid in x")                                                                                    \
  X(ny, "extent of the grid in y")                                                                                    \
  X(nz, "extent of the grid in z")                                                                                    \
  X(row, "distance of neighbours in y, in elements")                                                                  \
  X(plane, "distance of neighbours in z, in elements")                                                                \
  X(start_x, "first x to compute")                                                                                    \
  X(start_y, "first y to compute")                                                                                    \
  X(start_z, "first z to compute")                                                                                    \
  X(points_in_x, "number of points to compute in x")                                                                  \
  X(points_in_y, "number of points to compute in y")                                                                  \
  X(points_in_z, "number of points to compute in z")                                                                  \
  X(capability, "compute capability times ten: 90 for sm_90")                                                         \
  X(max_threads, "threads that a block may have")                                                                     \
  X(max_threads_sm, "threads that a multiprocessor holds")                                                            \
  X(max_registers, "registers that a thread may have")                                                                \
  X(registers_sm, "registers that a multiprocessor has")                                                              \
  X(max_shared_bytes, "shared memory that a block may have")                                                          \
  X(warp_size, "threads of a warp")                                                                                   \
  X(multiprocessors, "multiprocessors of the device")                                                                 \
  X(max_cluster, "blocks that a cluster may have: 8 for capability 90 and later, else 1")                             \
  X(max_linear_texels, "elements that a linear texture may have")                                                     \
  X(max_texture_width, "elements in a row of a 2D texture")                                                           \
  X(max_texture_height, "rows of a 2D texture")                                                                       \
  X(skip, "boundary rules, to compare with")                                                                          \
  X(periodic, "the same")                                                                                             \
  X(periodic_endpoint, "the same")                                                                                    \
  X(clamp, "the same")                                                                                                \
  X(zero, "the same")                                                                                                 \
  X(pointer_bytes, "bytes of which all addresses of fields are multiples; 0 allows variants with any alignment")      \
  X(in_place, "1 where an output is an input, or the stencil's file allows it")                                       \
  X(no_textures, "1 where a kernel may use no texture")                                                               \
  X(reproducible, "1 where all variants have to give the same bits, see Summation order")                             \
  X(least_steps, "least number of time steps of a launch")                                                            \
  X(most_steps, "largest number of time steps of a launch")

#define FACT_AS_ENUMERATOR(name, about) FACT_##name,
enum fact { FACT_LIST(FACT_AS_ENUMERATOR) FACT_COUNT };
#undef FACT_AS_ENUMERATOR

struct fact_row {
  const char *name, *about;
};
extern const struct fact_row fact_rows[FACT_COUNT];

/* Whether a fact may differ between launches of one stencil with one element type on one device: the domain, and what a
 * caller demands. */
bool fact_varies(enum fact fact);

/* Compute the facts of the stencil itself, and leave the others as they are. */
void facts_fill_stencil(const struct stencil *stencil, const struct analysis *analysis, double facts[FACT_COUNT]);

/* Compute the facts of element type, domain and device, and the other facts that are not of the stencil itself. */
void facts_fill_problem(enum dtype dtype, const struct domain *domain, const struct device_limits *limits,
                        bool reproducible, double facts[FACT_COUNT]);

/* Set the facts about the stages of a time step. */
void facts_set_stages(const struct stages *stages, double facts[FACT_COUNT]);

/* Allow launches of `least` to `most` time steps, as far as the stencil has arrays for them (iterate_most_steps). */
void facts_set_steps(const struct stencil *stencil, int least, int most, double facts[FACT_COUNT]);

/* Compute the value of each fact. least_steps and most_steps are 1; a caller that wants launches of more time steps
 * calls facts_set_steps. */
void facts_fill(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                const struct domain *domain, const struct device_limits *limits, bool reproducible,
                double facts[FACT_COUNT]);

#endif
