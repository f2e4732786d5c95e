/* configuration.h: the parameters that --set fixes. */
#ifndef CLI_OPTIONS_CONFIGURATION_H
#define CLI_OPTIONS_CONFIGURATION_H

#include "tuner/cli/options/templates.h"

/* The template's default configuration, changed as --set says: name=value,name=value. Rules are not applied.
 *   fixed  receives which parameters --set names
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT for unknown ones, and for a parameter that --set names twice. */
halotune_status option_set(const struct invocation *invocation, const struct template *template,
                           bool fixed[MAX_PARAMETERS], struct configuration *out);

/* Whether each parameter that --set names is one of some template. A single template says by itself what it lacks.
 * Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status option_set_known(const struct invocation *invocation, const struct templates *templates);

/* The configuration that --set means when the rules have their say: where they leave out the defaults of other parameters, as few
 * of these as possible have other values.
 *   bindings  of the template for the problem; its parameters are changed
 * Returns what option_set returns, and HALOTUNE_ARGUMENT where a rule leaves out all that --set allows. */
halotune_status option_configuration(const struct invocation *invocation, const struct template *template,
                                     struct bindings *bindings, struct configuration *out);

#endif
