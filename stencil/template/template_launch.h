/* template_launch.h: the fields of a template's file that say how its kernel is launched; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_LAUNCH_H
#define STENCIL_TEMPLATE_TEMPLATE_LAUNCH_H

#include "stencil/template/template_reader.h"

/* Read block, grid and shared_bytes, which each file has, and the fields that only some have: a workspace; on sm_90 and later
 * tensor maps, clusters, programmatic dependent launch. */
halotune_status template_launch_read(struct reader *r);

/* Read `access`, where the file has it. */
halotune_status template_access_read(struct reader *r);

#endif
