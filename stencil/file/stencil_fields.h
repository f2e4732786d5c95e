/* stencil_fields.h: a reader for each field of a stencil file; private to stencil/file.
 *
 * Each reader takes the field's value. A field that refers to names, axes or coefficients is read after the fields that
 * declare them. The table in stencil_file.c has this order. */
#ifndef STENCIL_FILE_STENCIL_FIELDS_H
#define STENCIL_FILE_STENCIL_FIELDS_H

#include "stencil/file/stencil_reader.h"

typedef halotune_status field_read(struct stencil_reader *r, const struct yaml *node);

/* declarations.c */
field_read field_name, field_about, field_origin, field_kind, field_dims, field_axis, field_inputs, field_outputs;
field_read field_coefficients;

/* input_fields.c */
field_read field_along, field_types;

/* domains.c */
field_read field_dtypes, field_grids;

/* boundary_fields.c */
field_read field_boundary, field_margins;

/* Check what boundary rules require of fields that are read after them: of grids, of the update and of `iterate`. */
halotune_status boundary_check(struct stencil_reader *r);

/* steps.c */
field_read field_update, field_iterate;

/* in_place.c */
field_read field_in_place;

/* expectations.c */
field_read field_tolerance, field_exact, field_values;

#endif
