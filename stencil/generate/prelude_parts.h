/* prelude_parts.h: what the files of the prelude share: the variant, words of its text, and its sections; private to
 * stencil/. */
#ifndef STENCIL_GENERATE_PRELUDE_PARTS_H
#define STENCIL_GENERATE_PRELUDE_PARTS_H

#include "base/text/text.h"
#include "stencil/generate/variant_spec.h"
#include "stencil/launch/launch.h"

/* The parameters that the prelude itself implements, for every template. Their words must have these spellings. A
 * template that lacks a parameter gets the first word. */
enum coefficient_mode { COEFFICIENTS_PARAMETER, COEFFICIENTS_LITERAL, COEFFICIENTS_CONSTANT };
enum load_path { LOAD_PLAIN, LOAD_READONLY, LOAD_TEXTURE_LINEAR, LOAD_TEXTURE_2D };

enum streaming { STREAMING_NONE, STREAMING_STORES, STREAMING_ALL, STREAMING_LOADS };

/* The variant for which the prelude is written. */
struct prelude {
  const struct variant_spec *spec;
  const struct launch *launch; /* its kernel, index_bytes, steps and arguments are known */
  struct stages stages;        /* of the launch */
  enum coefficient_mode coefficients;
  enum load_path load_path;
  enum streaming streaming;
  bool literal_extents;
  bool groups_weights;      /* add_plane, and add_row in two dimensions, add points of equal weights first */
  long threads, min_blocks; /* numbers for launch bounds; there are no bounds if threads is 0 */
};

/* The number of the field from which a kernel reads the number of a point along an axis. Such fields follow the inputs
 * and have no memory: read_point computes their values. Returns the number of all fields for `axis` = MAX_DIMS. */
int prelude_index_field(const struct stencil *stencil, int axis);

/* The number of the field from which a kernel reads a tap: the tap's input; or, for all but the first tap of an input
 * that is not whole (see input_is_whole), a separate number after those of prelude_index_field.
 *   tap  its number in the analysis; -1: returns the number of all fields */
int prelude_tap_field(const struct prelude *prelude, int tap);

/* Whether some input is not whole. */
bool prelude_has_beside(const struct prelude *prelude);

/* The number of a mask among the masks. */
int prelude_mask_number(const struct stencil *stencil, int input);

/* Append a text with the axis' name in place of each '@'. */
void prelude_write_for_axis(struct text *text, const char *pattern, int axis);

/* Append a number as an element: real(0.5). A number that is too small for f32 is rounded as the device would round
 * it. */
void prelude_write_number(struct text *text, const struct prelude *prelude, double number);

/* The expression of a kernel with the values of the coefficients. */
const char *prelude_coefficients(const struct prelude *prelude);

/* Append a number, a coefficient or a tap as it is written in the update's function. */
void prelude_write_leaf(struct text *text, const struct prelude *prelude, const struct expr *node);

/* The sections of the prelude, in their order. Those without a status ignore a lack of memory; check text_ok. */
void prelude_write_stages(struct text *text, const struct prelude *prelude); /* several steps in a launch: buffers */
/* the kernel's arguments, and functions that read and write fields */
void prelude_write_fields(struct text *text, const struct prelude *prelude);
/* The coefficients that taps beyond the grid read: a member of struct Fields, and its values in FIELDS. */
void prelude_write_outside_member(struct text *text, const struct prelude *prelude);
void prelude_write_outside_values(struct text *text, const struct prelude *prelude);
/* inputs that are not whole: cases of read_point or of read_vector, and their values in the update */
void prelude_write_beside(struct text *text, const struct prelude *prelude, bool is_vector);
void prelude_write_beside_values(struct text *text, const struct prelude *prelude);
/* where outputs are written, if not everywhere in the box */
void prelude_write_masks(struct text *text, const struct prelude *prelude);
/* Points beyond the grid: their images, the values that taps read there, and a function that reads a tap. The first
 * part stands before the functions that read fields if these need it: see prelude_has_beside. */
void prelude_write_images(struct text *text, const struct prelude *prelude);
void prelude_write_boundary(struct text *text, const struct prelude *prelude);
/* the same if rules differ between ends or inputs, or change values */
void prelude_write_edge_images(struct text *text, const struct prelude *prelude);
void prelude_write_edge_reader(struct text *text, const struct prelude *prelude);
/* the points that a stage computes */
void prelude_write_stage_points(struct text *text, const struct prelude *prelude);
halotune_status prelude_write_update(struct text *text, const struct prelude *prelude);
void prelude_write_rounding(struct text *text, const struct prelude *prelude); /* functions for rounded updates */
halotune_status prelude_write_rounded(struct text *text,
                                      const struct prelude *prelude); /* the body of a reproducible update */
/* The body of add_plane or of add_row where weights are grouped. */
void prelude_write_grouped(struct text *text, const struct prelude *prelude, bool is_row);
halotune_status prelude_write_split(struct text *text, const struct prelude *prelude); /* the update, split by planes */

#endif
