/* similar.h: what the rows of one stencil say about another one. */
#ifndef LIBRARY_LOOKUP_SIMILAR_H
#define LIBRARY_LOOKUP_SIMILAR_H

#include "library/lookup/question.h"

/* How much two stencils differ: 0 for equal shape, reach, fields and traffic; infinite if configurations of one say
 * nothing about the other. */
float similar_distance(const struct parsed_stencil *a, const struct parsed_stencil *b);

/* Whether taps beyond the grid read something: an image of a point, a number, or zero. */
bool similar_has_images(const struct parsed_stencil *parsed);

/* The error that a prediction has in addition if the row's stencil differs by this distance: a share of the time. */
float similar_error(float distance);

/* Find the version of a template that may compute the question's stencil though no row says so: the installed one. It
 * came with the program that read the stencil, so its rules know all features of stencils. The rules of an older
 * version cannot refuse features that were added later. If no template of the name is installed, the newest version may
 * compute stencils that use only features of every version (parsed_stencil.is_basic).
 *   template_at  one of its versions
 *   version_at   receives the place of the version in the catalog; -1 if none may
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status similar_version(const struct question *question, int template_at, int *version_at);

/* Whether a database's template has the text of the installed files. Then it means the same here, even if a program
 * with another common.yml stored it. */
bool similar_is_installed(const struct known_template *known);

/* Find the version of a row's template that may compute the question's stencil. For a row of this stencil it is the
 * row's own, whose results were compared with the stencil's. */
halotune_status similar_version_of_row(const struct question *question, const struct served *row, int *version_at);

/* Whether variants of a template can group weights that repeat, as the common parameter `weights` says. */
bool similar_can_group(const struct template *template);

/* Change a configuration that was not measured with this stencil: group weights if this saves more than half of the
 * operations of its sums, and do not group them if it saves none. */
void similar_group(const struct template *template, const double facts[FACT_COUNT],
                   struct configuration *configuration);

/* Give a row's configuration the values that suit the question's stencil. A row of this stencil keeps its own.
 * Returns whether the configuration changed. */
bool similar_settle(const struct question *question, const struct served *row, const struct template *template,
                    struct configuration *configuration);

#endif
