/* option_set.h: the parameters that --set fixes, and configurations that contain them. */
#ifndef CLI_OPTIONS_OPTION_SET_H
#define CLI_OPTIONS_OPTION_SET_H

#include "tuner/cli/options/templates.h"

/* Apply --set, name=value,name=value, to the template's default configuration. Rules are not checked.
 *   fixed  receives which parameters --set names
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT for an unknown parameter or value, and for a parameter that is named
 * twice. */
halotune_status option_set(const struct invocation *invocation, const struct template *template,
                           bool fixed[MAX_PARAMETERS], struct configuration *out);

/* Check that each parameter of --set belongs to at least one of several templates. For a single template option_set
 * checks this.
 * Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status option_set_known(const struct invocation *invocation, const struct templates *templates);

/* Complete --set to a configuration that the rules keep. Parameters that --set does not name have their defaults. If
 * rules exclude these, as few parameters as possible get another value.
 *   bindings  of the template for the problem; its parameters are changed
 * Returns what option_set returns, and HALOTUNE_ARGUMENT if rules exclude every completion. */
halotune_status option_configuration(const struct invocation *invocation, const struct template *template,
                                     struct bindings *bindings, struct configuration *out);

#endif
