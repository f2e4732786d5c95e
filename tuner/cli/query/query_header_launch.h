/* query_header_launch.h: the parts of a header that depend on how its kernel is launched: pointers, tensor maps,
 * attributes. */
#ifndef CLI_QUERY_QUERY_HEADER_LAUNCH_H
#define CLI_QUERY_QUERY_HEADER_LAUNCH_H

#include "tuner/cli/query/query_answer.h"

bool header_has_maps(const struct launch *launch);
bool header_has_attributes(const struct launch *launch); /* clusters, or programmatic dependent launch */

/* Append lines of the header's comment for tensor maps, programmatic dependent launch and a workspace, as far as the
 * kernel has them. */
void header_add_notes(const struct launch *launch, struct text *text);

/* Append struct PREFIX_fields, and PREFIX_bind, which encodes its tensor maps. */
void header_add_fields(const struct query *query, const struct built *built, const char *prefix, struct text *text);

/* Call `use` for each field of a launch with its name in the header: input_u, output_v, and carried_v_1 for the output
 * v of the step that has one step after it in the launch. */
enum { HEADER_FIELD_BYTES = 128 };
void header_fields(const struct stencil *stencil, const struct launch *launch,
                   void (*use)(void *context, int number, const char *name), void *context);

/* Append which outputs may have the pointer of an input, to "An output is no input"; nothing for a stencil without
 * `in_place`. */
void header_add_in_place(const struct stencil *stencil, struct text *text);

/* Append PREFIX_advance, which sorts a list of pointers after a launch, if the stencil makes time steps. In a list
 * for launches in place, an output has the pointer of its input before and afterwards. */
void header_add_advance(const struct stencil *stencil, const struct launch *launch, const char *prefix,
                        struct text *text);

/* Append the parameters of a function that takes the fields' pointers, each after a comma. */
void header_add_pointers(const struct stencil *stencil, const struct launch *launch, struct text *text);

/* Append a check that returns an error for pointers that are not aligned. */
void header_add_check(const struct stencil *stencil, const struct launch *launch, const char *prefix,
                      struct text *text);

/* Append the call that launches, and the end of the function. */
void header_add_call(const struct launch *launch, struct text *text);

#endif
