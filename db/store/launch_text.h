/* launch_text.h: launches, configurations and coefficients as the JSON texts that the database keeps. A struct launch
 * is
 *   {"kernel":"star7_zmarch","block":[32,8,1],"grid":[4,64,8],"shared_bytes":0,"index_bytes":4,"extents":"runtime",
 *    "arguments":["inputs","outputs","geometry"]}
 * extents: runtime or literal. arguments, in order: inputs, outputs, and where the kernel takes them textures
 * (linear) or textures2d, tensor_inputs, tensor_outputs, workspace, then geometry, then coefficients. Where a launch
 * has them:
 *   "tensor_inputs":{"fields":[0],"box":[40,12,1],"promotion_bytes":128}   fields: numbers of inputs
 *   "tensor_outputs": the same of outputs
 *   "cluster":[2,1,1]        blocks of a cluster
 *   "overlap":true           programmatic dependent launch
 *   "cooperative":true       all blocks run at the same time
 *   "workspace_bytes":4096   an argument is its address
 *   "steps":4                time steps of a launch, more than 1
 *   "carried":1              arrays that these steps write besides the outputs: an argument behind "outputs" */
#ifndef DB_STORE_LAUNCH_TEXT_H
#define DB_STORE_LAUNCH_TEXT_H

#include "stencil/launch/launch.h"
#include "stencil/template/template.h"

/* Append the text; ask text_ok(text). */
void launch_write(const struct launch *launch, struct text *text);

/* Read a launch. An unknown member is an error, because a launch without it would be wrong.
 * Returns HALOTUNE_OK, HALOTUNE_PARSE with what is wrong, or HALOTUNE_MEMORY. */
halotune_status launch_read(const char *text, struct launch *out);

/* The parameters of a configuration as a JSON object, in the template's order: {"block_x":32,"storage":"planes"}. */
void configuration_write(const struct template *template, const struct configuration *configuration, struct text *text);

/* Read them back. Parameters that are missing take their defaults.
 * Returns HALOTUNE_OK; HALOTUNE_PARSE for a parameter or value that the template does not have. */
halotune_status configuration_read(const struct template *template, const char *text, struct configuration *out);

/* Read the parameters of another version of the template. Parameters that this version does not have are ignored.
 * Returns HALOTUNE_OK; HALOTUNE_PARSE for a value that the template does not have. */
halotune_status configuration_read_older(const struct template *template, const char *text, struct configuration *out);

/* Append stored parameters in the words of a template: in its order, with its spelling of numbers, and with defaults
 * for those that are missing. Templates of one identity can differ in this, and a variant in other words would be
 * another one.
 * Returns as configuration_read, or HALOTUNE_MEMORY. */
halotune_status configuration_reword(const struct template *template, const char *text, struct text *out);

/* The values of coefficients as a JSON array, in digits that read back the same: [0.5,0.25]. */
void coefficients_write(const double *coefficients, int count, struct text *text);

/* Read them back.
 *   values  receives at most `most` numbers
 *   count   receives how many there are
 * Returns HALOTUNE_OK, or HALOTUNE_PARSE with what is wrong. */
halotune_status coefficients_read(const char *text, double *values, int most, int *count);

#endif
