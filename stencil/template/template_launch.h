/* template_launch.h: reads the fields of a template's file that say how its kernel is launched; private to
 * stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_LAUNCH_H
#define STENCIL_TEMPLATE_TEMPLATE_LAUNCH_H

#include "stencil/template/template_reader.h"

/* Read block, grid and shared_bytes, which every file has, and the optional fields: a workspace, and for sm_90 and
 * later tensor maps, clusters and programmatic dependent launch. */
halotune_status template_launch_read(struct reader *r);

/* Read `access` if the file has it. */
halotune_status template_access_read(struct reader *r);

#endif
